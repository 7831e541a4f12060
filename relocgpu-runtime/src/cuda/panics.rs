//! Where a module's kernels leave their panics: page-locked host memory that the device writes.
//!
//! Each kernel has a record of its own, so that the host knows whose panic it reads. The module has one word with the
//! address of the record in use; before a launch of another kernel than the last it is set, in queue order.

use super::driver::Driver;
use super::failure::Outcome;
use crate::contract::panic::PanicRecord;
use cudarc::driver::sys::{CUdeviceptr, CUstream};
use std::ffi::{c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// CU_MEMHOSTALLOC_DEVICEMAP.
const DEVICE_MAP: c_uint = 2;

pub(super) struct Panics {
    /// `kernels` records, then as many words: the device addresses of the records.
    host: *mut c_void,
    kernels: usize,
    /// Of the module: set once a thread has panicked.
    claim: CUdeviceptr,
    /// Of the module: address of the record in use.
    record: CUdeviceptr,
    /// Kernel whose record is in use. Read and written under the queue's lock.
    aimed: AtomicUsize,
}

impl Panics {
    /// The context is current.
    pub fn new(driver: &Driver, claim: CUdeviceptr, record: CUdeviceptr, kernels: usize) -> Outcome<Self> {
        let (mut host, mut device) = (ptr::null_mut(), 0);
        let bytes = kernels * (size_of::<PanicRecord>() + size_of::<u64>());
        // SAFETY: the memory has room for records and words; zero bytes are empty records.
        unsafe {
            driver.cuMemHostAlloc(&mut host, bytes, DEVICE_MAP)?;
            host.cast::<u8>().write_bytes(0, bytes);
            driver.cuMemHostGetDevicePointer_v2(&mut device, host, 0).inspect_err(|_| _ = driver.cuMemFreeHost(host))?;
        }
        let panics = Self { host, kernels, claim, record, aimed: AtomicUsize::new(usize::MAX) };
        for kernel in 0..kernels {
            // SAFETY: in bounds, and no command reads it yet.
            unsafe { panics.word(kernel).write(device + (kernel * size_of::<PanicRecord>()) as CUdeviceptr) };
        }
        Ok(panics)
    }

    fn record(&self, kernel: usize) -> *mut PanicRecord {
        assert!(kernel < self.kernels);
        // SAFETY: in bounds.
        unsafe { self.host.cast::<PanicRecord>().add(kernel) }
    }

    fn word(&self, kernel: usize) -> *mut u64 {
        assert!(kernel < self.kernels);
        // SAFETY: in bounds: the words follow the records, whose size is a multiple of eight.
        unsafe { self.host.cast::<PanicRecord>().add(self.kernels).cast::<u64>().add(kernel) }
    }

    /// Makes this kernel's record the one in use for the launches from now on. Under the queue's lock.
    pub fn aim(&self, driver: &Driver, stream: CUstream, kernel: usize) -> Outcome {
        if self.aimed.load(Ordering::Relaxed) != kernel {
            // SAFETY: the word is page-locked and never changes while the module lives.
            unsafe { driver.cuMemcpyHtoDAsync_v2(self.record, self.word(kernel).cast(), 8, stream) }?;
            self.aimed.store(kernel, Ordering::Relaxed);
        }
        Ok(())
    }

    fn state(&self, kernel: usize) -> &AtomicU32 {
        // SAFETY: a record's state is an aligned word, which the device and this process change atomically only.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.record(kernel)).state) }
    }

    /// Whether the kernel's record is complete.
    pub fn has(&self, kernel: usize) -> bool {
        self.state(kernel).load(Ordering::Acquire) == 1
    }

    /// The kernel's record, which is empty afterwards. Nothing writes it before the claim is reset.
    pub fn take(&self, kernel: usize) -> Option<PanicRecord> {
        if !self.has(kernel) {
            return None;
        }
        // SAFETY: complete, and the claim keeps the device from writing it again.
        let record = unsafe { self.record(kernel).read_volatile() };
        self.state(kernel).store(0, Ordering::Release);
        Some(record)
    }

    /// Lets the module take the next panic, after all commands before.
    pub fn reset_claim(&self, driver: &Driver, stream: CUstream) -> Outcome {
        // SAFETY: a word of the module.
        unsafe { driver.cuMemsetD32Async(self.claim, 0, 1, stream) }
    }

    /// Gives the memory back, when no command uses it any more.
    pub fn free(&self, driver: &Driver) -> Outcome {
        // SAFETY: allocated by `new`; the module's one `unload` calls this, after the queue has forgotten the module.
        unsafe { driver.cuMemFreeHost(self.host) }
    }
}
