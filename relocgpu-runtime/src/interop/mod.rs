//! Launches with contexts, streams and buffers that the program made through another crate (features `cust`, `cudarc`).
//!
//! Both features stand for the same few things: a [`Device`] of the program's context, its buffers as arguments of
//! launches, [`ForeignBuffer`] for other shapes of them, and [`Device::on_stream`] for launches in order with a stream.
//! A launch or copy with such a buffer has ended when it returns, since nothing but the borrow keeps the other crate from
//! freeing it; inside [`Device::on_stream`] it is asynchronous.

#[cfg(feature = "cudarc")]
pub mod cudarc;
#[cfg(feature = "cust")]
pub mod cust;

use crate::buffer::SliceMutArg;
use crate::buffer::sealed::Sealed;
use crate::data::DeviceData;
use crate::device::disjoint::{Plane, RawDisjoint, Space, Volume};
use crate::error::{Error, Result};
use crate::handle::Device;
use std::cell::Cell;
use std::ffi::c_void;

thread_local! {
    /// A buffer of another crate has been taken for the operation that this thread is about to make.
    static TAKEN: Cell<bool> = const { Cell::new(false) };
    /// Inside [`Device::on_stream`].
    static ON_STREAM: Cell<bool> = const { Cell::new(false) };
}

/// A stream of another crate: `cust`'s `Stream`, cudarc's `CudaStream`.
pub trait ForeignStream: Sealed {
    /// The driver's handle.
    #[doc(hidden)]
    fn __raw(&self) -> *mut c_void;
}

/// Memory of another crate: `cust`'s `DeviceBuffer`, cudarc's `CudaSlice` and its views.
///
/// `&buffer` is passed for a kernel's `&[T]`, `&mut buffer` for its `DisjointSlice<T>`; this gives other shapes.
pub trait ForeignBuffer<T>: Sealed {
    #[doc(hidden)]
    fn __len(&self) -> usize;

    /// Address for writing, if the memory lies on this device.
    #[doc(hidden)]
    fn __address_mut(&mut self, device: &Device) -> Result<u64>;

    /// All elements as rows, for a kernel's `DisjointSlice<T, Plane>`.
    ///
    /// # Errors
    /// If `width` times `height` is not the number of elements.
    fn plane_mut(&mut self, (width, height): (usize, usize)) -> Result<ForeignShape<'_, Self, Plane>> {
        match Plane::new((width, height), self.__len()) {
            Some(space) => Ok(ForeignShape { buffer: self, space }),
            None => Err(shape("plane_mut", format!("{width} × {height}"), self.__len())),
        }
    }

    /// All elements as layers of rows, for a kernel's `DisjointSlice<T, Volume>`.
    ///
    /// # Errors
    /// If `width` times `height` times `depth` is not the number of elements.
    fn volume_mut(&mut self, (width, height, depth): (usize, usize, usize)) -> Result<ForeignShape<'_, Self, Volume>> {
        match Volume::new((width, height, depth), self.__len()) {
            Some(space) => Ok(ForeignShape { buffer: self, space }),
            None => Err(shape("volume_mut", format!("{width} × {height} × {depth}"), self.__len())),
        }
    }
}

/// A buffer of another crate with a shape: see [`ForeignBuffer`].
#[derive(Debug)]
pub struct ForeignShape<'a, B: ?Sized, S> {
    buffer: &'a mut B,
    space: S,
}

impl<B: ?Sized, S> Sealed for ForeignShape<'_, B, S> {}
impl<T: DeviceData, B: ForeignBuffer<T> + ?Sized, S: Space> SliceMutArg<T, S> for ForeignShape<'_, B, S> {
    fn __pack(&mut self, device: &Device) -> Result<RawDisjoint<T, S>> {
        let at = self.buffer.__address_mut(device)?;
        Ok(RawDisjoint { ptr: at as usize as *mut T, len: self.buffer.__len(), space: self.space })
    }
}

