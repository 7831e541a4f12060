//! The thunk stands alone: it would compute an `f64` where the code around it expects an `f32`.
use relocgpu_runtime::prelude::*;

fn on() -> bool {
    true
}

fn main() {
    let gain: f32 = host!(if on() { 1.0 } else { 2.0 });
    println!("{gain}");
}
