//! The CUDA device, through the driver alone.
//!
//! | file | what |
//! |---|---|
//! | `driver` | the library, found and checked; its functions |
//! | `failure` | its results, which of them end a device, what to do about them |
//! | `fork` | a child process of one that has opened a device |
//! | `context` | a device's primary context, made current for one call at a time |
//! | `queue` | the stream, what is in flight, the first sticky error |
//! | `event` | time on the queue, order between streams |
//! | `memory`, `staging` | allocation, frees, copies |
//! | `ptx`, `jit` | the choice of an entry, its compilation |
//! | `foreign` | streams and memory that the program made through another crate |
//! | `module`, `panics` | delivery, look-up, launch; panic records |
//!
//! Handles of the driver do not leave this folder.

mod context;
mod driver;
mod event;
mod failure;
#[cfg(any(feature = "interop", test))]
pub(crate) mod foreign;
mod fork;
mod jit;
mod memory;
mod module;
mod panics;
mod ptx;
mod queue;
mod staging;
#[cfg(test)]
mod tests;

use crate::backend::{Backend, Bytes, DeviceKind, DevicePtr, Limits, Missing, Module, Words};
use crate::error::Result;
use crate::image::Image;
use context::Context;
use driver::Driver;
use queue::Queue;
use std::sync::Arc;
use std::time::Duration;

/// The CUDA device of this ordinal.
pub(crate) fn open(ordinal: usize) -> Result<Box<dyn Backend>, Missing> {
    Ok(Box::new(Cuda::new(Driver::get()?, ordinal)?))
}

/// One GPU.
pub(crate) struct Cuda {
    queue: Arc<Queue>,
}

impl Cuda {
    fn new(driver: Arc<Driver>, ordinal: usize) -> Result<Self, Missing> {
        let context = Context::retain(driver, ordinal)?;
        let device = context.device();
        let queue = Queue::new(context).map_err(|failure| Missing::Broken(failure.error(&device)))?;
        Ok(Self { queue: Arc::new(queue) })
    }
}

impl Backend for Cuda {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cuda(self.queue.context.ordinal)
    }

    fn name(&self) -> String {
        self.queue.context.name.clone()
    }

    fn limits(&self) -> Limits {
        self.queue.context.limits
    }

    fn fits(&self, image: &Image) -> std::result::Result<(), String> {
        ptx::fits(&self.queue.context, image)
    }

    fn allocate(&self, bytes: usize) -> Result<DevicePtr> {
        self.queue.allocate(bytes)
    }

    fn free(&self, at: DevicePtr, bytes: usize) {
        self.queue.free(at, bytes);
    }

    fn write(&self, at: DevicePtr, bytes: &Bytes) -> Result<()> {
        self.queue.write(at, bytes)
    }

    fn read(&self, at: DevicePtr, into: &mut Bytes) -> Result<()> {
        self.queue.read(at, into)
    }

    fn copy(&self, to: DevicePtr, from: DevicePtr, bytes: usize) -> Result<()> {
        self.queue.copy(to, from, bytes)
    }

    fn zero(&self, at: DevicePtr, bytes: usize) -> Result<()> {
        self.queue.zero(at, bytes)
    }

    fn load(&self, image: &'static Image, words: &Words) -> Result<Box<dyn Module>> {
        module::load(&self.queue, image, words)
    }

    fn map(&self, host: *mut u8, bytes: usize) -> Result<DevicePtr> {
        self.queue.map(host, bytes)
    }

    fn host_native_atomics(&self) -> bool {
        self.queue.context.host_native_atomics
    }

    fn synchronize(&self) -> Result<()> {
        self.queue.finish(|_| Ok(()))
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Duration> {
        self.queue.time(work)
    }

    #[cfg(feature = "interop")]
    fn cuda(&self) -> Option<&Self> {
        Some(self)
    }
}
