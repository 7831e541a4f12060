//! Float functions of std that are not fixed to the bit: the device's results are within an ULP or so of the host's.

use check::{Check, Outcome, checks, that};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![singles, doubles]
}

const SINGLES: usize = 22;

fn single(x: f32, y: f32) -> [f32; SINGLES] {
    let unit = x / (1.0 + x.abs());
    let positive = x.abs() + 0.01;
    [
        x.sin(),
        x.cos(),
        x.tan(),
        unit.asin(),
        unit.acos(),
        x.atan(),
        x.atan2(y),
        unit.sinh(),
        unit.cosh(),
        x.tanh(),
        unit.exp(),
        unit.exp2(),
        unit.exp_m1(),
        positive.ln(),
        positive.log2(),
        positive.log10(),
        positive.ln_1p(),
        positive.powf(unit),
        unit.powi(3),
        x.cbrt(),
        x.hypot(y),
        positive.asinh(),
    ]
}

const DOUBLES: usize = 10;

fn double(x: f64, y: f64) -> [f64; DOUBLES] {
    let unit = x / (1.0 + x.abs());
    let positive = x.abs() + 0.01;
    [x.sin(), x.cos(), x.tan(), unit.exp(), positive.ln(), positive.powf(unit), x.tanh(), x.atan2(y), x.cbrt(), x.hypot(y)]
}

#[gpu_kernel]
fn singles_kernel(x: &[f32], y: &[f32], mut out: DisjointSlice<[f32; SINGLES]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = single(x[i.get()], y[i.get()]);
    }
}

#[gpu_kernel]
fn doubles_kernel(x: &[f64], y: &[f64], mut out: DisjointSlice<[f64; DOUBLES]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = double(x[i.get()], y[i.get()]);
    }
}

/// Two results of at most a few ULP each lie this many times the type's precision apart, or less.
const TOLERANCE: f64 = 4.0;

fn close(what: &str, index: usize, device: f64, host: f64, epsilon: f64) -> Outcome {
    let both_nan = device.is_nan() && host.is_nan();
    let near =
        (device - host).abs() <= TOLERANCE * epsilon * host.abs().max(f64::MIN_POSITIVE) || (device - host).abs() <= epsilon * epsilon;
    that(
        both_nan || near,
        format!("{what}, function {}, element {}: {device:e} on the device, {host:e} on the host", index % 32, index / 32),
    )
}

fn singles(device: &Device) -> Outcome {
    let xs: Vec<f32> = (0..1000).map(|i| (i as f32 - 500.0) * 0.037).collect();
    let ys: Vec<f32> = xs.iter().map(|x| 3.0 - x * 0.5).collect();
    let mut out = device.zeroed::<[f32; SINGLES]>(xs.len())?;
    singles_kernel::launch(device, Grid::over(xs.len()), &device.upload(&xs)?, &device.upload(&ys)?, &mut out)?;
    for (i, results) in out.download()?.iter().enumerate() {
        for (f, (result, expected)) in results.iter().zip(single(xs[i], ys[i])).enumerate() {
            close("f32", i * 32 + f, f64::from(*result), f64::from(expected), f64::from(f32::EPSILON))?;
        }
    }
    Ok(())
}

fn doubles(device: &Device) -> Outcome {
    let xs: Vec<f64> = (0..1000).map(|i| (f64::from(i) - 500.0) * 0.037).collect();
    let ys: Vec<f64> = xs.iter().map(|x| 3.0 - x * 0.5).collect();
    let mut out = device.zeroed::<[f64; DOUBLES]>(xs.len())?;
    doubles_kernel::launch(device, Grid::over(xs.len()), &device.upload(&xs)?, &device.upload(&ys)?, &mut out)?;
    for (i, results) in out.download()?.iter().enumerate() {
        for (f, (result, expected)) in results.iter().zip(double(xs[i], ys[i])).enumerate() {
            close("f64", i * 32 + f, *result, expected, f64::EPSILON)?;
        }
    }
    Ok(())
}
