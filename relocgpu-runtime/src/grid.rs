//! How many threads a launch has, and in which blocks.

use crate::backend::Limits;
use crate::error::{Error, Result};

/// Threads of a block where the program does not say: enough to fill a GPU, few enough for every device.
const BLOCK_1D: [u32; 3] = [256, 1, 1];
const BLOCK_2D: [u32; 3] = [64, 4, 1];
const BLOCK_3D: [u32; 3] = [32, 4, 2];

/// The threads of a launch: blocks of threads, in one to three dimensions.
///
/// ```
/// # use relocgpu_runtime::Grid;
/// let one_for_each_of = Grid::over(1000);
/// assert_eq!((one_for_each_of.blocks(), one_for_each_of.threads()), ([4, 1, 1], [256, 1, 1]));
/// let tiles = Grid::over_2d((640, 480)).with_block((16, 16));
/// assert_eq!((tiles.blocks(), tiles.threads()), ([40, 30, 1], [16, 16, 1]));
/// ```
///
/// A grid is checked against the device's limits when it is launched. One without blocks is no launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    extent: Extent,
    block: [u32; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// At least so many threads in each dimension.
    Threads([u64; 3]),
    /// Exactly so many blocks.
    Blocks([u32; 3]),
}

/// One to three numbers, x first; those left out are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim(pub [u32; 3]);