/// `&$type` for a kernel's `&[T]`: it has `address(self, device, operation)`.
macro_rules! foreign_slice {
    ([$($life:lifetime)?] $type:ty, $address:path $(, $bound:path)?) => {
        impl<$($life,)? T: DeviceData $(+ $bound)?> Sealed for &$type {}
        impl<$($life,)? T: DeviceData $(+ $bound)?> SliceArg<T> for &$type {
            fn __part<'s>(&'s self, device: &'s Device, operation: &'static str) -> Result<Slice<'s, T>> {
                Ok(Slice::foreign($address(*self, device, operation)?, self.len(), device))
            }

            fn __pack(&self, device: &Device) -> Result<RawSlice<T>> {
                Ok(RawSlice { ptr: $address(*self, device, "launch")? as usize as *const T, len: self.len() })
            }
        }
    };
}
/// `&mut $type`, which is a [`ForeignBuffer`], for a kernel's `DisjointSlice<T>`.
macro_rules! foreign_slice_mut {
    ([$($life:lifetime)?] $type:ty $(, $bound:path)?) => {
        impl<$($life,)? T: DeviceData $(+ $bound)?> Sealed for &mut $type {}
        impl<$($life,)? T: DeviceData $(+ $bound)?> SliceMutArg<T, Linear> for &mut $type {
            fn __pack(&mut self, device: &Device) -> Result<RawDisjoint<T, Linear>> {
                Ok(RawDisjoint { ptr: self.__address_mut(device)? as usize as *mut T, len: self.len(), space: Linear::SHAPE })
            }
        }
    };
}
use {foreign_slice, foreign_slice_mut};

impl Device {
    /// Runs `work` in order with a stream of the program's: its launches and copies on this device come after what is on
    /// the stream, and before what is put on the stream later. Nothing waits on the host, and launches inside take
    /// buffers of other crates without waiting either.
    ///
    /// # Errors
    /// Those of `work`; if the stream is not of this device. A panic in a kernel comes from
    /// [`synchronize`](Self::synchronize), not from the stream.
    ///
    /// # Safety
    /// Until the stream has passed this call, buffers of other crates that `work` uses are not freed, and are used in no
    /// other way than in order with this stream.
    pub unsafe fn on_stream<R>(&self, stream: &impl ForeignStream, work: impl FnOnce(&Self) -> Result<R>) -> Result<R> {
        let raw = stream.__raw();
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

    /// The device of a context of the program's, which is alive.
    fn of_context(context: *mut c_void, remedy: &str) -> Result<Self> {
        // SAFETY: the caller's promise.
        let device = Self::cuda(unsafe { ordinal(context) }?)?;
        if cuda(&device).is_some_and(|cuda| cuda.is_context(context)) {
            return Ok(device);
        }
        let reason = format!("the context is not the primary one of its GPU; make it with {remedy}");
        Err(Error::NoDevice { device: device.kind().to_string(), reason })
    }
}

/// From here on the thread's next operation is one with a buffer of another crate.
fn taken() {
    TAKEN.set(true);
}

/// Tells and forgets whether the operation that begins on this thread must end before it returns.
pub(crate) fn must_wait() -> bool {
    TAKEN.replace(false) && !ON_STREAM.get()
}

fn other(device: &Device, operation: &'static str, lies_on: &str) -> Error {
    Error::OtherDevice { operation, lies_on: lies_on.to_owned(), needed_on: device.kind().to_string() }
}

fn shape(operation: &'static str, size: String, len: usize) -> Error {
    Error::Length { operation, what: format!("{size} elements for a buffer of {len}; the two must be equal") }
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
mod no_device {
    use super::{Device, Error, Result, c_void};

    pub enum Cuda {}

    #[allow(dead_code)]
    impl Cuda {
        pub fn is_context(&self, _context: *mut c_void) -> bool {
            match *self {}
        }
        pub unsafe fn has_stream(&self, _stream: *mut c_void) -> Result<bool> {
            match *self {}
        }
        pub fn has_memory(&self, _at: u64) -> Result<bool> {
            match *self {}
        }
        pub unsafe fn wait_for(&self, _stream: *mut c_void) -> Result<()> {
            match *self {}
        }
        pub unsafe fn release_to(&self, _stream: *mut c_void) -> Result<()> {
            match *self {}
        }
        pub fn stream(&self) -> *mut c_void {
            match *self {}
        }
    }

    pub fn cuda(_device: &Device) -> Option<&Cuda> {
        None
    }

    pub unsafe fn ordinal(_context: *mut c_void) -> Result<usize> {
        Err(Error::NoDevice { device: "cuda".to_owned(), reason: "device code has no devices".to_owned() })
    }
}
#[cfg(relocgpu_device)]
use no_device::{cuda, ordinal};
