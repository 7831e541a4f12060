//! `host!(|device| expression)`: a value for each device.

use crate::Shown;
use relocgpu_runtime::prelude::*;

#[gpu_kernel]
fn rounds(work: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = work[i.get()].div_ceil(host!(|device| device.limits().threads_per_block));
    }
}

pub fn show(device: &Device) -> relocgpu_runtime::Result<Shown> {
    let threads = device.limits().threads_per_block;
    let work = [1, threads, threads + 1, 3 * threads];
    let mut out = device.zeroed::<u32>(work.len())?;
    rounds::launch(device, Grid::over(work.len()), &device.upload(&work)?, &mut out)?;
    Ok(Shown::new("for each device", &out.download()?, &[1, 1, 2, 3]))
}
