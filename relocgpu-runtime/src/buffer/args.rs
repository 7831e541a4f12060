//! What a launch takes for the memory parameters of a kernel.

use super::{Buffer, Slice, SliceMut};
use crate::data::DeviceData;
use crate::device::disjoint::{Linear, RawDisjoint, RawSlice, Space};
use crate::error::{Error, Result};
use crate::handle::Device;

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// What can be passed for a kernel's `&[T]`: `&Buffer<T>`, or a [`Slice`] of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory for a kernel's `&[{T}]`",
    label = "not a buffer of `{T}`",
    note = "pass `&Buffer<{T}>`, which `device.upload(&elements)?` makes of host memory, or a part of one, `buffer.slice(range)?`; \
            what lies in a `DeviceTable` the kernel names itself"
)]
pub trait SliceArg<T>: sealed::Sealed {
    /// The elements on this device.
    #[doc(hidden)]
    fn __part<'a>(&'a self, device: &'a Device, operation: &'static str) -> Result<Slice<'a, T>>
    where
        T: DeviceData;

    /// The elements as the kernel's parameter block has them.
    #[doc(hidden)]
    fn __pack(&self, device: &Device) -> Result<RawSlice<T>>;
}

/// What can be passed for a kernel's `DisjointSlice<T, S>`: `&mut Buffer<T>`, or `&mut` a [`SliceMut`] of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory for a kernel's `DisjointSlice<{T}, {S}>`",
    label = "not a buffer of `{T}` to write with this index space",
    note = "pass `&mut Buffer<{T}>` for `Linear`, which is the default; `buffer.plane_mut((width, height))?` gives a `Plane`, `volume_mut` a \
            `Volume`, `slice_mut` a part",
    note = "`device.zeroed::<{T}>(count)?` makes a buffer, `device.upload(&elements)?` fills one"
)]
pub trait SliceMutArg<T, S>: sealed::Sealed {
    /// The elements as the kernel's parameter block has them.
    #[doc(hidden)]
    fn __pack(&mut self, device: &Device) -> Result<RawDisjoint<T, S>>;
}

fn on(device: &Device, lies_on: &Device, operation: &'static str) -> Result<()> {
    if device.same(lies_on) {
        return Ok(());
    }
    Err(Error::OtherDevice { operation, lies_on: lies_on.kind().to_string(), needed_on: device.kind().to_string() })
}

impl<T: DeviceData> sealed::Sealed for Slice<'_, T> {}
impl<T: DeviceData> SliceArg<T> for Slice<'_, T> {
    fn __part<'a>(&'a self, device: &'a Device, operation: &'static str) -> Result<Slice<'a, T>> {
        on(device, self.device, operation)?;
        Ok(*self)
    }

    fn __pack(&self, device: &Device) -> Result<RawSlice<T>> {
        on(device, self.device, "launch")?;
        Ok(RawSlice { ptr: self.memory.at() as usize as *const T, len: self.memory.len() })
    }
}

impl<T: DeviceData> sealed::Sealed for &Slice<'_, T> {}
impl<T: DeviceData> SliceArg<T> for &Slice<'_, T> {
    fn __part<'a>(&'a self, device: &'a Device, operation: &'static str) -> Result<Slice<'a, T>> {
        (**self).__part(device, operation)
    }

    fn __pack(&self, device: &Device) -> Result<RawSlice<T>> {
        (**self).__pack(device)
    }
}

impl<T: DeviceData> sealed::Sealed for &Buffer<T> {}
impl<T: DeviceData> SliceArg<T> for &Buffer<T> {
    fn __part<'a>(&'a self, device: &'a Device, operation: &'static str) -> Result<Slice<'a, T>> {
        on(device, &self.device, operation)?;
        Ok(self.as_slice())
    }

    fn __pack(&self, device: &Device) -> Result<RawSlice<T>> {
        self.as_slice().__pack(device)
    }
}

impl<T: DeviceData, S: Space> sealed::Sealed for SliceMut<'_, T, S> {}
impl<T: DeviceData, S: Space> SliceMutArg<T, S> for SliceMut<'_, T, S> {
    fn __pack(&mut self, device: &Device) -> Result<RawDisjoint<T, S>> {
        on(device, self.device, "launch")?;
        Ok(RawDisjoint { ptr: self.memory.at() as usize as *mut T, len: self.memory.len(), space: self.space })
    }
}

impl<T: DeviceData, S: Space> sealed::Sealed for &mut SliceMut<'_, T, S> {}
impl<T: DeviceData, S: Space> SliceMutArg<T, S> for &mut SliceMut<'_, T, S> {
    fn __pack(&mut self, device: &Device) -> Result<RawDisjoint<T, S>> {
        (**self).__pack(device)
    }
}

impl<T: DeviceData> sealed::Sealed for &mut Buffer<T> {}
impl<T: DeviceData> SliceMutArg<T, Linear> for &mut Buffer<T> {
    fn __pack(&mut self, device: &Device) -> Result<RawDisjoint<T, Linear>> {
        self.as_slice_mut().__pack(device)
    }
}
