//! Types that no parameter of a kernel can have.
use relocgpu_runtime::prelude::*;

#[derive(Clone, Copy, DeviceData)]
struct Pixel(u32);

#[gpu_kernel]
fn writes(_x: &mut [f32]) {}

#[gpu_kernel]
fn all_at_once(
    one: &mut f32,
    value: &Pixel,
    text: &str,
    array: &[f32; 4],
    forever: &'static [f32],
    function: fn(f32) -> f32,
    anything: impl Copy,
    object: &dyn Fn(f32) -> f32,
    inner: &[&f32],
    pair: (u32, &f32),
    borrowed: DisjointSlice<std::slice::Iter<'_, f32>>,
) {
}

fn main() {
    let device = Device::cpu().unwrap();
    let mut x = device.zeroed::<f32>(1).unwrap();
    writes::launch(&device, Grid::over(1), &mut x).unwrap();
}
