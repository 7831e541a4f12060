//! Memory of a device that lives as long as the device, with a handle on the host.

use crate::contract::image::RawStatic;
#[cfg(not(relocgpu_device))]
use crate::contract::image::StaticThunk;
use crate::data::DeviceData;
use crate::error::Result;
use crate::handle::Device;
use std::marker::PhantomData;
use std::ops::Deref;

/// One value on each device, which all kernels of the process share and which lives as long as the process.
///
/// ```ignore
/// static HITS: DeviceStatic<[AtomicU32; 16]> = device!(static: [const { AtomicU32::new(0) }; 16]);
/// ```
///
/// In kernels it derefs to the value in the device's memory; use atomics for what changes. The host reads and writes it
/// with [`read`](Self::read) and [`write`](Self::write). In host code it derefs to a value of the host's own: the initial
/// one, and what [`host::run`](crate::host::run) works on.
pub struct DeviceStatic<T> {
    #[cfg(not(relocgpu_device))]
    thunk: StaticThunk,
    /// The host's own.
    #[cfg(not(relocgpu_device))]
    own: std::sync::OnceLock<T>,
    #[cfg(relocgpu_device)]
    slot: *const u64,
    value: PhantomData<fn() -> T>,
}

// SAFETY: it gives out shared references to a value that is `Sync` (`DeviceData`), and nothing else.
unsafe impl<T: DeviceData> Sync for DeviceStatic<T> {}
// SAFETY: as above; it owns nothing.
unsafe impl<T: DeviceData> Send for DeviceStatic<T> {}

impl<T: DeviceData> Deref for DeviceStatic<T> {
    type Target = T;

    /// # Panics
    /// On the host, if its expression panicked; in kernels never.
    #[cfg(not(relocgpu_device))]
    fn deref(&self) -> &T {
        // As for `DeviceTable`.
        self.own.get().unwrap_or_else(|| {
            let initial = crate::resolve::device_static(self.thunk);
            let initial = initial.unwrap_or_else(|cause| panic!("a `device!(static: …)` could not be made: {cause}"));
            // SAFETY: the thunk was made by `raw_static` from a value of this type; it may be copied bit by bit.
            self.own.get_or_init(|| unsafe { initial.data.cast::<T>().read() })
        })
    }

    #[cfg(relocgpu_device)]
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the slot holds the address of the value on this device, which the loader writes.
        unsafe { &**self.slot.cast::<*const T>() }
    }
}

impl<T: DeviceData> DeviceStatic<T> {
    /// The device's value, after all commands before.
    ///
    /// # Errors
    /// If its expression panicked, a kernel before did, or the device is lost.
    pub fn read(&self, device: &Device) -> Result<T> {
        let mut value = std::mem::MaybeUninit::<T>::uninit();
        let at = self.address(device)?;
        // SAFETY: the value's own bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(value.as_mut_ptr().cast(), size_of::<T>()) };
        if !bytes.is_empty() {
            device.inner.backend.read(at, bytes)?;
        }
        // SAFETY: the device's memory holds a value of this type, and all of its bytes were read.
        Ok(unsafe { value.assume_init() })
    }

    /// Sets the device's value, in queue order.
    ///
    /// # Errors
    /// If its expression panicked, or the device is lost.
    pub fn write(&self, device: &Device, value: &T) -> Result<()> {
        let at = self.address(device)?;
        // SAFETY: the value's own bytes, whose padding may be uninitialised.
        let bytes = unsafe { std::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) };
        if bytes.is_empty() { Ok(()) } else { device.inner.backend.write(at, bytes) }
    }

    /// Address of the device's value: a host address on the CPU device.
    ///
    /// # Errors
    /// If its expression panicked, there is not enough memory, or the device is lost.
    pub fn address(&self, device: &Device) -> Result<u64> {
        #[cfg(not(relocgpu_device))]
        return device.static_address(self.thunk);
        #[cfg(relocgpu_device)]
        return Err(crate::Error::NoDevice { device: device.kind().to_string(), reason: "device code has no handles".to_owned() });
    }
}

/// Body of a device static's thunk: nothing writes to the value any more.
pub fn raw_static<T: DeviceData>(value: T) -> RawStatic {
    let value: &'static T = Box::leak(Box::new(value));
    RawStatic { data: (&raw const *value).cast(), bytes: size_of::<T>(), align: align_of::<T>() }
}

/// A device static in host code. The closures only say types.
#[cfg(not(relocgpu_device))]
pub const fn host_static<T, D, F, G>(thunk: extern "C-unwind" fn() -> RawStatic, _value: F, _typed: G) -> DeviceStatic<T>
where
    T: DeviceData,
    D: DeviceData,
    F: FnOnce() -> T + Copy,
    G: Fn() -> D + Copy,
{
    const { assert!(T::LAYOUT.is(D::LAYOUT), "{}", super::SAME_TYPE) }
    const { assert!(align_of::<T>() <= 256, "a device static is aligned to 256 bytes at most") }
    DeviceStatic { thunk, own: std::sync::OnceLock::new(), value: PhantomData }
}

/// A device static in device code: the address of its slot.
#[cfg(relocgpu_device)]
pub const fn device_static<T, F>(slot: *const u64, _value: F) -> DeviceStatic<T>
where
    T: DeviceData,
    F: FnOnce() -> T + Copy,
{
    DeviceStatic { slot, value: PhantomData }
}
