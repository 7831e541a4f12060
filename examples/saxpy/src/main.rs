//! The smallest program: `y = a * x + y` over a million elements, checked on the host.

use relocgpu_runtime::prelude::*;

/// One thread for each element.
#[gpu_kernel]
fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i.get()];
    }
}

fn main() -> relocgpu_runtime::Result<()> {
    let n = 1 << 20;
    let xs: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
    let ys: Vec<f32> = (0..n).map(|i| (i % 77) as f32 / 7.0).collect();

    let device = Device::best()?;
    let x = device.upload(&xs)?;
    let mut y = device.upload(&ys)?;
    saxpy::launch(&device, Grid::over(n), 2.5, &x, &mut y)?;
    let result = y.download()?;

    let wrong = (0..n).filter(|&i| result[i] != 2.5 * xs[i] + ys[i]).count();
    println!("saxpy on {}: {n} elements, {wrong} wrong", device.name());
    assert_eq!(wrong, 0, "the device and the host disagree");
    Ok(())
}
