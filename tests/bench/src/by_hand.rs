//! The same work as a Rust programmer writes it with rayon.

use crate::kernels::escape;
use rayon::prelude::*;

pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    y.par_iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

pub fn mandelbrot(width: usize, steps: &mut [u32]) {
    steps.par_iter_mut().enumerate().for_each(|(i, steps)| *steps = escape((i % width) as f32, (i / width) as f32, width as f32));
}

/// Buffers of the photo's steps.
pub struct Photo {
    width: usize,
    height: usize,
    luma: Vec<f32>,
    sharp: Vec<[f32; 3]>,
    developed: Vec<[u8; 3]>,
}

impl Photo {
    pub fn new(width: usize, height: usize) -> Self {
        let pixels = width * height;
        Self { width, height, luma: vec![0.0; pixels], sharp: vec![[0.0; 3]; pixels], developed: vec![[0; 3]; pixels] }
    }

    pub fn developed(&self) -> &[[u8; 3]] {
        &self.developed
    }

    pub fn develop(&mut self, source: &[[u8; 3]], strength: f32, curve: &[f32]) {
        let (width, height) = (self.width, self.height);
        self.luma
            .par_iter_mut()
            .zip(source)
            .for_each(|(luma, p)| *luma = 77.0 * f32::from(p[0]) + 150.0 * f32::from(p[1]) + 29.0 * f32::from(p[2]));
        let luma = &self.luma;
        self.sharp.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
            let rows: [&[f32]; 5] = std::array::from_fn(|dy| {
                let y = (y + dy).saturating_sub(2).min(height - 1);
                &luma[y * width..(y + 1) * width]
            });
            for (x, pixel) in row.iter_mut().enumerate() {
                let mut blurred = 0.0;
                for (row, weight) in rows.iter().zip([1.0, 4.0, 6.0, 4.0, 1.0]) {
                    for (dx, by) in [1.0, 4.0, 6.0, 4.0, 1.0].into_iter().enumerate() {
                        blurred += weight * by * row[(x + dx).saturating_sub(2).min(width - 1)];
                    }
                }
                let detail = (256.0 * rows[2][x] - blurred) / 65536.0;
                *pixel = source[y * width + x].map(|channel| f32::from(channel) + strength * detail);
            }
        });
        let last = curve.len() - 1;
        self.developed.par_iter_mut().zip(&self.sharp).for_each(|(developed, sharp)| {
            *developed = sharp.map(|level| {
                let position = level.clamp(0.0, 255.0) / 255.0 * last as f32;
                let below = position as usize;
                let (low, high) = (curve[below], curve[last.min(below + 1)]);
                ((low + (high - low) * (position - below as f32)) * 255.0 + 0.5) as u8
            });
        });
    }
}
