//! `host!(item: PATH)`: which static of the host it is, in code and in constants.

use crate::Shown;
use relocgpu_runtime::prelude::*;

static BRICK: &str = "brick";
static GLASS: &str = "glass";
static WOOD: &str = "wood";

struct Wall {
    material: HostRef<&'static str>,
    height: u32,
}
/// A constant of the kernels, in which two words are the host's.
static WALLS: [Wall; 2] = [Wall { material: host!(item: BRICK), height: 3 }, Wall { material: host!(item: GLASS), height: 5 }];

#[gpu_kernel]
fn measure(asked: &[HostRef<&'static str>], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let asked = asked[i.get()];
        let height: u32 = WALLS.iter().filter(|wall| wall.material == asked).map(|wall| wall.height).sum();
        *out = height + if asked == host!(item: GLASS) { 100 } else { 0 };
    }
}

pub fn show(device: &Device) -> relocgpu_runtime::Result<Shown> {
    let asked = device.upload(&[&BRICK, &GLASS, &WOOD].map(HostRef::of))?;
    let mut out = device.zeroed::<u32>(asked.len())?;
    measure::launch(device, Grid::over(asked.len()), &asked, &mut out)?;
    Ok(Shown::new("items", &out.download()?, &[3, 105, 0]))
}
