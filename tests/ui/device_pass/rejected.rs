//! The nested compile rejected what this one takes: one error, however many kernels.
use relocgpu_runtime::prelude::*;

#[gpu_kernel]
fn one(_x: &[f32]) {}

#[gpu_kernel]
fn two(_x: &[f32]) {}

fn main() {}
