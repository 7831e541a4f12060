//! Launches with a program's own `cust` context, streams and buffers (feature `cust`).
//!
//! The feature is off by default because `cust` links libcuda: a program with it needs NVIDIA's driver to start, where
//! others fall back to the CPU.

use super::{ForeignBuffer, ForeignStream, cuda, foreign_slice, foreign_slice_mut, other, taken};
use crate::buffer::sealed::Sealed;
use crate::buffer::{Slice, SliceArg, SliceMutArg};
use crate::data::DeviceData;
use crate::device::disjoint::{Linear, RawDisjoint, RawSlice};
use crate::error::Result;
use crate::handle::Device;
use cust::context::Context;
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust::stream::Stream;
use std::ffi::c_void;

impl Device {
    /// The device of a context of the program's. It is the same as [`cuda`](Self::cuda) gives for that GPU, and keeps
    /// the context alive: `cust` and this crate use the one that the driver has for each GPU.
    ///
    /// # Errors
    /// If the device does not work, or the context is not that one.
    pub fn from_cust(context: &Context) -> Result<Self> {
        Self::of_context(context.as_raw().cast(), "`cust::context::Context::new`")
    }
}

impl Sealed for Stream {}
impl ForeignStream for Stream {
    fn __raw(&self) -> *mut c_void {
        self.as_inner().cast()
    }
}

foreign_slice!([] DeviceBuffer<T>, address, DeviceCopy);
foreign_slice_mut!([] DeviceBuffer<T>, DeviceCopy);

impl<T: DeviceCopy> Sealed for DeviceBuffer<T> {}
impl<T: DeviceData + DeviceCopy> ForeignBuffer<T> for DeviceBuffer<T> {
    fn __len(&self) -> usize {
        self.len()
    }

    fn __address_mut(&mut self, device: &Device) -> Result<u64> {
        address(self, device, "launch")
    }
}

/// Address of a buffer that lies on this device.
fn address<T: DeviceData + DeviceCopy>(buffer: &DeviceBuffer<T>, device: &Device, operation: &'static str) -> Result<u64> {
    taken();
    if buffer.is_empty() || size_of::<T>() == 0 {
        return Ok(align_of::<T>() as u64);
    }
    let at = buffer.as_device_ptr().as_raw();
    match cuda(device) {
        Some(cuda) if cuda.has_memory(at)? => Ok(at),
        _ => Err(other(device, operation, "another device or context")),
    }
}
