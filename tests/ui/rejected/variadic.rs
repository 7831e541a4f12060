//! A kernel with a variable number of parameters.
use relocgpu_runtime::prelude::*;

#[gpu_kernel]
unsafe fn variadic(_x: &[f32], _rest: ...) {}

fn main() {}
