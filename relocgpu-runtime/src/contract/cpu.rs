//! The calling convention of an image's native code.
//!
//! `lower/cpu` emits loads at the offsets of [`CpuContext`]; the CPU device fills it.
//!
//! Native code runs on a stack of [`STACK_BYTES`], aligned to its own size, whose last [`STACK_RESERVED`] bytes begin
//! with the [`CpuContext`]: any function finds it by masking the address of its frame. So neither functions that were
//! not inlined, nor calls through pointers, nor coroutines carry a parameter for it.

use super::panic::PanicReport;

/// Native code of one image. The table is constant; the slots that it points at are written by the loader, and all
/// levels read the same.
#[repr(C)]
#[derive(Debug)]
pub struct CpuTable {
    /// The slots, in the order of the manifest's slot records.
    pub slots: *mut u64,
    /// Number of slots.
    pub slots_len: usize,
    /// `levels_len` tables of `interiors_len` addresses each: of the word of each interior record, in manifest order.
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

/// Runs one whole block with the context of the stack it is called on. `params` is the parameter block, aligned as the
/// manifest says.
pub type RunBlock = unsafe extern "C-unwind" fn(params: *const u8);

/// One kernel at one level.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CpuEntry {
    /// Runs one whole block.
    pub run: RunBlock,
    /// Bytes that one thread keeps while it waits; 0 if the kernel's threads do not cooperate, or keep nothing.
    pub frame_bytes: u64,
    /// Bytes of block-shared memory.
    pub shared_bytes: u64,
}

/// Bytes, and alignment, of the stack that native code runs on.
pub const STACK_BYTES: usize = 1 << 20;
/// Bytes at the end of that stack which begin with the [`CpuContext`].
pub const STACK_RESERVED: usize = 256;
/// Alignment of block-shared memory.
pub const SHARED_ALIGN: usize = 128;
/// Alignment of what one thread keeps while it waits; a coroutine's frame is that.
pub const FRAME_ALIGN: usize = 16;

/// What native code reads of its launch, its block and its worker. One for each worker.
#[repr(C)]
#[derive(Debug)]
pub struct CpuContext {
    /// Index of the block in the grid.
    pub block_idx: [u32; 3],
    /// Threads of a block, at most 1024 in all.
    pub block_dim: [u32; 3],
    /// Blocks of the grid, less than 2³¹ in each dimension; threads of all of them less than 2³² in each.
    pub grid_dim: [u32; 3],
    /// Index of the thread in its block: written by native code before it calls a function that may ask for it.
    pub thread_idx: [u32; 3],
    /// Block-shared memory, aligned to [`SHARED_ALIGN`] bytes; contents undefined.
    pub shared: *mut u8,
    /// Memory for what a block's threads keep while they wait, `frame_stride` bytes for each, aligned to
    /// [`FRAME_ALIGN`]. Coroutines have their frames in it, the first thread's first.
    pub frames: *mut u8,
    /// `frame_bytes` rounded up to [`FRAME_ALIGN`].
    pub frame_stride: u64,
    /// Takes a panic: records it and never returns to the kernel.
    pub panic: unsafe extern "C-unwind" fn(context: *mut CpuContext, report: *const PanicReport) -> !,
    /// Called when each thread has run to its first barrier or its end: resumes them all, barrier by barrier, until
    /// all have ended. Word 0 of a frame is the function that resumes it, null once the thread has ended.
    pub drive: unsafe extern "C-unwind" fn(context: *mut CpuContext),
    /// Takes the news that some threads of the block wait at a barrier and the others have ended. Never returns.
    pub diverge: unsafe extern "C-unwind" fn(context: *mut CpuContext, waiting: u64, ended: u64) -> !,
}

/// The function in word 0 of a frame.
pub type ResumeThread = unsafe extern "C-unwind" fn(frame: *mut u8);
