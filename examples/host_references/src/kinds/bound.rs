//! `host!(bound: "name" as TYPE)`: a value that the program binds to a name.

use crate::Shown;
use relocgpu_runtime::prelude::*;

/// Before `init()`, which reports every name that nothing is bound to.
pub fn bind() -> relocgpu_runtime::Result<()> {
    relocgpu_runtime::bind("picture.width", 640_u32)
}

#[gpu_kernel]
fn rows(pixels: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = pixels[i.get()] / host!(bound: "picture.width" as u32);
    }
}

pub fn show(device: &Device) -> relocgpu_runtime::Result<Shown> {
    let pixels = device.upload(&[0, 639, 640, 6400])?;
    let mut out = device.zeroed::<u32>(pixels.len())?;
    rows::launch(device, Grid::over(pixels.len()), &pixels, &mut out)?;
    Ok(Shown::new("bound", &out.download()?, &[0, 0, 1, 10]))
}
