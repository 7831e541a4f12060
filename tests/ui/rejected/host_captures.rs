//! `host!` and `device!` are evaluated outside the kernel: they see neither its locals nor, but
//! for `host!(expr)`, its generic parameters.
use relocgpu_runtime::prelude::*;

fn gain() -> f32 {
    2.0
}

#[gpu_kernel]
fn parameter(_x: &[f32], n: u32) {
    let _ = host!(n + 1);
}

#[gpu_kernel]
fn local(mut y: DisjointSlice<f32>) {
    // Not a capture: the name means the function until the end of the statement.
    let gain = host!(gain());
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = host!(gain * 2.0);
    }
}

#[gpu_kernel]
fn generic<T: DeviceData, const N: usize>(_x: &[T]) {
    let _ = host!(|device| device.limits().threads_per_block as usize * size_of::<T>());
    // In the kernel's own body a value may depend on the instance.
    let _ = host!(size_of::<T>() + N);
    let _ = device!(shared: [T; N]);
}

fn main() {
    let device = Device::cpu().unwrap();
    parameter::launch(&device, Grid::over(1), &device.zeroed::<f32>(1).unwrap(), 3).unwrap();
    let _ = gain();
}
