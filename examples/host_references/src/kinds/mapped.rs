//! `host!(mapped: expression)`: memory of the host that kernels see while they run.

use crate::Shown;
use relocgpu_runtime::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

static STARTED: Mapped<AtomicU32> = host!(mapped: AtomicU32::new(0));
static ANSWER: Mapped<AtomicU32> = host!(mapped: AtomicU32::new(0));

/// Says that it has started, and waits for what the host says to that.
#[gpu_kernel]
fn ask(mut out: DisjointSlice<u32>) {
    STARTED.store(1, Ordering::Release);
    while ANSWER.load(Ordering::Acquire) == 0 {
        std::hint::spin_loop();
    }
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = ANSWER.load(Ordering::Acquire) + i.get() as u32;
    }
}

pub fn show(device: &Device) -> relocgpu_runtime::Result<Shown> {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while STARTED.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            ANSWER.store(40, Ordering::Release);
        });
        let mut out = device.zeroed::<u32>(4)?;
        let launched = ask::launch(device, Grid::over(4), &mut out);
        STARTED.store(1, Ordering::Release); // so that the other thread ends if the launch failed
        launched?;
        Ok(Shown::new("mapped", &out.download()?, &[40, 41, 42, 43]))
    })
}
