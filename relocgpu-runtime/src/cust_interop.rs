//! Launches with a program's own `cust` context, streams and buffers (feature `cust`).
//!
//! The feature is off by default because `cust` links libcuda: a program with it needs NVIDIA's driver to start, where
//! others fall back to the CPU.
//!
//! `&DeviceBuffer<T>` is passed for a kernel's `&[T]`, `&mut DeviceBuffer<T>` for its `DisjointSlice<T>`;
//! [`CustBuffer`] gives them other shapes. A launch with one of them has ended when it returns, since nothing but the
//! borrow keeps `cust` from freeing the buffer. [`Device::on_stream`] makes it asynchronous, in order with a stream.

use crate::backend::DevicePtr;
use crate::buffer::sealed::Sealed;
use crate::buffer::{Slice, SliceArg, SliceMutArg};
use crate::data::DeviceData;
use crate::device::disjoint::{Linear, Plane, RawDisjoint, RawSlice, Space, Volume};
use crate::error::{Error, Result};
use crate::handle::Device;
use cust::context::Context;
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust::stream::Stream;
use std::cell::Cell;
use std::ffi::c_void;

thread_local! {
    /// A buffer of `cust` has been packed for the launch that this thread is about to make.
    static PACKED: Cell<bool> = const { Cell::new(false) };
    /// Inside [`Device::on_stream`].
    static ON_STREAM: Cell<bool> = const { Cell::new(false) };
}

impl Device {
    /// The device of a context of the program's. It is the same as [`cuda`](Self::cuda) gives for that GPU, and keeps
    /// the context alive: `cust` and this crate use the one that the driver has for each GPU.
    ///
    /// # Errors
    /// If the device does not work, or the context is not that one.
    pub fn from_cust(context: &Context) -> Result<Self> {
        let raw = context.as_raw().cast();
        // SAFETY: the context lives as long as the borrow.
        let device = Self::cuda(unsafe { ordinal(raw) }?)?;
        if cuda(&device).is_some_and(|cuda| cuda.is_context(raw)) {
            return Ok(device);
        }
        let reason = "the context is not the primary one of its GPU; make it with `cust::context::Context::new`".to_owned();
        Err(Error::NoDevice { device: device.kind().to_string(), reason })
    }

    /// Runs `work` in order with a stream of the program's: its launches and copies on this device come after what is on
    /// the stream, and before what is put on the stream later. Nothing waits on the host, and launches inside take
    /// buffers of `cust` without waiting either.
    ///
    /// # Errors
    /// Those of `work`; if the stream is not of this device. A panic in a kernel comes from
    /// [`synchronize`](Self::synchronize), not from the stream.
    ///
    /// # Safety
    /// Until the stream has passed this call, buffers of `cust` that `work` passes to launches are not freed, and are
    /// used in no other way than in order with this stream.
    pub unsafe fn on_stream<R>(&self, stream: &Stream, work: impl FnOnce(&Self) -> Result<R>) -> Result<R> {
        let raw = stream.as_inner().cast();
        let Some(cuda) = cuda(self) else { return Err(other(self, "on_stream", "another driver's stream")) };
        // SAFETY: the stream lives as long as the borrow.
        if !unsafe { cuda.has_stream(raw) }? {
            return Err(other(self, "on_stream", "another context's stream"));
        }
        // SAFETY: as above, and it is of this context.
        unsafe { cuda.wait_for(raw) }?;
        let before = ON_STREAM.replace(true);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(self)));
        ON_STREAM.set(before);
        // SAFETY: as above.
        let released = unsafe { cuda.release_to(raw) };
        let outcome = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        outcome.and_then(|result| released.map(|()| result))
    }
}

/// Tells and forgets whether the launch that begins on this thread must end before it returns.
pub(crate) fn must_wait() -> bool {
    PACKED.replace(false) && !ON_STREAM.get()
}

impl<T: DeviceData + DeviceCopy> Sealed for &DeviceBuffer<T> {}
impl<T: DeviceData + DeviceCopy> SliceArg<T> for &DeviceBuffer<T> {
    fn __part<'a>(&'a self, device: &'a Device, operation: &'static str) -> Result<Slice<'a, T>> {
        Ok(Slice::foreign(address(self, device, operation)?, self.len(), device))
    }

    fn __pack(&self, device: &Device) -> Result<RawSlice<T>> {
        Ok(RawSlice { ptr: address(self, device, "launch")? as usize as *const T, len: self.len() })
    }
}

impl<T: DeviceData + DeviceCopy> Sealed for &mut DeviceBuffer<T> {}
impl<T: DeviceData + DeviceCopy> SliceMutArg<T, Linear> for &mut DeviceBuffer<T> {
    fn __pack(&mut self, device: &Device) -> Result<RawDisjoint<T, Linear>> {
        Ok(RawDisjoint { ptr: address(self, device, "launch")? as usize as *mut T, len: self.len(), space: Linear::SHAPE })
    }
}

