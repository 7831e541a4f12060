//! Memory on a device.

mod args;
mod memory;
mod views;

#[cfg(feature = "interop")]
pub(crate) use args::sealed;
pub use args::{SliceArg, SliceMutArg};
pub use views::{Slice, SliceMut};

use crate::data::DeviceData;
use crate::device::disjoint::{Linear, Plane, Volume};
use crate::error::Result;
use crate::handle::Device;
use memory::Memory;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// Elements on a device.
///
/// They are plain data:
/// ```compile_fail,E0277
/// let device = relocgpu_runtime::Device::cpu().unwrap();
/// device.upload(&["text"]);
/// ```
/// Made by [`Device::upload`] and [`Device::zeroed`]. Pass `&buffer` for a kernel's `&[T]` and `&mut buffer` for its
/// `DisjointSlice<T>`; [`slice`](Self::slice), [`slice_mut`](Self::slice_mut), [`plane_mut`](Self::plane_mut) and
/// [`volume_mut`](Self::volume_mut) give parts and shapes of it. Dropping it frees the memory after everything that uses it.
pub struct Buffer<T: DeviceData> {
    memory: Memory<T>,
    device: Device,
    _elements: PhantomData<T>,
}

impl<T: DeviceData> Buffer<T> {
    pub(crate) fn upload(device: &Device, elements: &[T]) -> Result<Self> {
        let buffer = Self::uninitialised(device, elements.len())?;
        buffer.memory.write(device, elements)?;
        Ok(buffer)
    }

    pub(crate) fn zeroed(device: &Device, len: usize) -> Result<Self> {
        let buffer = Self::uninitialised(device, len)?;
        buffer.memory.zero(device)?;
        Ok(buffer)
    }

    /// For callers that fill it at once.
    fn uninitialised(device: &Device, len: usize) -> Result<Self> {
        Ok(Self { memory: Memory::allocate(device, len)?, device: device.clone(), _elements: PhantomData })
    }

    /// The device that it lies on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies all elements to the host, after everything before.
    ///
    /// # Errors
    /// [`Error::Panicked`](crate::Error::Panicked) if a kernel before panicked; if the device is lost.
    pub fn download(&self) -> Result<Vec<T>> {
        self.memory.download(&self.device)
    }

    /// As [`download`](Self::download), into `to`.
    ///
    /// # Errors
    /// As `download`; also if `to` has another length.
    pub fn read_into(&self, to: &mut [T]) -> Result<()> {
        self.memory.read_into(&self.device, to)
    }

    /// Replaces all elements by those of `from`.
    ///
    /// # Errors
    /// If `from` has another length, or the device is lost.
    pub fn write_from(&mut self, from: &[T]) -> Result<()> {
        self.memory.write_from(&self.device, from)
    }

    /// Replaces all elements by those of another buffer of this device, or of a slice of one, without the host.
    ///
    /// # Errors
    /// If `from` has another length or lies on another device.
    pub fn copy_from(&mut self, from: impl SliceArg<T>) -> Result<()> {
        self.as_slice_mut().copy_from(from)
    }

    /// A copy on the same device.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn try_clone(&self) -> Result<Self> {
        let copy = Self::uninitialised(&self.device, self.len())?;
        copy.memory.copy(&self.device, self.memory)?;
        Ok(copy)
    }

    /// All elements.
    pub fn as_slice(&self) -> Slice<'_, T> {
        Slice::new(self.memory, &self.device)
    }

    /// All elements, to write.
    pub fn as_slice_mut(&mut self) -> SliceMut<'_, T> {
        SliceMut::new(self.memory, &self.device, Linear::SHAPE)
    }

    /// Some of the elements.
    ///
    /// # Errors
    /// If the range is out of bounds.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_, T>> {
        self.as_slice().slice(range)
    }

    /// Some of the elements, to write.
    ///
    /// # Errors
    /// If the range is out of bounds.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<SliceMut<'_, T>> {
        self.as_slice_mut().into_slice(range)
    }

    /// The elements before `middle` and those from there on, to write both in one launch.
    ///
    /// # Errors
    /// If `middle` is beyond the end.
    pub fn split_at_mut(&mut self, middle: usize) -> Result<(SliceMut<'_, T>, SliceMut<'_, T>)> {
        self.as_slice_mut().split_at(middle)
    }

    /// All elements as rows, for a kernel's `DisjointSlice<T, Plane>`.
    ///
    /// # Errors
    /// If `width` times `height` is not the number of elements.
    pub fn plane_mut(&mut self, (width, height): (usize, usize)) -> Result<SliceMut<'_, T, Plane>> {
        self.as_slice_mut().into_plane((width, height))
    }

    /// All elements as layers of rows, for a kernel's `DisjointSlice<T, Volume>`.
    ///
    /// # Errors
    /// If `width` times `height` times `depth` is not the number of elements.
    pub fn volume_mut(&mut self, (width, height, depth): (usize, usize, usize)) -> Result<SliceMut<'_, T, Volume>> {
        self.as_slice_mut().into_volume((width, height, depth))
    }
}

impl<T: DeviceData> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.memory.free(&self.device);
    }
}

impl<T: DeviceData> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Buffer<{}>({} on {})", T::LAYOUT.name, self.len(), self.device.kind())
    }
}

#[cfg(test)]
mod tests;
