//! The run-time half of relocgpu.

pub mod contract;

#[cfg(feature = "host")]
mod backend;
#[cfg(feature = "host")]
mod buffer;
#[cfg(all(feature = "host", not(relocgpu_device)))]
mod cpu;
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
mod handle;
#[cfg(all(feature = "host", not(relocgpu_device)))]
pub mod host;
#[cfg(feature = "host")]
mod host_ref;
#[cfg(feature = "host")]
mod image;
#[cfg(feature = "host")]
mod launch;
#[cfg(feature = "host")]
mod panic_text;
#[cfg(feature = "host")]
pub mod prelude;
#[cfg(feature = "host")]
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
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
    host_ref::{DeviceTable, HostWord, TableSource},
    relocgpu_macros::{DeviceData, device, gpu_kernel, host},
    resolve::init,
};
