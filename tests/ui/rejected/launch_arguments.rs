//! rustc checks number and types of a launch's arguments.
use relocgpu_runtime::prelude::*;

#[gpu_kernel]
fn scale(_x: &[f32], _y: DisjointSlice<f32>, _by: f32) {}

static TABLE: DeviceTable<f32> = host!(table: vec![1.0_f32]);

#[gpu_kernel]
fn plane(_y: DisjointSlice<f32, Plane>) {}

fn main() {
    let device = Device::cpu().unwrap();
    let x = device.zeroed::<f32>(1).unwrap();
    let other = device.zeroed::<u32>(1).unwrap();
    let mut y = device.zeroed::<f32>(1).unwrap();

    scale::launch(&device, Grid::over(1), &x, &mut y).unwrap();
    scale::launch(&device, Grid::over(1), &x, &mut y, 2).unwrap();
    scale::launch(&device, Grid::over(1), &other, &mut y, 2.0).unwrap();
    scale::launch(&device, Grid::over(1), &x, &y, 2.0).unwrap();
    scale::launch(&device, Grid::over(1), &vec![1.0_f32], &mut y, 2.0).unwrap();
    scale::launch(&device, Grid::over(1), vec![1.0_f32], &mut y, 2.0).unwrap();
    scale::launch(&device, Grid::over(1), &[1.0_f32][..], &mut y, 2.0).unwrap();
    scale::launch(&device, Grid::over(1), x, &mut y, 2.0).unwrap();
    scale::launch(&device, Grid::over(1), &TABLE, &mut y, 2.0).unwrap();
    scale::launch(&device, Grid::over(1), &x, &mut [0.0_f32][..], 2.0).unwrap();
    plane::launch(&device, Grid::over(1), &mut y).unwrap();
    scale(&x, &mut y, 2.0);
}
