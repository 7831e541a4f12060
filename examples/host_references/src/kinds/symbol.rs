//! `host!(symbol: "name" as TYPE)`: the word stored at a symbol of an object that the process has loaded.

use crate::Shown;
use relocgpu_runtime::prelude::*;

#[gpu_kernel]
fn first_argument(mut out: DisjointSlice<i32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        // SAFETY: the C library has an `int` of this name, where `getopt` begins; nothing in this program writes it.
        *out = unsafe { host!(symbol: "optind" as i32) };
    }
}

pub fn show(device: &Device) -> relocgpu_runtime::Result<Shown> {
    let mut out = device.zeroed::<i32>(2)?;
    first_argument::launch(device, Grid::over(2), &mut out)?;
    Ok(Shown::new("symbol", &out.download()?, &[1, 1]))
}
