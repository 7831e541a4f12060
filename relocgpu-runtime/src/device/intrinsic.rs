//! The device intrinsics. In device code they are declarations that lowering gives a body; in host code they answer
//! for the thread that [`host::run`](crate::host::run) is at.

/// Index of the thread in its block, of the block in the grid; threads of a block, blocks of the grid: each x, y, z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub thread_idx: [u32; 3],
    pub block_idx: [u32; 3],
    pub block_dim: [u32; 3],
    pub grid_dim: [u32; 3],
}

#[cfg(relocgpu_device)]
pub(crate) use on_device::*;
#[cfg(not(relocgpu_device))]
pub(crate) use on_host::*;

#[cfg(relocgpu_device)]
mod on_device {
    use super::Place;

    // SAFETY: lowering defines each with this signature; none has a precondition.
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
        safe fn __relocgpu_grid_dim_z() -> u32;
        safe fn __relocgpu_block_barrier() -> u32;
        safe fn __relocgpu_thread_end() -> !;
    }

    #[inline(always)]
    pub(crate) fn thread_idx() -> [u32; 3] {
        [__relocgpu_thread_idx_x(), __relocgpu_thread_idx_y(), __relocgpu_thread_idx_z()]
    }

    #[inline(always)]
    pub(crate) fn block_idx() -> [u32; 3] {
        [__relocgpu_block_idx_x(), __relocgpu_block_idx_y(), __relocgpu_block_idx_z()]
    }

    #[inline(always)]
    pub(crate) fn block_dim() -> [u32; 3] {
        [__relocgpu_block_dim_x(), __relocgpu_block_dim_y(), __relocgpu_block_dim_z()]
    }

    #[inline(always)]
    pub(crate) fn grid_dim() -> [u32; 3] {
        [__relocgpu_grid_dim_x(), __relocgpu_grid_dim_y(), __relocgpu_grid_dim_z()]
    }

    #[inline(always)]
    pub(crate) fn place() -> Place {
        Place { thread_idx: thread_idx(), block_idx: block_idx(), block_dim: block_dim(), grid_dim: grid_dim() }
    }

    /// The branch is here and not in the lowering, so that a thread that must end at a barrier needs no new blocks.
    #[inline(always)]
    pub(crate) fn block_barrier() {
        if __relocgpu_block_barrier() != 0 {
            __relocgpu_thread_end()
        }
    }
}

#[cfg(not(relocgpu_device))]
mod on_host {
    use super::Place;
    use std::cell::Cell;

    thread_local! {
        static PLACE: Cell<Option<Place>> = const { Cell::new(None) };
    }

    /// Runs `work` as if at `place`, and is back where it was afterwards.
    pub(crate) fn at(place: Place, work: impl FnOnce()) {
        struct Back(Option<Place>);
        impl Drop for Back {
            fn drop(&mut self) {
                PLACE.set(self.0);
            }
        }
        let _back = Back(PLACE.replace(Some(place)));
        work();
    }

    #[track_caller]
    pub(crate) fn place() -> Place {
        PLACE.get().expect("called outside a kernel: start one with `kernel::launch(&device, grid, …)`; its function alone runs in `relocgpu_runtime::host::run` only")
    }

    #[track_caller]
    pub(crate) fn thread_idx() -> [u32; 3] {
        place().thread_idx
    }

    #[track_caller]
    pub(crate) fn block_idx() -> [u32; 3] {
        place().block_idx
    }

    #[track_caller]
    pub(crate) fn block_dim() -> [u32; 3] {
        place().block_dim
    }

    #[track_caller]
    pub(crate) fn grid_dim() -> [u32; 3] {
        place().grid_dim
    }

    #[track_caller]
    pub(crate) fn block_barrier() {
        place();
        panic!("a barrier needs all threads of its block at once, and `host::run` runs one after the other; launch on `Device::cpu()`");
    }
}
