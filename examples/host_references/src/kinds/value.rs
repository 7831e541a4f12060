//! `host!(expression)`: the value of a host expression.

use crate::Shown;
use relocgpu_runtime::prelude::*;

/// A run-time setting.
fn gain() -> f32 {
    std::env::var("GAIN").ok().and_then(|text| text.parse().ok()).unwrap_or(2.0)
}

/// What the program was told to count up to.
fn limit() -> u64 {
    1_000_000_007
}

#[gpu_kernel]
fn scale(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[i.get()] * host!(gain()) + (host!(limit()) % 10) as f32;
    }
}

pub fn show(device: &Device) -> relocgpu_runtime::Result<Shown> {
    let xs = [0.0, 1.0, 2.0, 3.0];
    let x = device.upload(&xs)?;
    let mut y = device.zeroed::<f32>(xs.len())?;
    scale::launch(device, Grid::over(xs.len()), &x, &mut y)?;
    Ok(Shown::new("values", &y.download()?, &xs.map(|x| x * gain() + 7.0)))
}
