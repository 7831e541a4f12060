//! The kernels that are measured, beside those of the photo example.

use relocgpu_runtime::prelude::*;

/// The smallest work there is.
#[gpu_kernel]
pub fn scale(by: f32, mut x: DisjointSlice<f32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x *= by;
    }
}

/// As in the saxpy example.
#[gpu_kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i.get()];
    }
}

/// Steps until a point of the plane escapes.
#[gpu_kernel]
pub fn mandelbrot(width: u32, mut steps: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(steps) = steps.get_mut(i) {
        *steps = escape((i.get() % width as usize) as f32, (i.get() / width as usize) as f32, width as f32);
    }
}

/// The loop that both sides run for a pixel.
#[inline(always)]
pub fn escape(column: f32, row: f32, width: f32) -> u32 {
    let (re, im) = (column * 3.2 / width - 2.2, 1.2 - row * 3.2 / width);
    let (mut x, mut y) = (0.0f32, 0.0f32);
    let mut steps = 0;
    while steps < 256 && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + re, 2.0 * x * y + im);
        steps += 1;
    }
    steps
}
