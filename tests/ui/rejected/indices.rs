//! Indices that are not the thread's own, and indices taken for numbers.
use relocgpu_runtime::prelude::*;

fn linear(mut y: DisjointSlice<f32>, n: usize) {
    y[n] = 1.0;
    let i = thread::index_1d();
    y[i] += 1.0;
    y.get_mut(n);
    y.get_mut(n + 1);
    y.get(0);
    y.get_mut(thread::index_2d());
    y.get_mut(i + 1);
    if i < n {}
    if i == 3 {}
}

fn plane(mut y: DisjointSlice<f32, Plane>, x: &[f32]) {
    y.get_mut((1, 2));
    let i = thread::index_2d();
    let _ = x[i.x() + i * 4];
}

fn main() {
    let _ = (linear, plane);
}
