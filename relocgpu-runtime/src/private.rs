//! What the macros' expansions name. No part of the interface.

use crate::data::{DisjointLayout, SliceLayout};
use crate::device::disjoint::Space;

pub use crate::contract::image::{RawImage, RawMapped, RawStatic, RawTable};
pub use crate::contract::layout::{FieldLayout, KernelDescriptor, ParamDescriptor, TypeLayout};
pub use crate::data::DeviceData;
pub use crate::device::disjoint::{Linear as DefaultSpace, RawDisjoint, RawSlice, disjoint, slice};
pub use crate::device::shared::shared;
pub use crate::host_ref::device_static::raw_static;
pub use crate::host_ref::identity::{ItemWord, fn_token, host_ref};
pub use crate::host_ref::mapped::raw_mapped;
pub use crate::host_ref::named::{bound, stored};
pub use crate::host_ref::{
    HostWord, Probe, TableSource, device_value, device_value_of_device, distinct, host_value, only_a_type, raw_table,
};
pub use crate::launch::{ImageLink, KernelRef, instance_word, launch};
pub use relocgpu_macros::{device, host};

#[cfg(relocgpu_device)]
pub use crate::host_ref::{device_static::device_static, device_table, mapped::device_mapped};
#[cfg(not(relocgpu_device))]
pub use crate::host_ref::{device_static::host_static, host_table, host_value_of_device, mapped::host_mapped};

#[cfg(relocgpu_device)]
// SAFETY: the link stage reads the calls of the first and takes them away; calls of the second are faults.
unsafe extern "C" {
    /// Marks an instance of a kernel.
    #[allow(improper_ctypes)]
    pub fn __relocgpu_kernel(entry: *const (), type_name: fn() -> &'static str, kernel: *const KernelDescriptor);
    /// Body, as a function, of a generic kernel whose words come with its own launch: a fault of whoever calls it.
    pub safe fn __relocgpu_needs_launch() -> !;
}

/// Layout of a `&[T]` parameter. A function, so that rustc reports an element that cannot cross by its own name.
pub const fn slice_layout<T: DeviceData>() -> &'static TypeLayout {
    SliceLayout::<T>::LAYOUT
}

/// Layout of a `DisjointSlice<T, S>` parameter.
pub const fn disjoint_layout<T: DeviceData, S: Space>() -> &'static TypeLayout {
    DisjointLayout::<T, S>::LAYOUT
}

/// Body of `launch` in device code, where it type-checks and never runs.
#[cfg(relocgpu_device)]
pub fn launch_on_device() -> crate::Result<()> {
    Err(crate::Error::NoDevice { device: "any".to_owned(), reason: "device code does not launch".to_owned() })
}
