//! Types for which `#[derive(DeviceData)]` cannot speak.
use relocgpu_runtime::prelude::*;

#[derive(Clone, Copy, DeviceData)]
struct Borrows {
    gain: f32,
    samples: &'static [f32],
}

#[derive(Clone, Copy, DeviceData)]
struct Calls(u32, fn(f32) -> f32);

#[derive(DeviceData)]
struct Owns {
    values: Box<f32>,
}

#[derive(Clone, Copy, DeviceData)]
union Either {
    a: u32,
    b: f32,
}

#[derive(Clone, Copy, DeviceData)]
#[repr(u8)]
enum Shape {
    Point,
    Circle(f32),
}

#[derive(Clone, Copy, DeviceData)]
enum NoRepr {
    A,
    B,
}

#[derive(Clone, Copy, DeviceData)]
enum NoValue {}

fn main() {}
