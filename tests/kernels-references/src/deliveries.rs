//! The three deliveries: the same results, and what changes when the host's values do.

use check::{Check, Outcome, checks, equal};
use relocgpu_runtime::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

pub fn checks() -> Vec<Check> {
    checks![equal_results, refreshed, recursive, many_words]
}

static GAIN: AtomicU32 = AtomicU32::new(3);

fn gain() -> u32 {
    GAIN.load(Ordering::Relaxed)
}

static CURVE: DeviceTable<u32> = host!(table: (0..10).map(|i| i * i).collect::<Vec<u32>>());

#[inline(never)]
fn value(i: usize) -> u32 {
    host!(gain()) * i as u32 + u32::from(host!('x') == 'x')
}

#[gpu_kernel(delivery = patch)]
fn patched(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get()) + CURVE[i.get() % CURVE.len()];
    }
}

#[gpu_kernel(delivery = table)]
fn from_table(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get()) + CURVE[i.get() % CURVE.len()];
    }
}

#[gpu_kernel(delivery = bake)]
fn baked(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get()) + (i.get() % 10 * (i.get() % 10)) as u32;
    }
}

fn run(device: &Device, launch: impl Fn(&mut Buffer<u32>) -> relocgpu_runtime::Result<()>) -> relocgpu_runtime::Result<Vec<u32>> {
    let mut out = device.zeroed::<u32>(333)?;
    launch(&mut out)?;
    out.download()
}

fn expected(gain: u32) -> Vec<u32> {
    (0..333).map(|i| gain * i + 1 + (i % 10) * (i % 10)).collect()
}

fn equal_results(device: &Device) -> Outcome {
    GAIN.store(3, Ordering::Relaxed);
    device.refresh()?;
    let grid = Grid::over(333);
    equal("patch", &run(device, |out| patched::launch(device, grid, out))?, &expected(3))?;
    equal("table", &run(device, |out| from_table::launch(device, grid, out))?, &expected(3))?;
    equal("bake", &run(device, |out| baked::launch(device, grid, out))?, &expected(3))
}

/// Nothing changes before `refresh`, everything after it.
fn refreshed(device: &Device) -> Outcome {
    let grid = Grid::over(333);
    equal_results(device)?;
    for gain in [7, 11] {
        let before = if gain == 7 { 3 } else { 7 };
        GAIN.store(gain, Ordering::Relaxed);
        equal("patch, before", &run(device, |out| patched::launch(device, grid, out))?, &expected(before))?;
        equal("table, before", &run(device, |out| from_table::launch(device, grid, out))?, &expected(before))?;
        device.refresh()?;
        equal("patch, after", &run(device, |out| patched::launch(device, grid, out))?, &expected(gain))?;
        equal("table, after", &run(device, |out| from_table::launch(device, grid, out))?, &expected(gain))?;
    }
    GAIN.store(3, Ordering::Relaxed);
    Ok(device.refresh()?)
}

#[inline(never)]
fn steps(n: u32) -> u32 {
    if n <= host!(gain()) { n } else { steps(n / 2).wrapping_mul(5) ^ steps(n - host!(gain())) }
}

#[gpu_kernel(delivery = table)]
fn recursive_table(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = steps(i.get() as u32);
    }
}

fn recursive(device: &Device) -> Outcome {
    fn steps(n: u32) -> u32 {
        if n <= 3 { n } else { steps(n / 2).wrapping_mul(5) ^ steps(n - 3) }
    }
    let mut out = device.zeroed::<u32>(60)?;
    recursive_table::launch(device, Grid::new(3, 20), &mut out)?;
    equal("recursive", &out.download()?, &(0..60).map(steps).collect::<Vec<_>>())
}

fn word(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Five hundred words do not fit behind the parameters with an array of 4000 bytes.
macro_rules! sum {
    ($($n:literal)*) => { 0u64 $(.wrapping_add(host!(word($n)).rotate_left($n)))* };
}

#[gpu_kernel(delivery = table)]
fn read_many(pad: [u64; 500], mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = sum!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20).wrapping_add(pad[i.get() % 500]);
    }
}

fn many_words(device: &Device) -> Outcome {
    let sum = (1..=20u32).fold(0u64, |sum, n| sum.wrapping_add(word(n.into()).rotate_left(n)));
    let mut out = device.zeroed::<u64>(700)?;
    read_many::launch(device, Grid::over(700), std::array::from_fn(|i| i as u64), &mut out)?;
    equal("many words", &out.download()?, &(0..700).map(|i| sum.wrapping_add(i % 500)).collect::<Vec<u64>>())
}
