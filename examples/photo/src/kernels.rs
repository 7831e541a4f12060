//! The two kernels and the host values that they refer to.

use relocgpu_runtime::prelude::*;
use std::sync::OnceLock;

/// Pixels on each side that a pixel's blur reaches.
const RADIUS: u32 = 2;
/// Pixels along each side of a block.
const BLOCK: u32 = 16;
/// Pixels along each side of the tile that a block reads.
const TILE: u32 = BLOCK + 2 * RADIUS;
/// Weights of the blur along one axis, out of 16.
const BINOMIAL: [f32; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];

static STRENGTH: OnceLock<f32> = OnceLock::new();

/// Fixes the strength of the mask for this process, before the first launch.
pub fn set_strength(strength: f32) {
    STRENGTH.get_or_init(|| strength);
}

fn strength() -> f32 {
    *STRENGTH.get().unwrap_or(&1.0)
}

/// An S-shaped curve: shadows a little darker, lights a little brighter.
pub fn tone_curve() -> Vec<f32> {
    (0..1024).map(|i| i as f32 / 1023.0).map(|x| 0.6 * x + 0.4 * (x * x * (3.0 - 2.0 * x)).powf(1.1)).collect()
}

static CURVE: DeviceTable<f32> = host!(table: tone_curve());

/// Blocks of the size that [`unsharp()`] works in.
pub fn tiles(width: u32, height: u32) -> Grid {
    Grid::over_2d((width as usize, height as usize)).with_block((BLOCK, BLOCK))
}

/// Brightness times 256: whole numbers, which an `f32` holds exactly.
fn luma([red, green, blue]: [u8; 3]) -> f32 {
    77.0 * f32::from(red) + 150.0 * f32::from(green) + 29.0 * f32::from(blue)
}

/// Adds to each pixel `strength` times what sets its brightness apart from its neighbourhood's. The block first brings
/// its neighbourhood into shared memory; pixels beyond the border repeat those at it.
#[gpu_kernel]
pub fn unsharp(source: &[[u8; 3]], mut sharp: DisjointSlice<[f32; 3], Plane>) {
    let tile = device!(shared: [f32; (TILE * TILE) as usize]);
    let (width, height) = (sharp.width(), sharp.height());
    let (block, here) = (thread::block_idx(), thread::thread_idx());

    for k in (here.y * BLOCK + here.x..TILE * TILE).step_by((BLOCK * BLOCK) as usize) {
        let x = (block.x * BLOCK + k % TILE).saturating_sub(RADIUS) as usize;
        let y = (block.y * BLOCK + k / TILE).saturating_sub(RADIUS) as usize;
        let value = luma(source[y.min(height - 1) * width + x.min(width - 1)]);
        // SAFETY: `tiles` gives blocks of BLOCK by BLOCK threads, so that each `k` is one thread's; all reads are
        // behind the barrier.
        unsafe { tile.set(k as usize, value) };
    }
    block::sync();

    let i = thread::index_2d();
    if let Some(pixel) = sharp.get_mut(i) {
        // SAFETY: every element has been written before the barrier, and none is after it.
        let at = |dx: u32, dy: u32| unsafe { tile.get(((here.y + dy) * TILE + here.x + dx) as usize) };
        let mut blurred = 0.0;
        for dy in 0..5 {
            for dx in 0..5 {
                blurred += BINOMIAL[dx as usize] * BINOMIAL[dy as usize] * at(dx, dy);
            }
        }
        let detail = (256.0 * at(RADIUS, RADIUS) - blurred) / 65536.0;
        let channels = source[i.y() * width + i.x()];
        *pixel = channels.map(|channel| f32::from(channel) + host!(strength()) * detail);
    }
}

/// Takes every channel through the curve, between two of its entries.
#[gpu_kernel]
pub fn tone(sharp: &[[f32; 3]], mut developed: DisjointSlice<[u8; 3]>) {
    let i = thread::index_1d();
    if let Some(pixel) = developed.get_mut(i) {
        *pixel = sharp[i.get()].map(|level| {
            let last = CURVE.len() - 1;
            let position = level.clamp(0.0, 255.0) / 255.0 * last as f32;
            let below = position as usize;
            let (low, high) = (CURVE[below], CURVE[last.min(below + 1)]);
            ((low + (high - low) * (position - below as f32)) * 255.0 + 0.5) as u8
        });
    }
}
