//! The thunk stands alone: it would make a table of `f64`.
use relocgpu_runtime::prelude::*;

static CURVE: DeviceTable<f32> = host!(table: vec![0.0, 1.0]);

fn main() {
    println!("{}", CURVE.len());
}
