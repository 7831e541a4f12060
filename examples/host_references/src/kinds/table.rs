//! `host!(table: expression)`: constant elements, made on the host and copied to each device.

use crate::Shown;
use relocgpu_runtime::prelude::*;

static WEIGHTS: DeviceTable<f32> = host!(table: weights());

/// A program could as well read them from a file.
fn weights() -> Vec<f32> {
    (0..8).map(|i| 1.0 / (i + 1) as f32).collect()
}

#[gpu_kernel]
fn weigh(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[i.get()] * WEIGHTS[i.get() % WEIGHTS.len()];
    }
}

pub fn show(device: &Device) -> relocgpu_runtime::Result<Shown> {
    let xs: Vec<f32> = (0..10).map(|i| i as f32).collect();
    let mut y = device.zeroed::<f32>(xs.len())?;
    weigh::launch(device, Grid::over(xs.len()), &device.upload(&xs)?, &mut y)?;
    // On the host a table is a slice too.
    let expected: Vec<f32> = xs.iter().zip(WEIGHTS.iter().cycle()).map(|(x, weight)| x * weight).collect();
    Ok(Shown::new("table", &y.download()?, &expected))
}
