//! Kernels as the macros and the earlier stages leave them, for the tests of this folder. Compiled by rustc itself.
#![no_std]

#[repr(C)]
pub struct PanicReport {
    kind: u32,
    reserved: u32,
    location: u64,
    args: [u64; 3],
    text: *const u8,
    text_len: u64,
    thread: [u32; 3],
    block: [u32; 3],
}

unsafe extern "C" {
    safe fn __relocgpu_thread_idx_x() -> u32;
    safe fn __relocgpu_thread_idx_y() -> u32;
    safe fn __relocgpu_thread_idx_z() -> u32;
    safe fn __relocgpu_block_idx_x() -> u32;
    safe fn __relocgpu_block_idx_y() -> u32;
    safe fn __relocgpu_block_idx_z() -> u32;
    safe fn __relocgpu_block_dim_x() -> u32;
    safe fn __relocgpu_block_dim_y() -> u32;
    safe fn __relocgpu_block_dim_z() -> u32;
    safe fn __relocgpu_grid_dim_x() -> u32;
    safe fn __relocgpu_grid_dim_y() -> u32;
    safe fn __relocgpu_block_barrier() -> u32;
    safe fn __relocgpu_thread_end() -> !;
    fn __relocgpu_panic(report: *const PanicReport) -> !;
    static test_gain: u64;
}

#[unsafe(no_mangle)]
#[inline(never)]
#[cold]
pub extern "C" fn __relocgpu_report(kind: u32, a: u64, b: u64, c: u64, text: *const u8, len: u64, location: u64) -> ! {
    let report = PanicReport {
        kind,
        reserved: 0,
        location,
        args: [a, b, c],
        text,
        text_len: len,
        thread: [__relocgpu_thread_idx_x(), __relocgpu_thread_idx_y(), __relocgpu_thread_idx_z()],
        block: [__relocgpu_block_idx_x(), __relocgpu_block_idx_y(), __relocgpu_block_idx_z()],
    };
    unsafe { __relocgpu_panic(&report) }
}

fn at<T: Copy>(x: &[T], i: usize) -> T {
    if i < x.len() { unsafe { *x.get_unchecked(i) } } else { __relocgpu_report(1, i as u64, x.len() as u64, 0, core::ptr::null(), 0, 7) }
}

fn index_1d() -> usize {
    let block = __relocgpu_block_idx_x() as u64 * __relocgpu_block_dim_x() as u64;
    (block + __relocgpu_thread_idx_x() as u64) as usize
}

