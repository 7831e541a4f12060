//! A device's one queue: a stream, what has been put on it and is not known to have ended, and the first sticky error.

use super::context::{Context, lost};
use super::driver::Driver;
use super::failure::{Failure, Outcome};
use super::module::Loaded;
use super::staging::Staging;
use crate::error::{Error, Result};
use cudarc::driver::sys::{CUdeviceptr, CUstream};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

pub(super) struct Queue {
    // Dropped last: everything else lies in it.
    pub context: Context,
    pub stream: CUstream,
    pub staging: Mutex<Staging>,
    state: Mutex<State>,
    /// Why the device takes no more work.
    lost: OnceLock<String>,
}

// SAFETY: the driver's handles may be used on any thread, and it serialises calls itself.
unsafe impl Send for Queue {}
// SAFETY: as above; what is ours is behind locks.
unsafe impl Sync for Queue {}

/// What is behind the queue's lock. It is held while a launch is enqueued, never while anything is waited for.
#[derive(Default)]
pub(super) struct State {
    /// Commands issued so far, of those that somebody must see the end of.
    pub issued: u64,
    /// Kernels that may be running, each once, in the order of their first launch.
    flights: Vec<Flight>,
    /// What may be given back when the command of that number has ended, by rising numbers.
    garbage: Vec<(u64, Garbage)>,
    /// Bytes of memory in `garbage`, and freed in queue order since the queue was last waited for.
    freed: usize,
    /// An error of a call that could not return it.
    kept: Option<Error>,
}

struct Flight {
    loaded: Arc<Loaded>,
    kernel: usize,
    last: u64,
}

/// What outlives its owner until the queue has passed it.
pub(super) enum Garbage {
    Memory(CUdeviceptr),
    Module(Arc<Loaded>),
}

impl State {
    /// Notes a launch.
    pub fn launched(&mut self, loaded: &Arc<Loaded>, kernel: usize) {
        self.issued += 1;
        match self.flights.iter_mut().find(|flight| flight.kernel == kernel && Arc::ptr_eq(&flight.loaded, loaded)) {
            Some(flight) => flight.last = self.issued,
            None => self.flights.push(Flight { loaded: loaded.clone(), kernel, last: self.issued }),
        }
    }

    /// Notes memory that is freed in queue order.
    pub fn freed(&mut self, bytes: usize) {
        self.freed = self.freed.saturating_add(bytes);
    }

    /// Keeps something until the queue has passed what is on it now.
    pub fn discard(&mut self, garbage: Garbage, bytes: usize) {
        self.issued += 1;
        self.garbage.push((self.issued, garbage));
        self.freed(bytes);
    }

    /// Bytes and pieces that waiting for the queue would give back.
    pub fn reclaimable(&self) -> (usize, usize) {
        (self.freed, self.garbage.len())
    }
}

