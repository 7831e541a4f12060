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
