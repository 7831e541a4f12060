//! Streams and memory that the program made itself, through another crate.

use super::Cuda;
use super::driver::Driver;
use super::failure::{NOT_FOUND, Outcome};
use super::queue::Queue;
use crate::backend::{DevicePtr, Missing};
use crate::error::Result;
use cudarc::driver::sys::{CUcontext, CUpointer_attribute, CUstream};
use std::ffi::{c_int, c_void};
use std::ptr;

/// Ordinal of the device of a context.
///
/// # Safety
/// `context` is a living context of the driver.
#[cfg_attr(not(feature = "interop"), allow(dead_code))]
pub(crate) unsafe fn ordinal(context: *mut c_void) -> Result<usize, Missing> {
    let driver = Driver::get()?;
    let mut device = 0;
    let outcome = (|| {
        // SAFETY: the caller's promise; what is pushed is popped.
        unsafe {
            driver.cuCtxPushCurrent_v2(context.cast())?;
            let device = driver.cuCtxGetDevice(&mut device);
            driver.cuCtxPopCurrent_v2(&mut ptr::null_mut()).and(device)?;
        }
        // A device's handle is not promised to be its ordinal.
        for ordinal in 0..driver.devices {
            let mut handle = 0;
            // SAFETY: below the number of devices.
            unsafe { driver.cuDeviceGet(&mut handle, ordinal as c_int) }?;
            if handle == device {
                return Ok(ordinal);
            }
        }
        Ok(driver.devices)
    })();
    outcome.map_err(|failure: super::failure::Failure| Missing::Broken(failure.error("cuda")))
}

impl Cuda {
    /// The queue's stream.
    #[cfg_attr(not(feature = "cudarc"), allow(dead_code))]
    pub(crate) fn stream(&self) -> *mut c_void {
        self.queue.stream.cast()
    }

    /// Whether a context is this device's own.
    pub(crate) fn is_context(&self, context: *mut c_void) -> bool {
        self.queue.context.is(context.cast())
    }

    /// Whether a stream is of this device's context.
    ///
    /// # Safety
    /// `stream` is a living stream of the driver.
    pub(crate) unsafe fn has_stream(&self, stream: *mut c_void) -> Result<bool> {
        self.queue.run(|driver| {
            let mut context: CUcontext = ptr::null_mut();
            // SAFETY: the caller's promise.
            unsafe { driver.cuStreamGetCtx(stream.cast(), &mut context) }?;
            Ok(self.queue.context.is(context))
        })
    }

    /// Whether memory is of this device's context.
    #[cfg_attr(not(feature = "cust"), allow(dead_code))]
    pub(crate) fn has_memory(&self, at: DevicePtr) -> Result<bool> {
        self.queue.run(|driver| {
            let mut context: CUcontext = ptr::null_mut();
            // SAFETY: this attribute is one pointer. The address is only looked up.
            let outcome =
                unsafe { driver.cuPointerGetAttribute((&raw mut context).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT, at) };
            if outcome.is_ok() && !context.is_null() {
                return Ok(self.queue.context.is(context));
            }
            // Memory of a pool belongs to a device and no context.
            let mut ordinal: c_int = -1;
            // SAFETY: this attribute is one number.
            let outcome = unsafe {
                driver.cuPointerGetAttribute((&raw mut ordinal).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at)
            };
            match outcome {
                Ok(()) => Ok(usize::try_from(ordinal) == Ok(self.queue.context.ordinal)),
                // The driver does not know the address.
                Err(failure) if failure.code == super::failure::INVALID_VALUE || failure.code == NOT_FOUND => Ok(false),
                Err(failure) => Err(failure),
            }
        })
    }

    /// Orders a program's own stream before what is put on the queue from now on.
    ///
    /// # Safety
    /// `stream` is a living stream of this device's context.
    pub(crate) unsafe fn wait_for(&self, stream: *mut c_void) -> Result<()> {
        self.queue.run(|driver| order(&self.queue, driver, stream.cast(), self.queue.stream))
    }

    /// Orders what is on the queue before what the program puts on its own stream from now on.
    ///
    /// # Safety
    /// `stream` is a living stream of this device's context.
    pub(crate) unsafe fn release_to(&self, stream: *mut c_void) -> Result<()> {
        self.queue.run(|driver| order(&self.queue, driver, self.queue.stream, stream.cast()))
    }
}

fn order(queue: &Queue, driver: &Driver, first: CUstream, then: CUstream) -> Outcome {
    let event = queue.event(driver)?;
    event.record(driver, first)?;
    // SAFETY: both streams are of the current context. The driver keeps what the wait needs of the event.
    unsafe { driver.cuStreamWaitEvent(then, event.raw(), 0) }
}
