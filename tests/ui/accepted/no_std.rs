//! A crate without the standard library's names and without the prelude.
#![no_std]
#![no_implicit_prelude]
#![forbid(unsafe_code, dead_code, warnings)]
use ::core::clone::Clone;
use ::core::marker::Copy;
use ::relocgpu_runtime::{Device, DeviceData, DeviceTable, DisjointSlice, Grid, SharedArray, gpu_kernel, thread};

/// Its name is the first word of the expansion's paths.
mod core {}

static TABLE: DeviceTable<u32> = ::relocgpu_runtime::host!(table: [1_u32, 2]);
static TILE: SharedArray<u32, 2> = ::relocgpu_runtime::device!(shared: [u32; 2]);

#[derive(Clone, Copy, DeviceData)]
struct Pair<T>(T, T);

#[gpu_kernel]
fn fill<T: DeviceData>(mut y: DisjointSlice<u32>, pair: Pair<T>, by: u32) {
    if let ::core::option::Option::Some(y) = y.get_mut(thread::index_1d()) {
        *y = by * ::relocgpu_runtime::host!(3_u32) * TABLE[0] * (TILE.len() as u32);
    }
    let _ = (pair.0, pair.1);
}

fn launches() -> ::relocgpu_runtime::Result<()> {
    let device = Device::best()?;
    let mut y = device.zeroed(1)?;
    fill::launch(&device, Grid::over(1), &mut y, Pair(1_u8, 2), 1)
}

fn main() {
    let _ = launches().is_err();
}
