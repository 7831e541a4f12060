//! Threads of a block together.

use super::intrinsic;

/// Waits for every thread of the block; what they wrote to shared and global memory before is seen after.
///
/// All threads of a block must reach the same barriers. Where some end or wait elsewhere, the CPU device returns
/// [`Error::Divergence`](crate::Error::Divergence); a GPU may hang.
#[inline(always)]
#[track_caller]
pub fn sync() {
    intrinsic::block_barrier();
}
