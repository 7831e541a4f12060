//! Where a thread is, and the indices of its own elements.
//!
//! An index is an injective map from the threads of the whole grid to elements: no two threads of a launch get the
//! same one, whatever the grid's dimensions. It is what [`DisjointSlice`](crate::DisjointSlice) takes.
//!
//! An index stays with its thread, and nobody but this module makes one:
//! ```compile_fail,E0277
//! fn to_another_thread<T: Send>(_: T) {}
//! to_another_thread(relocgpu_runtime::thread::index_1d());
//! ```
//! ```compile_fail,E0277
//! fn shared<T: Sync>(_: &T) {}
//! shared(&relocgpu_runtime::thread::index_2d());
//! ```
//! ```compile_fail,E0451
//! use relocgpu_runtime::thread::{Index1, index_1d};
//! let other = Index1 { i: 0, ..index_1d() };
//! ```

use super::intrinsic::{self, Place};
use std::marker::PhantomData;

/// Three numbers, x the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl Dim3 {
    #[inline(always)]
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self { x, y, z }
    }
}

/// Index of the thread in its block.
#[inline(always)]
#[track_caller]
pub fn thread_idx() -> Dim3 {
    Dim3::from(intrinsic::thread_idx())
}

/// Index of the block in the grid.
#[inline(always)]
#[track_caller]
pub fn block_idx() -> Dim3 {
    Dim3::from(intrinsic::block_idx())
}

/// Threads of a block.
#[inline(always)]
#[track_caller]
pub fn block_dim() -> Dim3 {
    Dim3::from(intrinsic::block_dim())
}

/// Blocks of the grid.
#[inline(always)]
#[track_caller]
pub fn grid_dim() -> Dim3 {
    Dim3::from(intrinsic::grid_dim())
}

/// An index belongs to its thread: it must not reach another one.
type ThisThread = PhantomData<*const ()>;

/// A thread's place on the line of all threads: see [`index_1d`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index1 {
    i: usize,
    _here: ThisThread,
}

impl Index1 {
    /// The number.
    #[inline(always)]
    pub fn get(self) -> usize {
        self.i
    }
}

/// A thread's place in the plane of all threads: see [`index_2d`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index2 {
    x: usize,
    y: usize,
    _here: ThisThread,
}

impl Index2 {
    /// The column.
    #[inline(always)]
    pub fn x(self) -> usize {
        self.x
    }

    /// The row.
    #[inline(always)]
    pub fn y(self) -> usize {
        self.y
    }
}

/// A thread's place in the volume of all threads: see [`index_3d`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index3 {
    x: usize,
    y: usize,
    z: usize,
    _here: ThisThread,
}

impl Index3 {
    /// The column.
    #[inline(always)]
    pub fn x(self) -> usize {
        self.x
    }

    /// The row.
    #[inline(always)]
    pub fn y(self) -> usize {
        self.y
    }

    /// The layer.
    #[inline(always)]
    pub fn z(self) -> usize {
        self.z
    }
}

/// The thread's number among all threads of the launch: block by block, and in each block x before y before z.
///
/// In a one-dimensional launch it is `block_idx().x * block_dim().x + thread_idx().x`.
#[inline(always)]
#[track_caller]
pub fn index_1d() -> Index1 {
    let Place { thread_idx, block_idx, block_dim, grid_dim } = intrinsic::place();
    let threads = mul(mul(wide(block_dim[0]), wide(block_dim[1])), wide(block_dim[2]));
    let i = add(mul(line(block_idx, grid_dim), threads), line(thread_idx, block_dim));
    Index1 { i, _here: PhantomData }
}

/// The thread's column and row: `x` as in CUDA, and `y` with the layers of a three-dimensional launch one below the
/// other.
#[inline(always)]
#[track_caller]
pub fn index_2d() -> Index2 {
    let place = intrinsic::place();
    let rows = mul(wide(place.grid_dim[1]), wide(place.block_dim[1]));
    Index2 { x: along(place, 0), y: add(mul(along(place, 2), rows), along(place, 1)), _here: PhantomData }
}

/// The thread's column, row and layer.
#[inline(always)]
#[track_caller]
pub fn index_3d() -> Index3 {
    let place = intrinsic::place();
    Index3 { x: along(place, 0), y: along(place, 1), z: along(place, 2), _here: PhantomData }
}

/// Position of `at` among the points of `dim`, x the fastest.
#[inline(always)]
fn line(at: [u32; 3], dim: [u32; 3]) -> usize {
    add(mul(add(mul(wide(at[2]), wide(dim[1])), wide(at[1])), wide(dim[0])), wide(at[0]))
}

/// Index of the thread in one dimension of the grid.
#[inline(always)]
fn along(place: Place, d: usize) -> usize {
    add(mul(wide(place.block_idx[d]), wide(place.block_dim[d])), wide(place.thread_idx[d]))
}

#[inline(always)]
fn wide(n: u32) -> usize {
    n as usize
}

/// Sums and products of this module stay below the number of threads of the launch, which `Grid::check` holds to 2⁶².
/// Saying so lets the CPU's lowering split the range of a loop over threads at a bounds check.
#[inline(always)]
fn add(a: usize, b: usize) -> usize {
    // SAFETY: below 2⁶², see above. Signed, so that the compiler knows it either way.
    unsafe { (a as isize).unchecked_add(b as isize) as usize }
}

#[inline(always)]
fn mul(a: usize, b: usize) -> usize {
    // SAFETY: as in `add`.
    unsafe { (a as isize).unchecked_mul(b as isize) as usize }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Grid, host};
    use std::collections::HashSet;

    #[test]
    fn indices_are_injective_over_the_whole_grid() {
        let grid = Grid::new((3, 2, 2), (4, 3, 2));
        let threads = 3 * 2 * 2 * 4 * 3 * 2;
        let (mut one, mut two, mut three) = (HashSet::new(), HashSet::new(), HashSet::new());
        host::run(grid, || {
            one.insert(index_1d().get());
            two.insert((index_2d().x(), index_2d().y()));
            let i = index_3d();
            three.insert((i.x(), i.y(), i.z()));
        });
        assert_eq!((one.len(), two.len(), three.len()), (threads, threads, threads));
        assert_eq!(one, (0..threads).collect());
        assert_eq!(two, (0..12).flat_map(|x| (0..24).map(move |y| (x, y))).collect());
        assert_eq!(three, (0..12).flat_map(|x| (0..6).flat_map(move |y| (0..4).map(move |z| (x, y, z)))).collect());
    }

    #[test]
    fn index_1d_is_the_usual_one() {
        let mut seen = Vec::new();
        host::run(Grid::new(2, 3), || seen.push((block_idx().x * block_dim().x + thread_idx().x, index_1d().get())));
        assert_eq!(seen, (0..6).map(|i| (i, i as usize)).collect::<Vec<_>>());
    }

    #[test]
    #[should_panic(expected = "called outside a kernel")]
    fn there_are_no_indices_outside_kernels() {
        index_1d();
    }
}