impl Queue {
    /// The queue of a context. Its stream waits for the default stream and the other way round, so that copies and
    /// frees of other crates, which use that one, keep the order in which the program makes them.
    pub fn new(context: Context) -> Outcome<Self> {
        let mut stream = ptr::null_mut();
        {
            let _current = context.enter()?;
            // SAFETY: the context is current; 0 is CU_STREAM_DEFAULT.
            unsafe { context.driver.cuStreamCreate(&mut stream, 0) }?;
        }
        Ok(Self { context, stream, staging: Mutex::default(), state: Mutex::default(), lost: OnceLock::new() })
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls the driver with the context current. First comes an error that an earlier call kept.
    pub fn run<T>(&self, work: impl FnOnce(&Driver) -> Outcome<T>) -> Result<T> {
        let kept = self.state().kept.take();
        match kept {
            Some(error) if self.lost.get().is_none() => Err(error),
            _ => self.run_after_errors(work),
        }
    }

    fn run_after_errors<T>(&self, work: impl FnOnce(&Driver) -> Outcome<T>) -> Result<T> {
        if let Some(cause) = self.lost.get() {
            return Err(lost(self.context.device(), cause));
        }
        let outcome = self.context.enter().and_then(|_current| work(&self.context.driver));
        outcome.map_err(|failure| self.error(failure))
    }

    /// As [`run`](Self::run) for callers that cannot return an error: the next call that can returns it.
    pub fn run_or_keep(&self, work: impl FnOnce(&Driver) -> Outcome) {
        if self.lost.get().is_none()
            && let Err(error) = self.run_after_errors(work)
        {
            self.state().kept.get_or_insert(error);
        }
    }

    /// The error of a failed call; a sticky one ends the device.
    fn error(&self, failure: Failure) -> Error {
        let device = self.context.device();
        if !failure.is_sticky() {
            return failure.error(&device);
        }
        let cause = if super::fork::forked() { super::fork::REMEDY.to_owned() } else { failure.sentence() + &self.suspects() };
        lost(device, self.lost.get_or_init(|| cause))
    }

    /// The kernels that may have caused a sticky error.
    fn suspects(&self) -> String {
        let state = self.state();
        let names: Vec<_> = state.flights.iter().map(|flight| format!("`{}`", flight.loaded.kernel_name(flight.kernel))).collect();
        match &names[..] {
            [] => String::new(),
            [one] => format!(" (the kernel is {one})"),
            _ => format!(" (the kernel is one of those since the device was last waited for: {})", names.join(", ")),
        }
    }

    /// Enqueues `work`, waits for it and for all commands before; returns the `Err` of a panic in one of them.
    ///
    /// An error that was kept comes last: whatever it is, nothing is in flight on return.
    pub fn finish(&self, work: impl FnOnce(&Driver) -> Outcome) -> Result<()> {
        let upto = self.state().issued;
        self.run_after_errors(|driver| {
            let outcome = work(driver);
            // SAFETY: the queue's own stream.
            match (outcome, unsafe { driver.cuStreamSynchronize(self.stream) }) {
                (Err(first), Err(second)) => Err(if second.is_sticky() && !first.is_sticky() { second } else { first }),
                (outcome, waited) => outcome.and(waited),
            }
        })?;
        self.passed(upto)
    }

    /// Tells that all commands up to that number have ended.
    pub fn passed(&self, upto: u64) -> Result<()> {
        let panic = self.run(|driver| self.take_panic(driver, upto));
        self.run_or_keep(|driver| self.collect(driver, upto));
        match panic? {
            Some(panic) => Err(panic),
            None => Ok(()),
        }
    }

    /// Waits for the queue inside another call, and gives back what only waited for that.
    pub fn reclaim(&self, driver: &Driver) -> Outcome {
        let upto = self.state().issued;
        // SAFETY: the queue's own stream; callers have entered the context.
        unsafe { driver.cuStreamSynchronize(self.stream) }?;
        self.collect(driver, upto)
    }

    /// Gives back what the queue has passed; the first failure is the result, none stops the rest.
    fn collect(&self, driver: &Driver, upto: u64) -> Outcome {
        let garbage: Vec<_> = {
            let mut state = self.state();
            state.freed = 0;
            let passed = state.garbage.partition_point(|(number, _)| *number <= upto);
            let garbage: Vec<_> = state.garbage.drain(..passed).collect();
            // Nobody looks for a panic in a module that is unloaded.
            let unloaded =
                |flight: &Flight| garbage.iter().any(|(_, it)| matches!(it, Garbage::Module(m) if Arc::ptr_eq(m, &flight.loaded)));
            state.flights.retain(|flight| !unloaded(flight));
            garbage
        };
        let mut outcome = Ok(());
        for (_, garbage) in garbage {
            outcome = outcome.and(match garbage {
                // SAFETY: allocated by `allocate`, freed once, and no command uses it any more.
                Garbage::Memory(at) => unsafe { driver.cuMemFree_v2(at) },
                Garbage::Module(loaded) => loaded.unload(driver),
            });
        }
        outcome
    }

    /// The panic of the first kernel that left one. Its module takes the next one afterwards, in queue order.
    fn take_panic(&self, driver: &Driver, upto: u64) -> Outcome<Option<Error>> {
        let State { flights, garbage, .. } = &mut *self.state();
        // A module that waits for its end gets no more commands.
        let ends = |loaded: &Arc<Loaded>| garbage.iter().any(|(_, it)| matches!(it, Garbage::Module(m) if Arc::ptr_eq(m, loaded)));
        let mut panic = None;
        let mut outcome = Ok(());
        flights.retain(|flight| {
            if panic.is_none()
                && let Some(error) = flight.loaded.take_panic(flight.kernel)
            {
                panic = Some(error);
                outcome = if ends(&flight.loaded) { Ok(()) } else { flight.loaded.reset_claim(driver, self.stream) };
            }
            flight.last > upto || flight.loaded.has_panicked(flight.kernel)
        });
        outcome.map(|()| panic)
    }

    /// Whether calls of the driver still make sense.
    pub fn is_usable(&self) -> bool {
        self.lost.get().is_none() && !super::fork::forked()
    }
}

impl Drop for Queue {
    /// Waits for the queue and gives everything back; leaks it if the device is lost.
    fn drop(&mut self) {
        if !self.is_usable() {
            return;
        }
        let Ok(_current) = self.context.enter() else { return };
        let driver = &*self.context.driver;
        if self.reclaim(driver).is_ok() {
            self.staging.get_mut().unwrap_or_else(PoisonError::into_inner).free(driver);
        }
        // SAFETY: the queue's own stream, used no more. A failure leaves nothing to do.
        let _ = unsafe { driver.cuStreamDestroy_v2(self.stream) };
    }
}
