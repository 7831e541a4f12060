//! Memory that the threads of a block share.

use crate::data::DeviceData;
use std::sync::atomic::{AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize};

/// `N` elements that all threads of a block see, from `device!(shared: [T; N])`. Each block has its own; what they hold
/// when the block starts is arbitrary.
///
/// ```ignore
/// let tile = device!(shared: [f32; 256]);
/// // SAFETY: each thread writes its own element, and a barrier stands between writes and reads.
/// unsafe { tile.set(t, x[i]) };
/// block::sync();
/// let left = unsafe { tile.get((t + 255) % 256) };
/// ```
pub struct SharedArray<T, const N: usize> {
    memory: *mut T,
}

impl<T, const N: usize> Clone for SharedArray<T, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const N: usize> Copy for SharedArray<T, N> {}

// SAFETY: safe functions reach elements through atomics only; the others leave races to the caller.
unsafe impl<T: Send + Sync, const N: usize> Sync for SharedArray<T, N> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync, const N: usize> Send for SharedArray<T, N> {}

impl<T, const N: usize> SharedArray<T, N> {
    /// Number of elements.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        N
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        N == 0
    }

    /// Address of the first element.
    #[inline(always)]
    pub const fn as_mut_ptr(&self) -> *mut T {
        self.memory
    }

    #[inline(always)]
    #[track_caller]
    fn at_ptr(&self, index: usize) -> *mut T {
        if index >= N {
            // As slices say it.
            let none: &[(); N] = &[(); N];
            let _bounds = &none[index];
        }
        #[cfg(not(relocgpu_device))]
        panic!("shared memory exists in kernels only; launch on `Device::cpu()`");
        // SAFETY: below `N`.
        #[cfg(relocgpu_device)]
        unsafe {
            self.memory.add(index)
        }
    }
}

impl<T: Copy, const N: usize> SharedArray<T, N> {
    /// Reads an element.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    ///
    /// # Safety
    /// A thread of this block has written the element since the block started, and no other thread writes it at the
    /// same time: a barrier stands between.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn get(&self, index: usize) -> T {
        // SAFETY: in bounds; the rest is the caller's promise.
        unsafe { *self.at_ptr(index) }
    }

    /// Writes an element.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    ///
    /// # Safety
    /// No other thread reads or writes the element at the same time: a barrier stands between.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn set(&self, index: usize, value: T) {
        // SAFETY: in bounds; the rest is the caller's promise.
        unsafe { *self.at_ptr(index) = value }
    }
}

/// Atomics of which every bit pattern is a value.
///
/// # Safety
/// Every bit pattern is a value, and shared references allow reads and writes without races.
pub unsafe trait SharedAtomic: DeviceData {}

macro_rules! shared_atomics {
    ($($ty:ty)*) => {$(
        // SAFETY: an atomic integer.
        unsafe impl SharedAtomic for $ty {}
    )*};
}

shared_atomics!(AtomicU8 AtomicU16 AtomicU32 AtomicU64 AtomicUsize AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize);

impl<T: SharedAtomic, const N: usize> SharedArray<T, N> {
    /// An atomic element. Store to it before you read it: what it holds when the block starts is arbitrary.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, index: usize) -> &T {
        // SAFETY: in bounds; shared memory holds arbitrary bits when a block starts, and any bits are a value.
        unsafe { &*self.at_ptr(index) }
    }
}

/// What `device!(shared: [T; N])` becomes.
///
/// # Safety
/// `memory` is block-shared memory for this array alone, or, in host code, any address.
#[inline(always)]
pub const unsafe fn shared<T: DeviceData, const N: usize>(memory: *mut [T; N]) -> SharedArray<T, N> {
    SharedArray { memory: memory.cast() }
}
