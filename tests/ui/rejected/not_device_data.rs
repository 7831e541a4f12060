//! Types that cannot cross to the device, each told once at its own place.
use relocgpu_runtime::prelude::*;

#[derive(Clone, Copy)]
struct Plain(u32);

type Name = &'static str;

#[gpu_kernel]
fn by_value(_value: Plain) {}

#[gpu_kernel]
fn elements(_x: &[Plain], _y: DisjointSlice<Plain>) {}

#[gpu_kernel]
fn through_an_alias(_name: Name) {}

#[gpu_kernel]
fn boxed(_values: Box<[f32]>, _list: Vec<f32>) {}

#[gpu_kernel]
fn unbounded<T>(_x: &[T], _y: DisjointSlice<T>) {}

fn main() {}
