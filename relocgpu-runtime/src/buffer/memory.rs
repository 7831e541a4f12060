//! A range of a device's memory that holds elements; whoever has it keeps it alive and on its device.

use crate::backend::{Bytes, DevicePtr};
use crate::data::DeviceData;
use crate::error::{Error, Result};
use crate::handle::Device;
use std::marker::PhantomData;

pub(super) struct Memory<T> {
    at: DevicePtr,
    len: usize,
    _elements: PhantomData<fn() -> T>,
}

impl<T> Clone for Memory<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Memory<T> {}

impl<T: DeviceData> Memory<T> {
    /// Uninitialised. Without bytes there is no memory, and the address is only aligned.
    pub fn allocate(device: &Device, len: usize) -> Result<Self> {
        const { assert!(!std::mem::needs_drop::<T>(), "device memory is bytes: a type with a destructor cannot lie there") }
        let bytes = len.checked_mul(size_of::<T>()).filter(|&bytes| isize::try_from(bytes).is_ok());
        let at = match bytes {
            Some(0) => align_of::<T>() as DevicePtr,
            Some(bytes) => device.inner.backend.allocate(bytes)?,
            None => return Err(Error::OutOfMemory { device: device.kind().to_string(), bytes: u64::MAX }),
        };
        Ok(Self { at, len, _elements: PhantomData })
    }

    /// Memory that another crate keeps alive. `len` elements have fewer bytes than memory has.
    #[cfg(feature = "interop")]
    pub fn foreign(at: DevicePtr, len: usize) -> Self {
        Self { at, len, _elements: PhantomData }
    }

    pub fn free(self, device: &Device) {
        if self.bytes() > 0 {
            device.inner.backend.free(self.at, self.bytes());
        }
    }

    pub fn len(self) -> usize {
        self.len
    }

    pub fn at(self) -> DevicePtr {
        self.at
    }

    /// Does not overflow: checked when it was allocated.
    fn bytes(self) -> usize {
        self.len * size_of::<T>()
    }

    /// Elements from `start` to `end`, which are in bounds.
    pub fn part(self, start: usize, end: usize) -> Self {
        debug_assert!(start <= end && end <= self.len);
        Self { at: self.at + (start * size_of::<T>()) as DevicePtr, len: end - start, _elements: PhantomData }
    }

    pub fn zero(self, device: &Device) -> Result<()> {
        if self.bytes() == 0 { Ok(()) } else { device.inner.backend.zero(self.at, self.bytes()) }
    }

    /// `from` has this length.
    pub fn write(self, device: &Device, from: &[T]) -> Result<()> {
        debug_assert_eq!(from.len(), self.len);
        if self.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: the slice's own bytes, whose padding may be uninitialised.
        let bytes: &Bytes = unsafe { std::slice::from_raw_parts(from.as_ptr().cast(), self.bytes()) };
        device.inner.backend.write(self.at, bytes)
    }

    pub fn write_from(self, device: &Device, from: &[T]) -> Result<()> {
        self.same_length("write_from", from.len())?;
        self.write(device, from)
    }

    /// `from` has this length, lies on the same device and does not overlap.
    pub fn copy(self, device: &Device, from: Self) -> Result<()> {
        debug_assert_eq!(from.len, self.len);
        if self.bytes() == 0 { Ok(()) } else { device.inner.backend.copy(self.at, from.at, self.bytes()) }
    }

    pub fn download(self, device: &Device) -> Result<Vec<T>> {
        let mut elements = Vec::<T>::with_capacity(self.len);
        // SAFETY: the spare capacity's own bytes.
        let bytes: &mut Bytes = unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), self.bytes()) };
        self.read(device, bytes)?;
        // SAFETY: all were written, and device memory holds values of the type.
        unsafe { elements.set_len(self.len) };
        Ok(elements)
    }

    pub fn read_into(self, device: &Device, to: &mut [T]) -> Result<()> {
        self.same_length("read_into", to.len())?;
        // SAFETY: the slice's own bytes; what is written there are values of the type.
        let bytes: &mut Bytes = unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr().cast(), self.bytes()) };
        self.read(device, bytes)
    }

    /// Waits even if there is nothing to read: a panic before must come back.
    fn read(self, device: &Device, bytes: &mut Bytes) -> Result<()> {
        if bytes.is_empty() { device.synchronize() } else { device.inner.backend.read(self.at, bytes) }
    }

    pub fn same_length(self, operation: &'static str, other: usize) -> Result<()> {
        if other == self.len {
            return Ok(());
        }
        let what = format!("{other} elements for a device slice of {}; the two must have one length", self.len);
        Err(Error::Length { operation, what })
    }
}
