//! Kernels as ordinary functions: run on the host, one thread after the other.

#[cfg(not(relocgpu_device))]
use crate::backend::Limits;
#[cfg(not(relocgpu_device))]
use crate::device::intrinsic::{self, Place};
use crate::grid::Grid;

/// Calls `thread` once for each thread of the grid, in order, with `thread::index_1d()` and its like answering for it.
///
/// For tests that compare a kernel's results with those of the same function on the host, and for stepping through it
/// in a debugger. Kernels with barriers or shared memory cannot run so.
///
/// ```
/// use relocgpu_runtime::{DisjointSlice, Grid, host, thread};
///
/// fn double(mut y: DisjointSlice<u32>) {
///     if let Some(y) = y.get_mut(thread::index_1d()) { *y *= 2; }
/// }
/// let mut data = [1, 2, 3];
/// host::run(Grid::over(3), || double(DisjointSlice::from(&mut data[..])));
/// assert_eq!(data, [2, 4, 6]);
/// ```
///
/// # Panics
/// If `thread` does, or the grid is one that no device takes.
#[cfg(not(relocgpu_device))]
pub fn run(grid: Grid, mut thread: impl FnMut()) {
    let any = Limits { threads_per_block: u32::MAX, block: [u32::MAX; 3], grid: [u32::MAX; 3], shared_bytes: 0 };
    grid.check(&any).unwrap_or_else(|error| panic!("{error}"));
    let (grid_dim, block_dim) = (grid.blocks(), grid.threads());
    for block_idx in points(grid_dim) {
        for thread_idx in points(block_dim) {
            intrinsic::at(Place { thread_idx, block_idx, block_dim, grid_dim }, &mut thread);
        }
    }
}

/// What the device pass needs to check the types of who calls it.
#[cfg(relocgpu_device)]
pub fn run(_grid: Grid, _thread: impl FnMut()) {
    panic!("`host::run` runs kernels on the host, and no kernel calls it");
}

/// All points below `dim`, x the fastest.
#[cfg(not(relocgpu_device))]
fn points([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
}
