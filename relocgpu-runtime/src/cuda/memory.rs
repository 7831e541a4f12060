//! Device memory, in queue order.

use super::failure::{ALREADY_REGISTERED, OUT_OF_MEMORY, Outcome};
use super::queue::{Garbage, Queue};
use crate::backend::{Bytes, DevicePtr};
use crate::error::{Error, Result};
use std::sync::PoisonError;

/// Without pools, freed memory waits for the queue: beyond so much of it, the next allocation waits as well.
const WAITING_BYTES: usize = 256 << 20;
const WAITING_PIECES: usize = 1024;

impl Queue {
    /// Uninitialised memory, aligned to 256 bytes as the driver promises.
    pub fn allocate(&self, bytes: usize) -> Result<DevicePtr> {
        let memory = self.run(|driver| {
            let (freed, pieces) = self.state().reclaimable();
            if pieces > WAITING_PIECES || (pieces > 0 && freed > WAITING_BYTES) {
                self.reclaim(driver)?;
            }
            match self.allocate_now(bytes) {
                // Memory that is only waiting for the queue may be enough.
                Err(failure) if failure.code == OUT_OF_MEMORY && self.state().reclaimable() != (0, 0) => {
                    self.reclaim(driver)?;
                    self.allocate_now(bytes)
                }
                other => other,
            }
            .map(Some)
            .or_else(|failure| if failure.code == OUT_OF_MEMORY { Ok(None) } else { Err(failure) })
        })?;
        memory.ok_or_else(|| Error::OutOfMemory { device: self.context.device(), bytes: bytes as u64 })
    }

    fn allocate_now(&self, bytes: usize) -> Outcome<DevicePtr> {
        let driver = &*self.context.driver;
        let mut at = 0;
        // SAFETY: the context is current; both write one address.
        unsafe {
            if self.context.pools { driver.cuMemAllocAsync(&mut at, bytes, self.stream) } else { driver.cuMemAlloc_v2(&mut at, bytes) }
        }?;
        Ok(at)
    }

    /// Frees after all commands before. On a lost device the memory is gone already.
    pub fn free(&self, at: DevicePtr, bytes: usize) {
        if !self.is_usable() {
            return;
        }
        if !self.context.pools {
            return self.state().discard(Garbage::Memory(at), bytes);
        }
        self.state().freed(bytes);
        // SAFETY: allocated by `cuMemAllocAsync`, freed once; the queue's order keeps it until its last use has ended.
        self.run_or_keep(|driver| unsafe { driver.cuMemFreeAsync(at, self.stream) });
    }

    /// Page-locks host memory for all devices, the first time, and returns its address on this one.
    pub fn map(&self, host: *mut u8, bytes: usize) -> Result<DevicePtr> {
        /// `CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP`.
        const FLAGS: u32 = 1 | 2;
        let mut at = 0;
        self.run(|driver| {
            // SAFETY: whole pages of the process, which stay for its life.
            match unsafe { driver.cuMemHostRegister_v2(host.cast(), bytes, FLAGS) } {
                Err(failure) if failure.code != ALREADY_REGISTERED => return Err(failure),
                _ => {}
            }
            // SAFETY: registered now. Writes one address.
            unsafe { driver.cuMemHostGetDevicePointer_v2(&mut at, host.cast(), 0) }
        })?;
        Ok(at)
    }

    pub fn write(&self, at: DevicePtr, bytes: &Bytes) -> Result<()> {
        self.run(|driver| {
            let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
            staging.write(driver, self.stream, at, bytes)
        })
    }

    pub fn read(&self, at: DevicePtr, into: &mut Bytes) -> Result<()> {
        // SAFETY: the memory holds so many bytes. The copy may go on after the call, but not after `finish`.
        self.finish(|driver| unsafe { driver.cuMemcpyDtoHAsync_v2(into.as_mut_ptr().cast(), at, into.len(), self.stream) })
    }

    pub fn copy(&self, to: DevicePtr, from: DevicePtr, bytes: usize) -> Result<()> {
        // SAFETY: both hold so many bytes, and the queue's order keeps them until the copy has ended.
        self.run(|driver| unsafe { driver.cuMemcpyDtoDAsync_v2(to, from, bytes, self.stream) })
    }

    pub fn zero(&self, at: DevicePtr, bytes: usize) -> Result<()> {
        // SAFETY: the memory holds so many bytes.
        self.run(|driver| unsafe { driver.cuMemsetD8Async(at, 0, bytes, self.stream) })
    }
}
