//! Parts of buffers, and their shapes.

use super::memory::Memory;
use super::{Buffer, SliceArg};
use crate::data::DeviceData;
use crate::device::disjoint::{Linear, Plane, Space, Volume};
use crate::error::{Error, Result};
use crate::handle::Device;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

/// Some elements of a [`Buffer`]: passed for a kernel's `&[T]`.
pub struct Slice<'a, T: DeviceData> {
    pub(super) memory: Memory<T>,
    pub(super) device: &'a Device,
    _elements: PhantomData<&'a [T]>,
}

impl<T: DeviceData> Clone for Slice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: DeviceData> Copy for Slice<'_, T> {}

impl<'a, T: DeviceData> Slice<'a, T> {
    pub(super) fn new(memory: Memory<T>, device: &'a Device) -> Self {
        Self { memory, device, _elements: PhantomData }
    }

    /// Memory of this device that another crate keeps alive.
    #[cfg(feature = "interop")]
    pub(crate) fn foreign(at: crate::backend::DevicePtr, len: usize, device: &'a Device) -> Self {
        Self::new(Memory::foreign(at, len), device)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the elements.
    ///
    /// # Errors
    /// If the range is out of bounds.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        Ok(Self::new(part(self.memory, "slice", range)?, self.device))
    }

    /// As [`Buffer::download`].
    ///
    /// # Errors
    /// As there.
    pub fn download(&self) -> Result<Vec<T>> {
        self.memory.download(self.device)
    }

    /// As [`Buffer::read_into`].
    ///
    /// # Errors
    /// As there.
    pub fn read_into(&self, to: &mut [T]) -> Result<()> {
        self.memory.read_into(self.device, to)
    }
}

/// Some elements of a [`Buffer`] to write: passed by `&mut` for a kernel's `DisjointSlice<T, S>`.
///
/// Nothing else reaches them while it lives:
/// ```compile_fail,E0502
/// let mut buffer = relocgpu_runtime::Device::cpu().unwrap().upload(&[1, 2, 3]).unwrap();
/// let part = buffer.slice_mut(1..).unwrap();
/// buffer.download();
/// drop(part);
/// ```
pub struct SliceMut<'a, T: DeviceData, S: Space = Linear> {
    pub(super) memory: Memory<T>,
    pub(super) device: &'a Device,
    pub(super) space: S,
    _elements: PhantomData<&'a mut [T]>,
}

impl<'a, T: DeviceData, S: Space> SliceMut<'a, T, S> {
    /// `space` has the length of `memory`.
    pub(super) fn new(memory: Memory<T>, device: &'a Device, space: S) -> Self {
        Self { memory, device, space, _elements: PhantomData }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same elements to read.
    pub fn as_slice(&self) -> Slice<'_, T> {
        Slice::new(self.memory, self.device)
    }

    /// As [`Buffer::download`].
    ///
    /// # Errors
    /// As there.
    pub fn download(&self) -> Result<Vec<T>> {
        self.memory.download(self.device)
    }

    /// As [`Buffer::read_into`].
    ///
    /// # Errors
    /// As there.
    pub fn read_into(&self, to: &mut [T]) -> Result<()> {
        self.memory.read_into(self.device, to)
    }

    /// As [`Buffer::write_from`].
    ///
    /// # Errors
    /// As there.
    pub fn write_from(&mut self, from: &[T]) -> Result<()> {
        self.memory.write_from(self.device, from)
    }

    /// As [`Buffer::copy_from`].
    ///
    /// # Errors
    /// As there.
    pub fn copy_from(&mut self, from: impl SliceArg<T>) -> Result<()> {
        let from = from.__part(self.device, "copy_from")?;
        #[cfg(feature = "interop")]
        let must_wait = crate::interop::must_wait();
        self.memory.same_length("copy_from", from.len())?;
        self.memory.copy(self.device, from.memory)?;
        #[cfg(feature = "interop")]
        if must_wait {
            return self.device.synchronize();
        }
        Ok(())
    }
}

impl<'a, T: DeviceData> SliceMut<'a, T> {
    /// Some of the elements.
    ///
    /// # Errors
    /// If the range is out of bounds.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<SliceMut<'_, T>> {
        SliceMut::new(self.memory, self.device, Linear::SHAPE).into_slice(range)
    }

    /// As [`slice_mut`](Self::slice_mut), for the whole lifetime.
    ///
    /// # Errors
    /// If the range is out of bounds.
    pub fn into_slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        Ok(Self::new(part(self.memory, "slice_mut", range)?, self.device, Linear::SHAPE))
    }

    /// The elements before `middle` and those from there on.
    ///
    /// # Errors
    /// If `middle` is beyond the end.
    pub fn split_at(self, middle: usize) -> Result<(Self, Self)> {
        let before = part(self.memory, "split_at_mut", ..middle)?;
        let after = part(self.memory, "split_at_mut", middle..)?;
        Ok((Self::new(before, self.device, Linear::SHAPE), Self::new(after, self.device, Linear::SHAPE)))
    }

    /// The elements as rows.
    ///
    /// # Errors
    /// If `width` times `height` is not their number.
    pub fn into_plane(self, (width, height): (usize, usize)) -> Result<SliceMut<'a, T, Plane>> {
        match Plane::new((width, height), self.len()) {
            Some(space) => Ok(SliceMut::new(self.memory, self.device, space)),
            None => Err(shape("plane_mut", format!("{width} × {height}"), self.len())),
        }
    }

    /// The elements as layers of rows.
    ///
    /// # Errors
    /// If `width` times `height` times `depth` is not their number.
    pub fn into_volume(self, (width, height, depth): (usize, usize, usize)) -> Result<SliceMut<'a, T, Volume>> {
        match Volume::new((width, height, depth), self.len()) {
            Some(space) => Ok(SliceMut::new(self.memory, self.device, space)),
            None => Err(shape("volume_mut", format!("{width} × {height} × {depth}"), self.len())),
        }
    }
}

fn shape(operation: &'static str, wanted: String, len: usize) -> Error {
    Error::Length { operation, what: format!("a shape of {wanted} for {len} elements; its product must be their number") }
}

/// The part of `memory` that `range` says.
fn part<T: DeviceData>(memory: Memory<T>, operation: &'static str, range: impl RangeBounds<usize>) -> Result<Memory<T>> {
    let start = match range.start_bound() {
        Bound::Included(&start) => Some(start),
        Bound::Excluded(&before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.checked_add(1),
        Bound::Excluded(&end) => Some(end),
        Bound::Unbounded => Some(memory.len()),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= memory.len() => Ok(memory.part(start, end)),
        _ => {
            let what = format!("range {:?}..{:?} of a device slice of {} elements", range.start_bound(), range.end_bound(), memory.len());
            Err(Error::Length { operation, what: format!("{what}; it must lie inside") })
        }
    }
}

impl<T: DeviceData> std::fmt::Debug for Slice<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Slice<{}>({} on {})", T::LAYOUT.name, self.len(), self.device.kind())
    }
}

impl<T: DeviceData, S: Space> std::fmt::Debug for SliceMut<'_, T, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "SliceMut<{}>({} on {})", T::LAYOUT.name, self.len(), self.device.kind())
    }
}

impl<'a, T: DeviceData> From<&'a Buffer<T>> for Slice<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        buffer.as_slice()
    }
}
