//! Events: time on the queue, and order between streams.

use super::driver::Driver;
use super::failure::Outcome;
use super::queue::Queue;
use crate::error::Result;
#[cfg(any(feature = "interop", test))]
use cudarc::driver::sys::CUevent_flags_enum;
use cudarc::driver::sys::{CUevent, CUstream};
use std::ptr;
use std::time::Duration;

impl Queue {
    /// Time on the queue between the commands of `work`, which have ended on return.
    pub fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Duration> {
        let start = self.run(|driver| {
            let start = Event::new(self, driver, 0)?;
            start.record(driver, self.stream).map(|()| start)
        })?;
        work()?;
        let upto = self.state().issued;
        let milliseconds = self.run(|driver| {
            let end = Event::new(self, driver, 0)?;
            end.record(driver, self.stream)?;
            let mut milliseconds = 0.0;
            // SAFETY: both are this context's events and recorded; the second has ended.
            unsafe {
                driver.cuEventSynchronize(end.raw)?;
                driver.cuEventElapsedTime(&mut milliseconds, start.raw, end.raw)?;
            }
            Ok(milliseconds)
        })?;
        self.passed(upto)?;
        Ok(Duration::from_secs_f64((f64::from(milliseconds) / 1e3).max(0.0)))
    }

    /// An event without a time.
    #[cfg(any(feature = "interop", test))]
    pub fn event(&self, driver: &Driver) -> Outcome<Event<'_>> {
        Event::new(self, driver, CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32)
    }
}

/// An event of the queue's context.
pub(super) struct Event<'a> {
    queue: &'a Queue,
    raw: CUevent,
}

impl<'a> Event<'a> {
    fn new(queue: &'a Queue, driver: &Driver, flags: u32) -> Outcome<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: callers have entered the context.
        unsafe { driver.cuEventCreate(&mut raw, flags) }?;
        Ok(Self { queue, raw })
    }

    pub fn record(&self, driver: &Driver, stream: CUstream) -> Outcome {
        // SAFETY: event and stream are of the current context.
        unsafe { driver.cuEventRecord(self.raw, stream) }
    }
}

#[cfg(any(feature = "interop", test))]
impl Event<'_> {
    pub fn raw(&self) -> CUevent {
        self.raw
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: destroyed once; the driver keeps an event until its work has ended.
        self.queue.run_or_keep(|driver| unsafe { driver.cuEventDestroy_v2(self.raw) });
    }
}
