//! The calling convention of an image's native code.
//!
//! `lower/cpu` emits loads at the offsets of [`CpuContext`]; the CPU device fills it.

use super::panic::PanicReport;

/// Native code of one image. A hidden constant; the slots are writable and shared by all levels.
#[repr(C)]
#[derive(Debug)]
pub struct CpuTable {
    /// The slots, in the order of the manifest's slot records.
    pub slots: *mut u64,
    /// Number of slots.
    pub slots_len: usize,
    /// For each interior record of the manifest, in its order, the address of the word.
    pub interiors: *const *mut u64,
    /// Number of interior records.
    pub interiors_len: usize,
    /// `levels_len` tables of `kernels_len` entries each, levels rising, kernels in manifest order.
    pub entries: *const CpuEntry,
    /// Levels, in the order of the container's `cpu_levels`.
    pub levels_len: usize,
    /// Kernels of the manifest.
    pub kernels_len: usize,
}

/// One kernel at one level.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CpuEntry {
    /// Runs one whole block.
    pub run: unsafe extern "C" fn(context: *mut CpuContext, params: *const u8),
    /// Points at the bytes that one thread's coroutine frame takes; null for kernels whose threads do not cooperate.
    pub frame_size: *const u64,
    /// Bytes of block-shared memory.
    pub shared_bytes: u64,
}

/// What native code reads of its launch, its block and its worker. One for each worker.
#[repr(C)]
#[derive(Debug)]
pub struct CpuContext {
    /// Index of the block in the grid.
    pub block_idx: [u32; 3],
    /// Threads of a block.
    pub block_dim: [u32; 3],
    /// Blocks of the grid.
    pub grid_dim: [u32; 3],
    /// Index of the thread in its block, as known when it panics.
    pub thread_idx: [u32; 3],
    /// Block-shared memory, aligned to 128 bytes; contents undefined.
    pub shared: *mut u8,
    /// Next free byte for a coroutine frame, aligned to 16.
    pub arena: *mut u8,
    /// Takes a panic: records it and never returns to the kernel.
    pub panic: unsafe extern "C-unwind" fn(context: *mut CpuContext, report: *const PanicReport) -> !,
    /// Resumes the threads of a block, whose frames lie `stride` bytes apart from `first`, until all have ended.
    pub drive: unsafe extern "C-unwind" fn(context: *mut CpuContext, first: *mut u8, stride: u64, threads: u64),
}