impl From<u32> for Dim {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dim {
    fn from((x, y): (u32, u32)) -> Self {
        Self([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dim {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self([x, y, z])
    }
}

impl From<[u32; 3]> for Dim {
    fn from(xyz: [u32; 3]) -> Self {
        Self(xyz)
    }
}

impl Grid {
    /// At least one thread for each of `n` elements, in blocks of 256. Kernels test their index: the last block may
    /// reach beyond.
    pub fn over(n: usize) -> Self {
        Self { extent: Extent::Threads([n as u64, 1, 1]), block: BLOCK_1D }
    }

    /// At least one thread for each point of `width` by `height`, in blocks of 64 × 4.
    pub fn over_2d((width, height): (usize, usize)) -> Self {
        Self { extent: Extent::Threads([width as u64, height as u64, 1]), block: BLOCK_2D }
    }

    /// At least one thread for each point of `width` by `height` by `depth`, in blocks of 32 × 4 × 2.
    pub fn over_3d((width, height, depth): (usize, usize, usize)) -> Self {
        Self { extent: Extent::Threads([width as u64, height as u64, depth as u64]), block: BLOCK_3D }
    }

    /// So many blocks of so many threads.
    pub fn new(blocks: impl Into<Dim>, threads: impl Into<Dim>) -> Self {
        Self { extent: Extent::Blocks(blocks.into().0), block: threads.into().0 }
    }

    /// The same extent in blocks of another size. A grid made by [`new`](Self::new) keeps its number of blocks.
    pub fn with_block(mut self, threads: impl Into<Dim>) -> Self {
        self.block = threads.into().0;
        self
    }

    /// Blocks in x, y, z.
    pub fn blocks(&self) -> [u32; 3] {
        match self.extent {
            Extent::Blocks(blocks) => blocks,
            // What does not fit 32 bits saturates, and is beyond every device's limits.
            Extent::Threads(threads) => std::array::from_fn(|d| {
                let blocks = threads[d].div_ceil(u64::from(self.block[d].max(1)));
                u32::try_from(blocks).unwrap_or(u32::MAX)
            }),
        }
    }

    /// Threads of a block in x, y, z.
    pub fn threads(&self) -> [u32; 3] {
        self.block
    }

    /// Whether there is nothing to launch.
    pub fn is_empty(&self) -> bool {
        self.blocks().contains(&0)
    }

    /// Checks the grid against a device's limits.
    pub(crate) fn check(&self, limits: &Limits) -> Result<()> {
        let (blocks, threads) = (self.blocks(), self.threads());
        let fault = |what: String, remedy: &str| Err(Error::Grid { grid: self.to_string(), what, remedy: remedy.to_owned() });
        if threads.contains(&0) {
            return fault("a block without threads".to_owned(), "give every dimension of the block at least 1");
        }
        for (d, axis) in ["x", "y", "z"].into_iter().enumerate() {
            if threads[d] > limits.block[d] {
                let what = format!("{} threads of a block in {axis}, the device takes {}", threads[d], limits.block[d]);
                return fault(what, "use a smaller block");
            }
            if blocks[d] > limits.grid[d] {
                let what = format!("{} blocks in {axis}, the device takes {}", blocks[d], limits.grid[d]);
                return fault(what, "use larger blocks, another dimension or several launches");
            }
        }
        let per_block = threads.map(u64::from).iter().product::<u64>();
        if per_block > u64::from(limits.threads_per_block) {
            let what = format!("{per_block} threads of a block, the device takes {}", limits.threads_per_block);
            return fault(what, "use a smaller block");
        }
        // Device code counts threads in 63 bits, without tests: see `thread::index_1d`.
        let total = blocks.map(u128::from).iter().product::<u128>() * u128::from(per_block);
        if total > MAX_THREADS {
            return fault(format!("{total} threads, a launch takes {MAX_THREADS}"), "use several launches");
        }
        Ok(())
    }
}

/// Threads of a launch: what device code may assume of the products of its dimensions.
pub(crate) const MAX_THREADS: u128 = 1 << 62;

impl std::fmt::Display for Grid {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.blocks(), self.threads());
        write!(f, "{bx}×{by}×{bz} blocks of {tx}×{ty}×{tz} threads")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { threads_per_block: 1024, block: [1024, 1024, 64], grid: [i32::MAX as u32, 65535, 65535], shared_bytes: 0 };

    fn fault(grid: Grid) -> String {
        grid.check(&LIMITS).expect_err("a fault").to_string()
    }

    #[test]
    fn every_element_has_a_thread() {
        for n in [1, 2, 255, 256, 257, 1 << 20, (1 << 20) + 1] {
            let grid = Grid::over(n);
            let threads = u64::from(grid.blocks()[0]) * u64::from(grid.threads()[0]);
            assert!((n as u64..n as u64 + 256).contains(&threads), "{n}");
            grid.check(&LIMITS).unwrap();
        }
        assert_eq!(Grid::over_2d((65, 9)).blocks(), [2, 3, 1]);
        assert_eq!(Grid::over_3d((33, 4, 5)).blocks(), [2, 1, 3]);
        assert_eq!(Grid::over_3d((33, 4, 5)).with_block((8, 8, 8)).blocks(), [5, 1, 1]);
        assert_eq!(Grid::new((2, 3), 64).with_block((4, 4, 4)), Grid::new((2, 3, 1), [4, 4, 4]));
    }

    #[test]
    fn no_elements_are_no_launch() {
        for grid in [Grid::over(0), Grid::over_2d((0, 5)), Grid::over_3d((1, 1, 0)), Grid::new(0, 32)] {
            assert!(grid.is_empty());
            grid.check(&LIMITS).unwrap();
        }
        assert!(!Grid::over(1).is_empty());
    }

    #[test]
    fn what_a_device_cannot_run_is_an_error() {
        assert_eq!(
            fault(Grid::new(1, 0)),
            "grid of 1×1×1 blocks of 0×1×1 threads: a block without threads; give every dimension of the block at least 1"
        );
        assert!(fault(Grid::over(5).with_block(0)).contains("a block without threads"));
        assert!(fault(Grid::new(1, (32, 33))).contains("1056 threads of a block, the device takes 1024"));
        assert!(fault(Grid::new(1, (1, 1, 65))).contains("65 threads of a block in z, the device takes 64"));
        assert!(fault(Grid::new((1, 65536), 1)).contains("65536 blocks in y, the device takes 65535"));
        assert!(fault(Grid::new((1, 1, 65536), 1)).contains("65536 blocks in z, the device takes 65535"));
        assert!(fault(Grid::new(1 << 31, 1)).contains("2147483648 blocks in x, the device takes 2147483647"));
        assert!(fault(Grid::new(1, 1025)).contains("1025 threads of a block in x, the device takes 1024"));
        assert!(fault(Grid::new(1, (1, 1025))).contains("1025 threads of a block in y, the device takes 1024"));
    }

    #[test]
    fn nothing_overflows() {
        assert!(fault(Grid::over(usize::MAX)).contains("4294967295 blocks in x"));
        assert!(fault(Grid::over(usize::MAX).with_block(1)).contains("blocks in x"));
        let most = Grid::new((i32::MAX as u32, 65535, 65535), 1024);
        assert!(fault(most).contains("threads, a launch takes 4611686018427387904"));
    }
}
