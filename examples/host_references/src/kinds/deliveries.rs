//! Where the words live: in the module, in the launch, in the code; and what becomes of a value that changes.

use crate::Shown;
use relocgpu_runtime::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

static LEVEL: AtomicU32 = AtomicU32::new(10);

fn level() -> u32 {
    LEVEL.load(Ordering::Relaxed)
}

/// The default, and what `#[gpu_kernel]` alone does.
#[gpu_kernel(delivery = patch)]
fn in_the_module(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = host!(level()) + i.get() as u32;
    }
}

#[gpu_kernel(delivery = table)]
fn in_the_launch(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = host!(level()) + i.get() as u32;
    }
}

/// A value that does not change while the program runs.
fn step() -> u32 {
    3
}

#[gpu_kernel(delivery = bake)]
fn in_the_code(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = host!(step()) * i.get() as u32;
    }
}

pub fn show(device: &Device) -> relocgpu_runtime::Result<Shown> {
    let grid = Grid::over(2);
    let mut results = Vec::new();
    let mut out = device.zeroed::<u32>(2)?;
    let mut both = |results: &mut Vec<u32>| {
        in_the_module::launch(device, grid, &mut out)?;
        results.extend(out.download()?);
        in_the_launch::launch(device, grid, &mut out)?;
        results.extend(out.download()?);
        relocgpu_runtime::Result::Ok(())
    };
    both(&mut results)?;
    LEVEL.store(20, Ordering::Relaxed);
    both(&mut results)?; // a change alone changes nothing
    device.refresh()?; // evaluates the values anew; launches from here on see them
    both(&mut results)?;
    in_the_code::launch(device, grid, &mut out)?;
    results.extend(out.download()?);
    Ok(Shown::new("deliveries", &results, &[10, 11, 10, 11, 10, 11, 10, 11, 20, 21, 20, 21, 0, 3]))
}
