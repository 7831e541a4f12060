//! The same picture computed a second way, in integers on one thread: nothing here is shared with the kernels.

use image::RgbImage;

/// Weights of the blur along one axis, out of 16.
const BINOMIAL: [i64; 5] = [1, 4, 6, 4, 1];

/// Develops `source` without a device.
pub fn develop(source: &RgbImage, strength: f32, curve: &[f32]) -> RgbImage {
    let luma = luma_of(source);
    RgbImage::from_fn(source.width(), source.height(), |x, y| {
        let detail = detail_at(&luma, source.width(), source.height(), x, y) as f32 / 65536.0;
        let channels = source.get_pixel(x, y).0;
        image::Rgb(channels.map(|channel| tone(f32::from(channel) + strength * detail, curve)))
    })
}

/// Brightness of each pixel times 256.
fn luma_of(source: &RgbImage) -> Vec<i64> {
    source.pixels().map(|p| 77 * i64::from(p.0[0]) + 150 * i64::from(p.0[1]) + 29 * i64::from(p.0[2])).collect()
}

/// Brightness of the pixel less that of its neighbourhood, times 65536.
fn detail_at(luma: &[i64], width: u32, height: u32, x: u32, y: u32) -> i64 {
    let at = |dx: i64, dy: i64| {
        let x = (i64::from(x) + dx).clamp(0, i64::from(width) - 1);
        let y = (i64::from(y) + dy).clamp(0, i64::from(height) - 1);
        luma[(y * i64::from(width) + x) as usize]
    };
    let blurred: i64 = (0..25).map(|i| (i % 5, i / 5)).map(|(i, j)| BINOMIAL[i] * BINOMIAL[j] * at(i as i64 - 2, j as i64 - 2)).sum();
    256 * at(0, 0) - blurred
}

/// Looks `level` (0 to 255) up in the curve, between two entries.
fn tone(level: f32, curve: &[f32]) -> u8 {
    let last = curve.len() - 1;
    let position = level.clamp(0.0, 255.0) / 255.0 * last as f32;
    let below = position.floor() as usize;
    let above = last.min(below + 1);
    let value = curve[below] + (curve[above] - curve[below]) * (position - below as f32);
    (value * 255.0 + 0.5) as u8
}
