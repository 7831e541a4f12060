//! The run-time half of relocgpu: GPU kernels in ordinary Rust, compiled ahead of time by plain `cargo build`.
//!
//! ```ignore
//! use relocgpu_runtime::prelude::*;
//!
//! static CURVE: DeviceTable<f32> = host!(table: tone_curve());
//!
//! #[gpu_kernel]
//! fn develop(x: &[f32], mut y: DisjointSlice<f32>) {
//!     let i = thread::index_1d();
//!     if let Some(y) = y.get_mut(i) { *y = host!(gain()) * CURVE[(x[i.get()] * 255.0) as usize]; }
//! }
//!
//! fn main() -> relocgpu_runtime::Result<()> {
//!     relocgpu_runtime::init()?;
//!     let device = Device::best()?;
//!     let x = device.upload(&xs)?;
//!     let mut y = device.zeroed::<f32>(xs.len())?;
//!     develop::launch(&device, Grid::over(xs.len()), &x, &mut y)?;
//!     println!("{:?}", y.download()?);
//!     Ok(())
//! }
//! ```
//!
//! # Model
//! * The package's build script ([`relocgpu-build`](https://docs.rs/relocgpu-build)) puts an *image* into the program:
//!   PTX for GPUs, native code for the CPU, and a list of *host references*. Those are words that only the running
//!   process knows, named by [`host!`] and [`device!`]; [`guide::host_references`] shows every kind. The first launch resolves
//!   them and delivers the words; [`init`] resolves them all at once, when the program starts.
//! * A [`Device`] is a CUDA device or the CPU. It has one queue: launches, copies and frees happen in the order in which
//!   the program makes them. What returns data to the host waits for it.
//! * A [`Buffer`] is memory on a device. `#[gpu_kernel] fn k(…)` makes `k::launch(&device, grid, …)`, whose arguments are
//!   those of the kernel, with buffers in place of slices.
//! * Kernels are ordinary functions. They call other functions of any crate, and [`thread`] and [`block`] of this one.
//!
//! # Why a safe launch is sound
//! 1. *What crosses* is [`DeviceData`]: plain bytes without addresses. Memory crosses as `&[T]` and [`DisjointSlice`] only.
//! 2. *Races*: an index is an injective map from the threads of the whole grid to elements, it cannot leave its thread,
//!    and a `DisjointSlice` takes the indices of one map. So no two threads reach one element.
//! 3. *Order*: everything on a device goes through its one queue, from whichever thread.
//! 4. *Aliasing*: a launch borrows its buffers, `&` for `&[T]` and `&mut` for `DisjointSlice`, and a later command on
//!    them comes later in the queue.
//! 5. *Shared memory* is reached through atomics, or by `unsafe` code. A barrier that only a part of a block reaches is
//!    an `Err` on the CPU.
//! 6. *Panics* end the thread (on the CPU its block). They come back as [`Error::Panicked`] from the next function that
//!    waits; every element then holds its old value or its right one, and the device goes on working.
//! 7. *Faults*: after a fault that the driver cannot recover from, all calls return [`Error::DeviceLost`]. Drops never panic.
//!
//! # Features
//! * `host` (default): everything a program uses. Without it, the crate is the `contract` that the build shares.
//! * `cust`: launches with a program's own `cust` context, streams and buffers. Such a program needs the CUDA driver to start.
//! * `cudarc`: the same with cudarc's context, streams and slices. Such a program starts without a driver.
//!
//! # Environment
//! `RELOCGPU_DEVICE` = `cpu`, `cuda` or `cuda:N` decides what [`Device::best`] returns.

#[cfg(all(feature = "host", not(all(target_os = "linux", target_arch = "x86_64"))))]
compile_error!("relocgpu-runtime finds its images in an ELF section, on Linux on x86-64; build for that target");

pub mod contract;

#[cfg(feature = "host")]
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[cfg(feature = "host")]
mod backend;
#[cfg(feature = "host")]
mod buffer;
#[cfg(all(feature = "host", not(relocgpu_device)))]
mod cpu;
#[cfg(all(feature = "host", not(relocgpu_device)))]
mod cuda;
#[cfg(feature = "host")]
mod data;
#[cfg(feature = "host")]
mod deliver;
#[cfg(feature = "host")]
mod device;
#[cfg(feature = "host")]
mod device_choice;
#[cfg(feature = "host")]
mod error;
#[cfg(feature = "host")]
mod grid;
#[cfg(feature = "host")]
pub mod guide;
#[cfg(feature = "host")]
mod handle;
#[cfg(feature = "host")]
pub mod host;
#[cfg(feature = "host")]
mod host_ref;
#[cfg(feature = "host")]
mod image;
#[cfg(feature = "interop")]
pub mod interop;
#[cfg(feature = "host")]
mod introspect;
#[cfg(feature = "host")]
mod launch;
#[cfg(feature = "host")]
mod macros;
#[cfg(feature = "host")]
mod panic_text;
#[cfg(feature = "host")]
pub mod prelude;
#[cfg(feature = "host")]
mod resolve;
#[cfg(all(test, feature = "host"))]
mod test_backend;
#[cfg(all(test, feature = "host"))]
mod test_image;

#[cfg(feature = "host")]
pub use {
    backend::{DeviceKind, Limits},
    buffer::{Buffer, Slice, SliceArg, SliceMut, SliceMutArg},
    data::DeviceData,
    device::disjoint::{DisjointSlice, Linear, Plane, Space, Volume},
    device::shared::{SharedArray, SharedAtomic},
    device::{block, thread},
    error::{Error, Result, Unresolved},
    grid::{Dim, Grid},
    handle::Device,
    host_ref::device_static::DeviceStatic,
    host_ref::identity::{FnPointer, FnToken, HostRef},
    host_ref::mapped::Mapped,
    host_ref::named::bind,
    host_ref::{DeviceTable, HostWord, TableSource},
    introspect::{ImageInfo, ReferenceInfo, images},
    relocgpu_macros::{DeviceData, gpu_kernel},
    resolve::init,
};
