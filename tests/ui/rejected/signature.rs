//! What a kernel's signature cannot have; each is told where it stands.
use relocgpu_runtime::prelude::*;

#[gpu_kernel]
async fn asynchronous(_x: &[f32]) {}

#[gpu_kernel]
extern "C" fn foreign(_x: &[f32]) {}

#[gpu_kernel]
fn returning(x: &[f32]) -> f32 {
    x[0]
}

#[gpu_kernel(fast)]
fn with_arguments(_x: &[f32]) {}

#[gpu_kernel(delivery = fast)]
fn with_another_delivery(_x: &[f32]) {}

#[gpu_kernel(delivery = table, delivery = bake)]
fn with_two_deliveries(_x: &[f32]) {}

#[gpu_kernel]
struct NotAFunction;

#[derive(Clone, Copy, DeviceData)]
#[device_data(path = other)]
struct Pixel(u32);

fn main() {
    // A faulty kernel adds no error where it is launched.
    let device = Device::cpu().unwrap();
    let x = device.zeroed::<f32>(1).unwrap();
    returning::launch(&device, Grid::over(1), &x).unwrap();
}
