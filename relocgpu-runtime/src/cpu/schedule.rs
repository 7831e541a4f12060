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

/// Threads that a launch made here can share its blocks with, this one included.
fn threads() -> usize {
    /// The process in which rayon's own threads run, if they could be started.
    static STARTED: OnceLock<Option<u32>> = OnceLock::new();
    let here = std::process::id();
    let start = || {
        // Left to itself rayon panics where the system gives it no threads. A pool that is there has no source.
        let refused = rayon::ThreadPoolBuilder::new().build_global().is_err_and(|error| error.source().is_some());
        (!refused).then_some(here)
    };
    // A fork has no threads but its own: whoever waits for others there waits for ever.
    let shared = *STARTED.get_or_init(start) == Some(here);
    if shared || rayon::current_thread_index().is_some() { rayon::current_num_threads() } else { 1 }
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
