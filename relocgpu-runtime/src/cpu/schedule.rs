//! Who runs a launch's blocks: the caller, or rayon's threads too once there is enough to do.

use super::worker::{self, Job};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::error::Error;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Work left from which other threads are worth waking: that takes some 15 us.
const SHARE_FROM: Duration = Duration::from_micros(40);
/// Work of one task: large against the cost of a task, small against a launch worth sharing.
const TASK: Duration = Duration::from_micros(10);

/// Runs all `blocks` of a job.
pub(super) fn run(job: &Job, blocks: u64) {
    // A launch of one block is over before a clock could tell.
    worker::run(job, 0..1);
    let start = Instant::now();
    let mut done = 1;
    let mut step = 1;
    while done < blocks && !job.is_stopped() {
        let end = blocks.min(done + step);
        worker::run(job, done..end);
        done = end;
        // The first block is left out: it pays for cold caches.
        let each = start.elapsed().as_secs_f64() / (done - 1) as f64;
        let left = each * (blocks - done) as f64;
        if left > SHARE_FROM.as_secs_f64() && threads() > 1 {
            let task = ((TASK.as_secs_f64() / each.max(1e-9)) as u64).clamp(1, blocks - done);
            return share(job, done, blocks, task);
        }
        step *= 2;
    }
}

/// The process that opened the device.
pub(super) fn process() -> u32 {
    static OPENED_BY: OnceLock<u32> = OnceLock::new();
    *OPENED_BY.get_or_init(std::process::id)
}

/// Threads that a launch made here can share its blocks with, this one included.
fn threads() -> usize {
    static HAS_POOL: OnceLock<bool> = OnceLock::new();
    // A fork has no threads but its own: whoever waits for others there waits for ever.
    if process() != std::process::id() {
        return 1;
    }
    // Left to itself rayon panics where the system gives it no threads. A pool that is there already has no source.
    let start = || rayon::ThreadPoolBuilder::new().build_global().map_or_else(|error| error.source().is_none(), |()| true);
    if rayon::current_thread_index().is_some() || *HAS_POOL.get_or_init(start) { rayon::current_num_threads() } else { 1 }
}

/// Runs the blocks from `first` to `end` in tasks of so many blocks, on all threads.
fn share(job: &Job, first: u64, end: u64, task: u64) {
    (0..(end - first).div_ceil(task)).into_par_iter().for_each(|number| {
        let start = first + number * task;
        if !job.is_stopped() {
            worker::run(job, start..end.min(start + task));
        }
    });
}
