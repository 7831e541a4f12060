//! A fault that only the device pass sees stands at the kernel's name; the other kernel is as it was.
use relocgpu_runtime::prelude::*;

#[gpu_kernel]
fn sound(_x: &[f32]) {}

#[gpu_kernel]
fn prints(_x: &[f32]) {}

fn main() {}
