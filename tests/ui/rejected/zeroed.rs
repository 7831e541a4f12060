//! Zero is no value of every type.
use relocgpu_runtime::prelude::*;
use std::num::NonZero;

fn main() {
    let device = Device::cpu().unwrap();
    device.zeroed::<NonZero<u32>>(4).unwrap();
}
