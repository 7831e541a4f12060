//! Host references and device data need no build script: a crate of device helpers has none.
use relocgpu_runtime::prelude::*;

#[derive(Clone, Copy, DeviceData)]
struct Pixel(u32);

fn brightness(pixel: Pixel) -> u32 {
    pixel.0 * host!(2_u32)
}

fn main() {
    assert_eq!(brightness(Pixel(3)), 6);
}
