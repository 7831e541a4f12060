//! A device's primary context: the one that the CUDA runtime and other crates share, so that their memory is usable here.

use super::driver::Driver;
use super::failure::{Failure, Outcome};
use crate::backend::{Limits, Missing};
use crate::error::Error;
use cudarc::driver::sys::{CUcontext, CUdevice, CUdevice_attribute as Attribute};
use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

/// A reference to the context, given back when it is dropped.
pub(super) struct Context {
    pub driver: Arc<Driver>,
    raw: CUcontext,
    device: CUdevice,
    pub ordinal: usize,
    pub name: String,
    /// Compute capability times ten.
    pub arch: u32,
    pub limits: Limits,
    /// Whether memory can be allocated and freed in queue order.
    pub pools: bool,
    /// Whether the device's atomic operations on host memory are atomic against the host's.
    pub host_native_atomics: bool,
}

// SAFETY: the driver's handles may be used on any thread.
unsafe impl Send for Context {}
// SAFETY: the driver serialises calls itself.
unsafe impl Sync for Context {}

impl Context {
    /// The context of the device of this ordinal.
    pub fn retain(driver: Arc<Driver>, ordinal: usize) -> Result<Self, Missing> {
        if ordinal >= driver.devices {
            let last = driver.devices - 1;
            return Err(Missing::Absent(format!("the CUDA driver finds {} GPUs, the last is cuda:{last}", driver.devices)));
        }
        let device_name = format!("cuda:{ordinal}");
        let broken = |failure: Failure| Missing::Broken(failure.error(&device_name));
        let mut device = 0;
        // SAFETY: the ordinal is below the number of devices.
        unsafe { driver.cuDeviceGet(&mut device, ordinal as c_int) }.map_err(broken)?;
        let attribute = |attribute| {
            let mut value = 0;
            // SAFETY: writes one number.
            unsafe { driver.cuDeviceGetAttribute(&mut value, attribute, device) }.map(|()| u32::try_from(value).unwrap_or(0))
        };
        let limits = limits(attribute).map_err(broken)?;
        let arch = (|| {
            let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
            Ok(major * 10 + attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?)
        })()
        .map_err(broken)?;
        // A driver that does not know the attribute has no pools.
        let pools = driver.has_pools() && attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED).is_ok_and(|value| value != 0);
        let host_native_atomics = attribute(Attribute::CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED).is_ok_and(|value| value != 0);
        let mut name = [0 as c_char; 256];
        // SAFETY: writes at most so many bytes, a NUL included.
        unsafe { driver.cuDeviceGetName(name.as_mut_ptr(), 255, device) }.map_err(broken)?;
        // SAFETY: the last byte is a NUL in any case.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let mut raw = ptr::null_mut();
        // SAFETY: `device` is the driver's.
        match unsafe { driver.cuDevicePrimaryCtxRetain(&mut raw, device) } {
            Ok(()) => Ok(Self { driver, raw, device, ordinal, name, arch, limits, pools, host_native_atomics }),
            Err(failure) => Err(broken(failure)),
        }
    }

    /// Makes the context current on this thread until the result is dropped; then the program's own is current again.
    pub fn enter(&self) -> Outcome<Current<'_>> {
        if super::fork::forked() {
            return Err(Failure { call: "fork", code: super::failure::NOT_INITIALIZED });
        }
        // SAFETY: the context is retained. If other code destroyed it, the driver says so.
        unsafe { self.driver.cuCtxPushCurrent_v2(self.raw) }?;
        Ok(Current { context: self, _thread: PhantomData })
    }

    /// Whether a context of the program's is this one.
    #[cfg(any(feature = "interop", test))]
    pub fn is(&self, other: CUcontext) -> bool {
        self.raw == other
    }

    /// What messages call the device.
    pub fn device(&self) -> String {
        format!("cuda:{}", self.ordinal)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !super::fork::forked() {
            // SAFETY: retained once. A failure leaves nothing to do.
            let _ = unsafe { self.driver.cuDevicePrimaryCtxRelease_v2(self.device) };
        }
    }
}

/// The context is current on this thread.
pub(super) struct Current<'a> {
    context: &'a Context,
    _thread: PhantomData<*const ()>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut popped = ptr::null_mut();
        // SAFETY: pushed by `enter` on this thread, which a `Current` does not leave.
        let _ = unsafe { self.context.driver.cuCtxPopCurrent_v2(&mut popped) };
    }
}

fn limits(attribute: impl Fn(Attribute) -> Outcome<u32>) -> Outcome<Limits> {
    use Attribute::*;
    Ok(Limits {
        threads_per_block: attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        block: [
            attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
            attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
            attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
        ],
        grid: [
            attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        shared_bytes: u64::from(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?),
    })
}

/// The error of a device that takes no more work.
pub(super) fn lost(device: String, cause: &str) -> Error {
    Error::DeviceLost { device, cause: cause.to_owned() }
}
