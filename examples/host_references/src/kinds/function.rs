//! `host!(fn: PATH as TYPE)`: which function of the host it is. A kernel hands it back, and the host calls it.

use crate::Shown;
use relocgpu_runtime::prelude::*;

type Work = fn(u32) -> u32;

// One address each: of a function that may be inlined, each part of a program can have a copy.
#[inline(never)]
fn double(x: u32) -> u32 {
    x * 2
}

#[inline(never)]
fn square(x: u32) -> u32 {
    x * x
}

#[gpu_kernel]
fn choose(x: &[u32], mut work: DisjointSlice<FnToken<Work>>) {
    let i = thread::index_1d();
    if let Some(work) = work.get_mut(i) {
        *work = if x[i.get()] > 2 { host!(fn: square as fn(u32) -> u32) } else { host!(fn: double as fn(u32) -> u32) };
    }
}

pub fn show(device: &Device) -> relocgpu_runtime::Result<Shown> {
    let xs = [1, 2, 3, 4];
    let mut work = device.upload(&[FnToken::of(double as Work); 4])?;
    choose::launch(device, Grid::over(xs.len()), &device.upload(&xs)?, &mut work)?;
    let call = |(token, x): (&FnToken<Work>, u32)| if *token == FnToken::of(square as Work) { square(x) } else { double(x) };
    let results: Vec<u32> = work.download()?.iter().zip(xs).map(call).collect();
    Ok(Shown::new("functions", &results, &[2, 4, 9, 16]))
}
