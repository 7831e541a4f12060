//! A buffer that is written cannot be read by the same launch.
use relocgpu_runtime::prelude::*;

#[gpu_kernel]
fn copy(_x: &[f32], _y: DisjointSlice<f32>) {}

fn main() {
    let device = Device::cpu().unwrap();
    let mut y = device.zeroed::<f32>(1).unwrap();
    copy::launch(&device, Grid::over(1), &y, &mut y).unwrap();
}
