//! The nested compile and this one reject the same: only this one's error is shown.
use relocgpu_runtime::prelude::*;

#[gpu_kernel]
fn one(_x: &[f32]) {}

fn main() {
    let _: u32 = "text";
}
