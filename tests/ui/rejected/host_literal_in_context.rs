//! The thunk stands alone: it would compute a value of another type than the code around it expects.
use relocgpu_runtime::prelude::*;

fn on() -> bool {
    true
}

#[gpu_kernel]
fn masks<T: DeviceData>(_x: T, mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = host!(if on() { !0 / 2 } else { 5 });
    }
}

fn launches() -> relocgpu_runtime::Result<()> {
    let device = Device::cpu()?;
    masks::launch(&device, Grid::over(1), 1.0_f32, &mut device.zeroed(1)?)
}

fn main() {
    let _ = launches();
    let gain: f32 = host!(if on() { 1.0 } else { 2.0 });
    // As an `i32` it is 0.
    let half: u32 = host!(if on() { !0 / 2 } else { 5 });
    let shift: u32 = host!(|device| if device.limits().threads_per_block > 0 { 1 } else { 2 });
    println!("{gain} {half} {shift}");
}
