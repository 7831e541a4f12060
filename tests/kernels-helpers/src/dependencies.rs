//! Functions of a path dependency and of registry dependencies, none of which know of devices.

use check::{Check, Outcome, checks, equal};
use outside::{Disc, Figure, Rectangle};
use relocgpu_runtime::prelude::*;
use std::hash::Hasher;

pub fn checks() -> Vec<Check> {
    checks![path_dependency, traits_of_a_path_dependency, registry_functions, registry_hasher]
}

fn steps(i: usize) -> u32 {
    outside::collatz(i as u64 + 1) + outside::gcd(i as u32 + 12, 90) * outside::PRIMES[i % 10]
}

#[gpu_kernel]
fn collatz_steps(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = steps(i.get());
    }
}

fn path_dependency(device: &Device) -> Outcome {
    for n in [3, 256, 4001] {
        let mut out = device.zeroed::<u32>(n)?;
        collatz_steps::launch(device, Grid::over(n), &mut out)?;
        equal("collatz_steps", &out.download()?, &(0..n).map(steps).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn areas(i: usize, x: f32) -> f32 {
    let figure = if i.is_multiple_of(2) { Rectangle { width: x, height: 2.0 }.scaled(1.5) } else { Disc { radius: x }.area() };
    outside::polynomial(figure, &[0.5, -1.0, 0.25])
}

#[gpu_kernel]
fn area_polynomials(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = areas(i.get(), x[i.get()]);
    }
}

fn traits_of_a_path_dependency(device: &Device) -> Outcome {
    let xs: Vec<f32> = (0..1500).map(|i| i as f32 * 0.37 - 100.0).collect();
    let mut out = device.zeroed::<f32>(xs.len())?;
    area_polynomials::launch(device, Grid::over(xs.len()), &device.upload(&xs)?, &mut out)?;
    let expected: Vec<f32> = xs.iter().enumerate().map(|(i, &x)| areas(i, x)).collect();
    check::equal_bits("area_polynomials", &out.download()?, &expected)
}

fn transcendental(x: f32) -> [f32; 4] {
    [libm::sinf(x), libm::expf(x * 0.01), libm::atan2f(x, 3.0), libm::cbrtf(x)]
}

#[gpu_kernel]
fn transcendentals(x: &[f32], mut out: DisjointSlice<[f32; 4]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = transcendental(x[i.get()]);
    }
}

fn registry_functions(device: &Device) -> Outcome {
    let xs: Vec<f32> = (0..600).map(|i| (i as f32 - 300.0) * 1.7).collect();
    let mut out = device.zeroed::<[f32; 4]>(xs.len())?;
    transcendentals::launch(device, Grid::over(xs.len()), &device.upload(&xs)?, &mut out)?;
    let expected: Vec<f32> = xs.iter().flat_map(|&x| transcendental(x)).collect();
    check::equal_bits("transcendentals", out.download()?.as_flattened(), &expected)
}

fn hash(words: &[u32]) -> u64 {
    let mut hasher = fnv::FnvHasher::default();
    words.iter().for_each(|&word| hasher.write_u32(word));
    hasher.finish()
}

/// Each thread hashes the words from its own index to the end of a window.
#[gpu_kernel]
fn hashes(words: &[u32], mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = hash(&words[i.get()..words.len().min(i.get() + 9)]);
    }
}

fn registry_hasher(device: &Device) -> Outcome {
    let words: Vec<u32> = check::random(3).map(|word| word as u32).take(777).collect();
    let mut out = device.zeroed::<u64>(words.len())?;
    hashes::launch(device, Grid::over(words.len()), &device.upload(&words)?, &mut out)?;
    let expected: Vec<u64> = (0..words.len()).map(|i| hash(&words[i..words.len().min(i + 9)])).collect();
    equal("hashes", &out.download()?, &expected)
}
