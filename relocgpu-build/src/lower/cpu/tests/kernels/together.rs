//! Kernels whose threads wait for one another: as phases, or as coroutines.

use crate::apart::{Owned, Panics, State, step};
use crate::device::*;

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

/// As `panics`, behind a barrier.
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

/// As `owned`, with a barrier between the changes.
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
