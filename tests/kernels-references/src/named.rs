//! Words by name: bound by the program, and stored at symbols; and words that differ from device to device.

use check::{Check, Outcome, checks, equal, that};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![bound, stored, for_each_device]
}

/// Before the first kernel of this crate's image is launched.
pub fn bind() -> relocgpu_runtime::Result<()> {
    relocgpu_runtime::bind("references.width", 640u32)?;
    relocgpu_runtime::bind("references.scale", -1.5f64)
}

#[gpu_kernel]
fn read_bound(mut out: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = f64::from(host!(bound: "references.width" as u32)) * host!(bound: "references.scale" as f64) + i.get() as f64;
    }
}

fn bound(device: &Device) -> Outcome {
    let mut out = device.zeroed::<f64>(90)?;
    read_bound::launch(device, Grid::over(90), &mut out)?;
    equal("bound", &out.download()?, &(0..90).map(|i| -960.0 + f64::from(i)).collect::<Vec<_>>())
}

/// Words of the C library: its list of variables, and the second half of that word.
#[gpu_kernel]
fn read_stored(mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    // SAFETY: `environ` is a pointer, which nothing changes while the program runs.
    let (list, high) = unsafe { (host!(symbol: "environ" as usize), host!(symbol: "environ" as u32, offset: 4)) };
    if let Some(out) = out.get_mut(i) {
        *out = if i.get().is_multiple_of(2) { list as u64 } else { u64::from(high) };
    }
}

fn stored(device: &Device) -> Outcome {
    unsafe extern "C" {
        static environ: usize;
    }
    let mut out = device.zeroed::<u64>(20)?;
    read_stored::launch(device, Grid::over(20), &mut out)?;
    // SAFETY: as above.
    let list = unsafe { environ } as u64;
    equal("stored", &out.download()?, &(0..20).map(|i| if i % 2 == 0 { list } else { list >> 32 }).collect::<Vec<u64>>())
}

#[gpu_kernel]
fn read_device(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = host!(|device| device.limits().threads_per_block) + host!(|_device| 1u32);
    }
}

fn for_each_device(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(12)?;
    read_device::launch(device, Grid::over(12), &mut out)?;
    equal("of the device", &out.download()?, &[device.limits().threads_per_block + 1; 12])?;
    that(
        device.references()?.iter().any(|r| r.target == "`u32` bound to `references.width`" && r.word == 640),
        "a bound word has a description",
    )
}
