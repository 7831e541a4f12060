//! Kernels whose threads do not wait for one another.

use crate::device::*;

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

#[repr(C)]
pub struct Panics {
    pub x: Raw<u64>,
    pub out: Raw<u64>,
    pub wait: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct State {
    pub words: [u64; 5],
}

#[repr(C)]
pub struct Owned {
    pub state: State,
    pub out: Raw<u64>,
    pub wait: u32,
}

#[inline(never)]
pub fn step(state: &mut State, by: u64) -> u64 {
    for word in &mut state.words {
        *word = word.wrapping_add(by);
    }
    state.words.iter().sum()
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
