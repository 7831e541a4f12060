//! Host memory that kernels see while they run.

#[cfg(not(relocgpu_device))]
use crate::contract::image::MappedThunk;
use crate::contract::image::RawMapped;
use crate::data::DeviceData;
use std::alloc::{Layout, handle_alloc_error};
use std::marker::PhantomData;
use std::ops::Deref;

/// Bytes of a page of x86-64, and its alignment.
const PAGE: usize = 4096;

/// One value in the host's memory that the host and kernels see at the same time, while the kernels run.
///
/// ```ignore
/// static STOP: Mapped<AtomicU32> = host!(mapped: AtomicU32::new(0));
/// ```
///
/// It derefs to the value, on the host and in kernels. Use atomics for what changes: their loads and stores of up to 8
/// bytes are visible both ways while a kernel runs. A read-modify-write is atomic among the threads of one device, and
/// against the host only where [`Device::host_native_atomics`](crate::Device::host_native_atomics) says so; elsewhere
/// read the result after synchronising.
///
/// The value is made when it is first used, lies in pages of its own, and stays for the life of the process.
pub struct Mapped<T> {
    #[cfg(not(relocgpu_device))]
    thunk: MappedThunk,
    #[cfg(not(relocgpu_device))]
    made: std::sync::OnceLock<RawMapped>,
    #[cfg(relocgpu_device)]
    slot: *const u64,
    value: PhantomData<fn() -> T>,
}

// SAFETY: it gives out shared references to a value that is `Sync` (`DeviceData`), and nothing else.
unsafe impl<T: DeviceData> Sync for Mapped<T> {}
// SAFETY: as above; it owns nothing.
unsafe impl<T: DeviceData> Send for Mapped<T> {}

impl<T: DeviceData> Deref for Mapped<T> {
    type Target = T;

    /// # Panics
    /// On the host, if its expression panicked; in kernels never.
    #[cfg(not(relocgpu_device))]
    fn deref(&self) -> &T {
        // As for `DeviceTable`.
        let memory = self.made.get().copied().unwrap_or_else(|| {
            let memory = crate::resolve::mapped(self.thunk);
            let memory = memory.unwrap_or_else(|cause| panic!("a `host!(mapped: …)` could not be made: {cause}"));
            *self.made.get_or_init(|| memory)
        });
        // SAFETY: the thunk was made by `raw_mapped` from a value of this type, which lives as long as the process.
        unsafe { &*memory.data.cast() }
    }

    #[cfg(relocgpu_device)]
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the slot holds the value's address on this device, which the loader writes.
        unsafe { &**self.slot.cast::<*const T>() }
    }
}

impl<T: DeviceData + std::fmt::Debug> std::fmt::Debug for Mapped<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

/// Body of a mapped static's thunk: puts the value into pages of its own.
pub fn raw_mapped<T: DeviceData>(value: T) -> RawMapped {
    const { assert!(align_of::<T>() <= PAGE, "a mapped value is aligned to a page at most") }
    let bytes = size_of::<T>().max(1).next_multiple_of(PAGE);
    let layout = Layout::from_size_align(bytes, PAGE).unwrap_or(Layout::new::<[u8; PAGE]>());
    assert!(layout.size() >= size_of::<T>(), "{} bytes are too many for a mapped value", size_of::<T>());
    // SAFETY: the size is not zero.
    let data = unsafe { std::alloc::alloc_zeroed(layout) };
    if data.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: fresh memory, large enough and aligned.
    unsafe { data.cast::<T>().write(value) };
    RawMapped { data, bytes }
}

/// A mapped static in host code. The closures only say types.
#[cfg(not(relocgpu_device))]
pub const fn host_mapped<T, D, F, G>(thunk: extern "C-unwind" fn() -> RawMapped, _value: F, _typed: G) -> Mapped<T>
where
    T: DeviceData,
    D: DeviceData,
    F: FnOnce() -> T + Copy,
    G: Fn() -> D + Copy,
{
    const { assert!(T::LAYOUT.is(D::LAYOUT), "{}", super::SAME_TYPE) }
    Mapped { thunk, made: std::sync::OnceLock::new(), value: PhantomData }
}

/// A mapped static in device code: the address of its slot.
#[cfg(relocgpu_device)]
pub const fn device_mapped<T, F>(slot: *const u64, _value: F) -> Mapped<T>
where
    T: DeviceData,
    F: FnOnce() -> T + Copy,
{
    Mapped { slot, value: PhantomData }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    extern "C-unwind" fn counters() -> RawMapped {
        raw_mapped([const { AtomicU32::new(7) }; 2000])
    }
    static COUNTERS: Mapped<[AtomicU32; 2000]> =
        host_mapped(counters, || [const { AtomicU32::new(7) }; 2000], || [const { AtomicU32::new(7) }; 2000]);

    #[test]
    fn a_mapped_value_is_made_once_in_whole_pages() {
        COUNTERS[1999].fetch_add(5, Ordering::Relaxed);
        assert_eq!(COUNTERS[1999].load(Ordering::Relaxed), 12);
        let raw = crate::resolve::mapped(counters).unwrap();
        assert_eq!((raw.data.addr() % PAGE, raw.bytes), (0, 8192));
        assert_eq!(raw.data.addr(), (&raw const *COUNTERS).addr());
    }
}