fn barrier() {
    if __relocgpu_block_barrier() != 0 {
        __relocgpu_thread_end()
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Raw<T> {
    data: *mut T,
    len: usize,
}

impl<T> Raw<T> {
    unsafe fn slice<'a>(self) -> &'a [T] {
        unsafe { core::slice::from_raw_parts(self.data, self.len) }
    }

    fn get_mut(&mut self, i: usize) -> Option<&mut T> {
        if i < self.len { Some(unsafe { &mut *self.data.add(i) }) } else { None }
    }
}

#[repr(C)]
pub struct Saxpy {
    x: Raw<f32>,
    y: Raw<f32>,
    a: f32,
}

#[inline(never)]
fn saxpy(x: &[f32], mut y: Raw<f32>, a: f32) {
    let i = index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = a * at(x, i) + *y;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_saxpy(p: *const Saxpy) {
    unsafe { saxpy((*p).x.slice(), (*p).y, (*p).a) }
}

#[repr(C)]
pub struct Words {
    out: Raw<u64>,
}

/// Every index of a three-dimensional launch, through a function that is not inlined.
#[inline(never)]
fn indices(mut out: Raw<u64>) {
    let row = __relocgpu_grid_dim_x() as u64 * __relocgpu_block_dim_x() as u64;
    let rows = __relocgpu_grid_dim_y() as u64 * __relocgpu_block_dim_y() as u64;
    let x = __relocgpu_block_idx_x() as u64 * __relocgpu_block_dim_x() as u64 + __relocgpu_thread_idx_x() as u64;
    let y = __relocgpu_block_idx_y() as u64 * __relocgpu_block_dim_y() as u64 + __relocgpu_thread_idx_y() as u64;
    let z = __relocgpu_block_idx_z() as u64 * __relocgpu_block_dim_z() as u64 + __relocgpu_thread_idx_z() as u64;
    if let Some(out) = out.get_mut(((z * rows + y) * row + x) as usize) {
        *out = x | y << 16 | z << 32 | deep(3) << 48;
    }
}

/// Not inlined, since it calls itself; asks for the thread.
fn deep(n: u64) -> u64 {
    if n == 0 { __relocgpu_thread_idx_x() as u64 % 7 } else { deep(n - 1) + 1 }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_indices(p: *const Words) {
    unsafe { indices((*p).out) }
}

#[unsafe(link_section = ".relocgpu.shared")]
static mut ODD: [u8; 3] = [0; 3];
#[unsafe(link_section = ".relocgpu.shared")]
static mut TILE: core::mem::MaybeUninit<[u64; 256]> = core::mem::MaybeUninit::uninit();

/// Reverses each block's numbers through shared memory, then adds them up in a tree.
#[inline(never)]
fn cooperate(mut out: Raw<u64>, stop: u32) {
    let n = __relocgpu_block_dim_x() as usize;
    let i = __relocgpu_thread_idx_x() as usize;
    let tile = &raw mut TILE as *mut u64;
    unsafe {
        (&raw mut ODD as *mut u8).add(i % 3).write(i as u8);
        tile.add(i).write(index_1d() as u64 * test_gain);
        if i as u32 >= stop {
            return;
        }
        barrier();
        let mine = tile.add(n - 1 - i).read();
        barrier();
        tile.add(i).write(mine + i as u64);
        let mut half = n / 2;
        while half > 0 {
            barrier();
            if i < half {
                tile.add(i).write(tile.add(i).read() + tile.add(i + half).read());
            }
            half /= 2;
        }
        barrier();
        let sum = tile.read();
        if let Some(out) = out.get_mut(index_1d()) {
            *out = mine + (sum << 32);
        }
    }
}

#[repr(C)]
pub struct Cooperate {
    out: Raw<u64>,
    stop: u32,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_cooperate(p: *const Cooperate) {
    unsafe { cooperate((*p).out, (*p).stop) }
}

#[repr(C)]
pub struct Panics {
    x: Raw<u64>,
    out: Raw<u64>,
    wait: u32,
}

/// Panics in the thread whose `x` is out of range, after it has written.
#[inline(never)]
fn panics(x: &[u64], mut out: Raw<u64>) {
    let i = index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = 1;
        *out = 2 + at(x, at(x, i) as usize);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_panics(p: *const Panics) {
    unsafe { panics((*p).x.slice(), (*p).out) }
}

/// The same behind a barrier.
#[inline(never)]
fn panics_late(x: &[u64], mut out: Raw<u64>) {
    let i = index_1d();
    barrier();
    if let Some(out) = out.get_mut(i) {
        *out = 1;
        *out = 2 + at(x, at(x, i) as usize);
    }
    barrier();
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_panics_late(p: *const Panics) {
    unsafe { panics_late((*p).x.slice(), (*p).out) }
}

#[repr(C)]
pub struct Phases {
    input: Raw<u64>,
    out: Raw<u64>,
    bound: u32,
}

#[unsafe(link_section = ".relocgpu.shared")]
static mut LINE: core::mem::MaybeUninit<[u64; 64]> = core::mem::MaybeUninit::uninit();

/// Two barriers one after the other; a local array, the index, a load and a condition live across them.
#[inline(never)]
fn phases(input: &[u64], mut out: Raw<u64>, bound: u32) {
    let (tx, ty, tz) = (__relocgpu_thread_idx_x(), __relocgpu_thread_idx_y(), __relocgpu_thread_idx_z());
    let t = ((tz * __relocgpu_block_dim_y() + ty) * __relocgpu_block_dim_x() + tx) as usize;
    let block = (__relocgpu_block_idx_y() * __relocgpu_grid_dim_x() + __relocgpu_block_idx_x()) as usize;
    let i = block * 64 + t;
    let line = &raw mut LINE as *mut u64;
    let own = at(input, i);
    let mut local = [0u64; 4];
    for (j, slot) in local.iter_mut().enumerate() {
        *slot = own + j as u64;
    }
    unsafe { line.add(t).write(own) };
    barrier();
    let mirrored = unsafe { line.add(63 - t).read() };
    let near = (t as u32) < bound;
    let next = if near { unsafe { line.add((t + 1) % 64).read() } } else { 0 };
    if bound == 1000 && t == 17 {
        return;
    }
    barrier();
    unsafe { line.add(t).write(2 * mirrored) };
    let mut sum = unsafe { line.add(t).read() } + own;
    for (j, slot) in local.iter().enumerate() {
        sum += slot * (j as u64 + 1);
    }
    if near {
        sum += next;
    }
    if let Some(out) = out.get_mut(i) {
        *out = sum + __relocgpu_thread_idx_x() as u64;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_phases(p: *const Phases) {
    unsafe { phases((*p).input.slice(), (*p).out, (*p).bound) }
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct State {
    words: [u64; 5],
}

#[repr(C)]
pub struct Owned {
    state: State,
    out: Raw<u64>,
    wait: u32,
}

#[inline(never)]
fn step(state: &mut State, by: u64) -> u64 {
    for word in &mut state.words {
        *word = word.wrapping_add(by);
    }
    state.words.iter().sum()
}

/// Changes a value that was passed to it: each thread has its own.
#[inline(never)]
fn owned(mut state: State, mut out: Raw<u64>) {
    let i = index_1d();
    let sum = step(&mut state, i as u64);
    if let Some(out) = out.get_mut(i) {
        *out = sum + state.words[i % 5];
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_owned(p: *const Owned) {
    unsafe { owned((*p).state, (*p).out) }
}

/// The same with a barrier between the changes.
#[inline(never)]
fn owned_late(mut state: State, mut out: Raw<u64>) {
    let i = index_1d();
    step(&mut state, 1);
    barrier();
    let sum = step(&mut state, (i as u64).wrapping_sub(1));
    barrier();
    if let Some(out) = out.get_mut(i) {
        *out = sum + state.words[i % 5];
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_owned_late(p: *const Owned) {
    unsafe { owned_late((*p).state, (*p).out) }
}

#[repr(C)]
pub struct Mixed {
    input: Raw<u64>,
    out: Raw<u64>,
    mode: u32,
}

fn wrap(a: usize, n: usize) -> usize {
    a.checked_rem(n).unwrap_or(0)
}

/// Loops, slices of local arrays, conditions and floats around barriers; `OPTION`: one barrier more or less.
#[inline(always)]
fn mix<const OPTION: bool>(input: &[u64], mut out: Raw<u64>, mode: u32) {
    let (t, n, i) = (__relocgpu_thread_idx_x() as usize, __relocgpu_block_dim_x() as usize, index_1d());
    let line = &raw mut LINE as *mut u64;
    let mut table = [0u8; 8];
    let mut acc = 0u64;
    for j in 0..t % 5 + 1 {
        acc += at(input, wrap(i + j, input.len()));
        table[j * 3 % 8] = (acc % 251) as u8;
    }
    let pick: &[u8] = if t % 2 == 0 { &table[..3] } else { &table[3..] };
    let odd = acc % 2 == 1;
    let half = acc as f32 * 0.5;
    let pair = (acc ^ 5, t as u32);
    unsafe { line.add(t).write(acc) };
    if mode == 1 {
        return;
    }
    if OPTION && mode == 2 {
        barrier();
        acc += unsafe { line.add(wrap(t + 1, n)).read() };
    }
    barrier();
    let (mut sum, mut k) = (0u64, 0);
    while k < n {
        sum += unsafe { line.add(k).read() } * (k as u64 + 1);
        k += 1 + odd as usize;
    }
    let seen = pick.iter().map(|b| *b as u64).sum::<u64>();
    barrier();
    unsafe { line.add(t).write(sum) };
    barrier();
    let near = unsafe { line.add(wrap(t + 3, n)).read() };
    if let Some(out) = out.get_mut(i) {
        *out = near + seen + (odd as u64) * 1000 + half as u64 + pair.0 + pair.1 as u64 + acc;
    }
}

#[inline(never)]
fn mixed(input: &[u64], out: Raw<u64>, mode: u32) {
    mix::<false>(input, out, mode)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_mixed(p: *const Mixed) {
    unsafe { mixed((*p).input.slice(), (*p).out, (*p).mode) }
}

#[inline(never)]
fn mixed_option(input: &[u64], out: Raw<u64>, mode: u32) {
    mix::<true>(input, out, mode)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_mixed_option(p: *const Mixed) {
    unsafe { mixed_option((*p).input.slice(), (*p).out, (*p).mode) }
}

/// The index as CUDA programs write it.
#[inline(never)]
fn narrow(x: &[f32], mut y: Raw<f32>, a: f32) {
    let i = __relocgpu_block_idx_x().wrapping_mul(__relocgpu_block_dim_x()).wrapping_add(__relocgpu_thread_idx_x()) as usize;
    if let Some(y) = y.get_mut(i) {
        *y = a * at(x, i) + *y;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_narrow(p: *const Saxpy) {
    unsafe { narrow((*p).x.slice(), (*p).y, (*p).a) }
}
