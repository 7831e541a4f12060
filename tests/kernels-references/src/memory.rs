//! Memory that the host and kernels share, and memory of the device with a handle on the host.

use check::{Check, Outcome, checks, equal, that};
use relocgpu_runtime::prelude::*;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

pub fn checks() -> Vec<Check> {
    checks![while_a_kernel_runs, mapped_values, statics, statics_in_other_code]
}

static STARTED: Mapped<AtomicU32> = host!(mapped: AtomicU32::new(0));
static GO: Mapped<[AtomicU64; 3]> = host!(mapped: [const { AtomicU64::new(0) }; 3]);
/// Written as `STARTED` is, and other memory.
static TWIN: Mapped<AtomicU32> = host!(mapped: AtomicU32::new(0));
static LEVELS: Mapped<[f32; 4]> = host!(mapped: levels());

fn levels() -> [f32; 4] {
    [0.5, 1.5, 2.5, 3.5]
}

#[gpu_kernel]
fn wait_for_the_host(mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    STARTED.store(1, Ordering::Release);
    while GO[1].load(Ordering::Acquire) == 0 {
        std::hint::spin_loop();
    }
    if let Some(out) = out.get_mut(i) {
        *out = GO[1].load(Ordering::Acquire) + GO[2].load(Ordering::Relaxed) + i.get() as u64;
    }
}

fn while_a_kernel_runs(device: &Device) -> Outcome {
    STARTED.store(0, Ordering::Relaxed);
    GO[1].store(0, Ordering::Relaxed);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while STARTED.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            GO[2].store(500, Ordering::Relaxed);
            GO[1].store(7000, Ordering::Release);
        });
        let mut out = device.zeroed::<u64>(48)?;
        wait_for_the_host::launch(device, Grid::over(48), &mut out)?;
        equal("the host's words", &out.download()?, &(7500..7548).collect::<Vec<u64>>())
    })
}

#[gpu_kernel]
fn add_levels(mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    GO[0].fetch_add(1, Ordering::Relaxed);
    if let Some(out) = out.get_mut(i) {
        *out = LEVELS[i.get() % 4] + LEVELS.len() as f32;
    }
}

fn mapped_values(device: &Device) -> Outcome {
    GO[0].store(0, Ordering::Relaxed);
    let mut out = device.zeroed::<f32>(400)?;
    add_levels::launch(device, Grid::new(4, 100), &mut out)?;
    device.synchronize()?;
    equal("levels", &out.download()?, &(0..400).map(|i| (i % 4) as f32 + 4.5).collect::<Vec<f32>>())?;
    let count = GO[0].load(Ordering::Relaxed);
    that(count == 400, format!("{count} threads counted"))?;
    that(*LEVELS == levels(), "the host's own view of a mapped value")?;
    that(!std::ptr::eq(&raw const *STARTED, &raw const *TWIN), "two mapped values are one")
}

static HISTOGRAM: DeviceStatic<[AtomicU32; 8]> = device!(static: [const { AtomicU32::new(0) }; 8]);
static ORIGIN: DeviceStatic<(f32, u8)> = device!(static: origin());

fn origin() -> (f32, u8) {
    (2.5, 9)
}

#[gpu_kernel]
fn fill(values: &[u32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(value) = values.get(i.get()) {
        HISTOGRAM[(value % 8) as usize].fetch_add(1, Ordering::Relaxed);
    }
    if let Some(out) = out.get_mut(i) {
        *out = ORIGIN.0 + f32::from(ORIGIN.1);
    }
}

fn counts(device: &Device) -> Result<Vec<u32>, relocgpu_runtime::Error> {
    Ok(HISTOGRAM.read(device)?.map(AtomicU32::into_inner).to_vec())
}

fn statics(device: &Device) -> Outcome {
    HISTOGRAM.write(device, &[const { AtomicU32::new(0) }; 8])?;
    let values: Vec<u32> = (0..1000).map(|i| i * i).collect();
    let expected: Vec<u32> = (0..8).map(|bin| values.iter().filter(|value| **value % 8 == bin).count() as u32).collect();
    let (values, mut out) = (device.upload(&values)?, device.zeroed::<f32>(1000)?);
    for round in 1..=2 {
        fill::launch(device, Grid::over(1000), &values, &mut out)?;
        equal("histogram", &counts(device)?, &expected.iter().map(|n| n * round).collect::<Vec<_>>())?;
    }
    equal("origin", &out.download()?, &[11.5; 1000])?;
    HISTOGRAM.write(device, &std::array::from_fn(|bin| AtomicU32::new(bin as u32)))?;
    equal("written", &counts(device)?, &[0, 1, 2, 3, 4, 5, 6, 7])?;
    that(HISTOGRAM.address(device)? == HISTOGRAM.address(device)?, "a static stays where it is")?;
    that(HISTOGRAM.iter().all(|bin| bin.load(Ordering::Relaxed) == 0), "the host's own value is the initial one")
}

#[gpu_kernel]
fn move_origin(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = at(&ORIGIN);
    }
}

#[inline(never)]
fn at(origin: &(f32, u8)) -> f32 {
    origin.0 * 2.0
}

fn statics_in_other_code(device: &Device) -> Outcome {
    ORIGIN.write(device, &(10.0, 1))?;
    let mut out = device.zeroed::<f32>(33)?;
    move_origin::launch(device, Grid::over(33), &mut out)?;
    equal("moved", &out.download()?, &[20.0; 33])?;
    let read = ORIGIN.read(device)?;
    ORIGIN.write(device, &origin())?;
    that(read == (10.0, 1), format!("{read:?} was read"))
}
