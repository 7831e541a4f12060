//! `DisjointSlice` with each of its index spaces.

use check::{Check, Outcome, checks, equal, that};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![linear_in_three_dimensions, planes, plane_of_a_volume, volumes, several_outputs, own_element_twice, shapes_must_fit]
}

/// The linear index stays injective in a launch of any shape.
#[gpu_kernel]
fn count_up(mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out += i.get() as u64 * 3 + 1;
    }
}

fn linear_in_three_dimensions(device: &Device) -> Outcome {
    for (grid, threads) in [(Grid::new(9, 33), 297), (Grid::new((3, 5), (7, 2)), 210), (Grid::new((2, 3, 4), (3, 2, 5)), 720)] {
        let mut out = device.zeroed::<u64>(threads)?;
        count_up::launch(device, grid, &mut out)?;
        equal("count_up", &out.download()?, &(0..threads as u64).map(|i| i * 3 + 1).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// A five-point stencil; the border stays as it is.
#[gpu_kernel]
fn smooth(x: &[f32], mut y: DisjointSlice<f32, Plane>) {
    let (width, height, i) = (y.width(), y.height(), thread::index_2d());
    if let Some(y) = y.get_mut(i) {
        let at = |column: usize, row: usize| x[row * width + column];
        if i.x() > 0 && i.y() > 0 && i.x() + 1 < width && i.y() + 1 < height {
            *y = 0.25 * (at(i.x() - 1, i.y()) + at(i.x() + 1, i.y()) + at(i.x(), i.y() - 1) + at(i.x(), i.y() + 1));
        }
    }
}

fn planes(device: &Device) -> Outcome {
    for (width, height) in [(1, 1), (3, 3), (64, 4), (65, 130), (301, 7)] {
        let xs: Vec<f32> = check::random(7).map(|word| (word % 512) as f32).take(width * height).collect();
        for grid in [Grid::over_2d((width, height)), Grid::over_2d((width, height)).with_block((5, 3))] {
            let mut y = device.upload(&xs)?;
            smooth::launch(device, grid, &device.upload(&xs)?, y.plane_mut((width, height))?)?;
            let mut expected = xs.clone();
            for row in 1..height.max(1) - 1 {
                for column in 1..width.max(1) - 1 {
                    let at = row * width + column;
                    expected[at] = 0.25 * (xs[at - 1] + xs[at + 1] + xs[at - width] + xs[at + width]);
                }
            }
            equal("smooth", &y.download()?, &expected)?;
        }
    }
    Ok(())
}

/// In a launch of three dimensions, a plane's rows go on through the layers.
#[gpu_kernel]
fn add_point(mut out: DisjointSlice<u32, Plane>) {
    let i = thread::index_2d();
    if let Some(out) = out.get_mut(i) {
        *out += 1 + (100 * i.y() + i.x()) as u32;
    }
}

fn plane_of_a_volume(device: &Device) -> Outcome {
    let (width, height) = (10, 24);
    let mut out = device.zeroed::<u32>(width * height)?;
    add_point::launch(device, Grid::new((5, 3, 2), (2, 2, 2)), out.plane_mut((width, height))?)?;
    equal("add_point", &out.download()?, &(0..width * height).map(|i| (1 + 100 * (i / width) + i % width) as u32).collect::<Vec<_>>())
}

#[gpu_kernel]
fn volume_sum(x: &[i64], mut out: DisjointSlice<i64, Volume>) {
    let (width, height, depth, i) = (out.width(), out.height(), out.depth(), thread::index_3d());
    if let Some(out) = out.get_mut(i) {
        let below = if i.z() > 0 { x[((i.z() - 1) * height + i.y()) * width + i.x()] } else { -(depth as i64) };
        *out = below - x[(i.z() * height + i.y()) * width + (i.x() + 1) % width];
    }
}

fn volumes(device: &Device) -> Outcome {
    for (width, height, depth) in [(1, 1, 1), (32, 4, 2), (33, 5, 3), (7, 60, 2), (3, 2, 70)] {
        let xs: Vec<i64> = check::random(8).map(|word| word as i64 >> 8).take(width * height * depth).collect();
        let mut out = device.zeroed::<i64>(xs.len())?;
        volume_sum::launch(device, Grid::over_3d((width, height, depth)), &device.upload(&xs)?, out.volume_mut((width, height, depth))?)?;
        let expected: Vec<i64> = (0..xs.len())
            .map(|i| {
                let below = if i >= width * height { xs[i - width * height] } else { -(depth as i64) };
                below - xs[i / width * width + (i % width + 1) % width]
            })
            .collect();
        equal("volume_sum", &out.download()?, &expected)?;
    }
    Ok(())
}

#[gpu_kernel]
fn split(x: &[u32], mut low: DisjointSlice<u8>, mut high: DisjointSlice<u16>, mut parity: DisjointSlice<bool>) {
    let i = thread::index_1d();
    let Some(&x) = x.get(i.get()) else { return };
    if let (Some(low), Some(high), Some(parity)) = (low.get_mut(i), high.get_mut(i), parity.get_mut(i)) {
        (*low, *high, *parity) = (x as u8, (x >> 16) as u16, x.count_ones() % 2 == 1);
    }
}

fn several_outputs(device: &Device) -> Outcome {
    let xs: Vec<u32> = check::random(9).map(|word| word as u32).take(1000).collect();
    let (mut low, mut high, mut parity) = (device.zeroed::<u8>(1000)?, device.zeroed::<u16>(1000)?, device.zeroed::<bool>(1000)?);
    split::launch(device, Grid::over(1000), &device.upload(&xs)?, &mut low, &mut high, &mut parity)?;
    equal("low", &low.download()?, &xs.iter().map(|&x| x as u8).collect::<Vec<_>>())?;
    equal("high", &high.download()?, &xs.iter().map(|x| (x >> 16) as u16).collect::<Vec<_>>())?;
    equal("parity", &parity.download()?, &xs.iter().map(|x| x.count_ones() % 2 == 1).collect::<Vec<_>>())
}

#[gpu_kernel]
fn read_and_write(mut x: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let before = x.get(i).copied();
    if let (Some(before), Some(x)) = (before, x.get_mut(i)) {
        *x = before.wrapping_mul(before);
    }
    if let Some(x) = x.get_mut(i) {
        *x ^= 0xff;
    }
}

fn own_element_twice(device: &Device) -> Outcome {
    let mut x = device.upload(&(0..1025).collect::<Vec<u32>>())?;
    read_and_write::launch(device, Grid::over(1025), &mut x)?;
    equal("read_and_write", &x.download()?, &(0..1025).map(|i: u32| i.wrapping_mul(i) ^ 0xff).collect::<Vec<_>>())
}

fn shapes_must_fit(device: &Device) -> Outcome {
    let mut buffer = device.zeroed::<u32>(12)?;
    that(buffer.plane_mut((3, 5)).is_err(), "a plane of 15 in a buffer of 12")?;
    that(buffer.plane_mut((usize::MAX, 2)).is_err(), "a plane that overflows")?;
    that(buffer.volume_mut((2, 2, 4)).is_err(), "a volume of 16 in a buffer of 12")?;
    that(buffer.volume_mut((2, 3, 2)).is_ok(), "a volume of 12 in a buffer of 12")
}
