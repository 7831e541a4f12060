//! Time and memory.

use relocgpu_runtime::Result;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;

/// Runs both in turns, prints the medians and how many times faster `ours` is.
pub fn compare(what: &str, mut ours: impl FnMut() -> Result<()>, mut by_hand: impl FnMut()) -> Result<()> {
    let (mut times, mut times_by_hand) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        ours()?;
        times.push(start.elapsed());
        let start = Instant::now();
        by_hand();
        times_by_hand.push(start.elapsed());
    }
    let (ours, by_hand) = (median(times).as_secs_f64(), median(times_by_hand).as_secs_f64());
    println!("{what}: {:.2} ms, by hand with rayon {:.2} ms, ratio {:.2}", ours * 1e3, by_hand * 1e3, by_hand / ours);
    Ok(())
}

/// Median over rounds of the time of one call, when calls follow one another.
pub fn per_call(calls: u32, mut call: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        (0..calls).try_for_each(|_| call())?;
        times.push(start.elapsed() / calls);
    }
    Ok(median(times))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The system's allocator, which knows how many bytes are in use.
pub struct Live(AtomicIsize);

impl Live {
    pub const fn new() -> Self {
        Self(AtomicIsize::new(0))
    }

    pub fn bytes(&self) -> isize {
        self.0.load(Ordering::Relaxed)
    }
}

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Live {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        self.0.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}
