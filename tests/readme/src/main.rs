//! The program of the README, word for word.

#[cfg(test)]
mod tour;

use relocgpu_runtime::prelude::*;

/// Made on the host when the program starts, and copied to each device before its first launch.
static CURVE: DeviceTable<f32> = host!(table: tone_curve());

fn tone_curve() -> Vec<f32> {
    (0..256).map(|i| (i as f32 / 255.0).powf(0.45)).collect()
}

fn gain() -> f32 {
    std::env::var("GAIN").ok().and_then(|s| s.parse().ok()).unwrap_or(2.0)
}

#[gpu_kernel]
fn develop(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = host!(gain()) * CURVE[(x[i.get()] * 255.0) as usize]; // host!: a relocatable host reference
    }
}

fn main() -> relocgpu_runtime::Result<()> {
    relocgpu_runtime::init()?; // resolves every host reference now, and reports all failures at once
    let device = Device::best()?; // CUDA if there is a driver and a GPU that fit, else the CPU
    let xs: Vec<f32> = (0..1000).map(|i| i as f32 / 999.0).collect();
    let x = device.upload(&xs)?;
    let mut y = device.zeroed::<f32>(xs.len())?;
    develop::launch(&device, Grid::over(xs.len()), &x, &mut y)?; // argument count and types are checked by rustc
    let ys = y.download()?;
    println!("on {}: {} becomes {}", device.name(), xs[500], ys[500]);
    Ok(())
}