/// Shapes of a buffer of `cust`.
pub trait CustBuffer<T: DeviceCopy>: Sealed {
    /// All elements as rows, for a kernel's `DisjointSlice<T, Plane>`.
    ///
    /// # Errors
    /// If `width` times `height` is not the number of elements.
    fn plane_mut(&mut self, size: (usize, usize)) -> Result<CustShape<'_, T, Plane>>;

    /// All elements as layers of rows, for a kernel's `DisjointSlice<T, Volume>`.
    ///
    /// # Errors
    /// If `width` times `height` times `depth` is not the number of elements.
    fn volume_mut(&mut self, size: (usize, usize, usize)) -> Result<CustShape<'_, T, Volume>>;
}

/// A buffer of `cust` with a shape: see [`CustBuffer`].
#[derive(Debug)]
pub struct CustShape<'a, T: DeviceCopy, S> {
    buffer: &'a mut DeviceBuffer<T>,
    space: S,
}

impl<T: DeviceCopy> Sealed for DeviceBuffer<T> {}
impl<T: DeviceCopy> CustBuffer<T> for DeviceBuffer<T> {
    fn plane_mut(&mut self, size: (usize, usize)) -> Result<CustShape<'_, T, Plane>> {
        match Plane::new(size, self.len()) {
            Some(space) => Ok(CustShape { buffer: self, space }),
            None => Err(shape("plane_mut", &[size.0, size.1], self.len())),
        }
    }

    fn volume_mut(&mut self, size: (usize, usize, usize)) -> Result<CustShape<'_, T, Volume>> {
        match Volume::new(size, self.len()) {
            Some(space) => Ok(CustShape { buffer: self, space }),
            None => Err(shape("volume_mut", &[size.0, size.1, size.2], self.len())),
        }
    }
}

impl<T: DeviceCopy, S> Sealed for CustShape<'_, T, S> {}
impl<T: DeviceData + DeviceCopy, S: Space> SliceMutArg<T, S> for CustShape<'_, T, S> {
    fn __pack(&mut self, device: &Device) -> Result<RawDisjoint<T, S>> {
        let at = address(self.buffer, device, "launch")?;
        Ok(RawDisjoint { ptr: at as usize as *mut T, len: self.buffer.len(), space: self.space })
    }
}

/// Address of a buffer that lies on this device. From here on the thread's next launch is one with such a buffer.
fn address<T: DeviceData + DeviceCopy>(buffer: &DeviceBuffer<T>, device: &Device, operation: &'static str) -> Result<DevicePtr> {
    PACKED.set(true);
    if buffer.is_empty() || size_of::<T>() == 0 {
        return Ok(align_of::<T>() as DevicePtr);
    }
    let at = buffer.as_device_ptr().as_raw();
    match cuda(device) {
        Some(cuda) if cuda.has_memory(at)? => Ok(at),
        _ => Err(other(device, operation, "another device or context")),
    }
}

fn other(device: &Device, operation: &'static str, lies_on: &str) -> Error {
    Error::OtherDevice { operation, lies_on: lies_on.to_owned(), needed_on: device.kind().to_string() }
}

fn shape(operation: &'static str, size: &[usize], len: usize) -> Error {
    let size: Vec<_> = size.iter().map(ToString::to_string).collect();
    Error::Length { operation, what: format!("{} elements for a buffer of {len}; the two must be equal", size.join(" × ")) }
}

#[cfg(not(relocgpu_device))]
use crate::cuda::{Cuda, foreign};

#[cfg(not(relocgpu_device))]
fn cuda(device: &Device) -> Option<&Cuda> {
    device.inner.backend.cuda()
}

/// Ordinal of the device of a context.
///
/// # Safety
/// `context` is a living context of the driver.
#[cfg(not(relocgpu_device))]
unsafe fn ordinal(context: *mut c_void) -> Result<usize> {
    use crate::backend::Missing;
    // SAFETY: the caller's promise.
    unsafe { foreign::ordinal(context) }.map_err(|missing| match missing {
        Missing::Absent(reason) => Error::NoDevice { device: "cuda".to_owned(), reason },
        Missing::Broken(error) => error,
    })
}

/// The device pass type-checks programs that use this module; there are no devices in it.
#[cfg(relocgpu_device)]
enum Cuda {}

#[cfg(relocgpu_device)]
impl Cuda {
    fn is_context(&self, _context: *mut c_void) -> bool {
        match *self {}
    }
    unsafe fn has_stream(&self, _stream: *mut c_void) -> Result<bool> {
        match *self {}
    }
    fn has_memory(&self, _at: DevicePtr) -> Result<bool> {
        match *self {}
    }
    unsafe fn wait_for(&self, _stream: *mut c_void) -> Result<()> {
        match *self {}
    }
    unsafe fn release_to(&self, _stream: *mut c_void) -> Result<()> {
        match *self {}
    }
}

#[cfg(relocgpu_device)]
fn cuda(_device: &Device) -> Option<&Cuda> {
    None
}

#[cfg(relocgpu_device)]
unsafe fn ordinal(_context: *mut c_void) -> Result<usize> {
    Err(Error::NoDevice { device: "cuda".to_owned(), reason: "device code has no devices".to_owned() })
}
