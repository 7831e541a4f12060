//! Copies from the host through page-locked memory.
//!
//! The driver does not promise that ordinary memory has been read when an asynchronous copy from it returns. So the
//! bytes go into page-locked chunks, used in turn: the host fills one while the device reads another.

use super::driver::Driver;
use super::failure::Outcome;
use crate::backend::Bytes;
use cudarc::driver::sys::{CUdeviceptr, CUevent, CUevent_flags_enum, CUstream};
use std::ffi::c_void;
use std::ptr;

const CHUNKS: usize = 4;
const CHUNK_BYTES: usize = 1 << 20;

#[derive(Default)]
pub(super) struct Staging {
    /// Empty until the first copy.
    chunks: Vec<Chunk>,
    /// Number of the chunk in use, and how much of it is filled.
    current: usize,
    filled: usize,
}

// SAFETY: the memory is the driver's and the handles may be used on any thread.
unsafe impl Send for Staging {}

struct Chunk {
    host: *mut c_void,
    /// Recorded after the last copy from the chunk.
    done: CUevent,
}

impl Staging {
    /// Enqueues a copy; `bytes` has been read on return. The context is current.
    pub fn write(&mut self, driver: &Driver, stream: CUstream, at: CUdeviceptr, bytes: &Bytes) -> Outcome {
        if self.chunks.is_empty() {
            self.allocate(driver)?;
        }
        let mut rest = bytes;
        let mut at = at;
        while !rest.is_empty() {
            if self.filled == CHUNK_BYTES {
                self.next(driver, stream)?;
            }
            let (part, after) = rest.split_at(rest.len().min(CHUNK_BYTES - self.filled));
            // SAFETY: the chunk has room for the part, and no copy in flight reads there: what `next` waited for.
            unsafe {
                let host = self.chunks[self.current].host.byte_add(self.filled);
                ptr::copy_nonoverlapping(part.as_ptr(), host.cast(), part.len());
                driver.cuMemcpyHtoDAsync_v2(at, host, part.len(), stream)?;
            }
            self.filled = (self.filled + part.len()).next_multiple_of(16).min(CHUNK_BYTES);
            at += part.len() as CUdeviceptr;
            rest = after;
        }
        Ok(())
    }

    /// Goes on to the next chunk once the device has read it.
    fn next(&mut self, driver: &Driver, stream: CUstream) -> Outcome {
        let next = (self.current + 1) % CHUNKS;
        // SAFETY: the events are this context's; one that was never recorded counts as ended.
        unsafe {
            driver.cuEventRecord(self.chunks[self.current].done, stream)?;
            driver.cuEventSynchronize(self.chunks[next].done)?;
        }
        (self.current, self.filled) = (next, 0);
        Ok(())
    }

    fn allocate(&mut self, driver: &Driver) -> Outcome {
        for _ in 0..CHUNKS {
            let mut chunk = Chunk { host: ptr::null_mut(), done: ptr::null_mut() };
            // SAFETY: each writes one handle.
            let outcome = unsafe {
                driver.cuMemHostAlloc(&mut chunk.host, CHUNK_BYTES, 0).and_then(|()| {
                    let event = driver.cuEventCreate(&mut chunk.done, CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32);
                    event.inspect_err(|_| _ = driver.cuMemFreeHost(chunk.host))
                })
            };
            if let Err(failure) = outcome {
                self.free(driver);
                return Err(failure);
            }
            self.chunks.push(chunk);
        }
        Ok(())
    }

    /// Gives everything back, when no copy is in flight.
    pub fn free(&mut self, driver: &Driver) {
        for chunk in self.chunks.drain(..) {
            // SAFETY: made by `allocate` and used no more. A failure leaves nothing to do.
            unsafe {
                let _ = driver.cuEventDestroy_v2(chunk.done);
                let _ = driver.cuMemFreeHost(chunk.host);
            }
        }
        (self.current, self.filled) = (0, 0);
    }
}
