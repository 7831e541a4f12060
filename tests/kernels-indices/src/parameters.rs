//! What a kernel takes: scalars, structs, tuples, arrays, options, slices.

use check::{Check, Outcome, checks, equal};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![scalars, structs, tuples_arrays_and_options, large_parameter, slices_of_structs, no_parameters_but_one, path_qualified]
}

type Scalars = (u128, i64, f64, (u32, i16, u8, bool), (f32, char));

#[gpu_kernel]
#[allow(clippy::too_many_arguments)]
fn take_scalars(a: u8, b: u128, c: i16, d: f64, e: bool, f: char, g: u32, h: i64, i: f32, mut out: DisjointSlice<Scalars>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = (b, h, d, (g, c, a, e), (i, f));
    }
}

fn scalars(device: &Device) -> Outcome {
    for (byte, sign) in [(0u8, 1i16), (7, -1), (255, -1)] {
        let wide = u128::from(byte) << 100 | 5;
        let mut out = device.zeroed::<Scalars>(300)?;
        let float = f64::from(byte) * -0.1;
        take_scalars::launch(device, Grid::over(300), byte, wide, sign * 300, float, sign > 0, '字', 9, i64::MIN, 0.1, &mut out)?;
        equal("scalars", &out.download()?, &[(wide, i64::MIN, float, (9, sign * 300, byte, sign > 0), (0.1, '字')); 300])?;
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceData)]
struct Camera {
    position: [f64; 3],
    id: u8,
    lens: Lens,
    exposures: (u16, f32),
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceData)]
#[repr(C)]
struct Lens {
    narrow: bool,
    focal: f32,
    code: Code,
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceData)]
struct Code(u64, i8);

#[derive(Clone, Copy, Debug, PartialEq, DeviceData)]
struct Pair<T> {
    first: T,
    second: T,
}

#[gpu_kernel]
fn move_camera(camera: Camera, by: Pair<f64>, mut out: DisjointSlice<Camera>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = moved(camera, by, i.get());
    }
}

fn moved(mut camera: Camera, by: Pair<f64>, i: usize) -> Camera {
    camera.position[i % 3] += by.first * i as f64;
    camera.position[(i + 1) % 3] *= by.second;
    camera.id = camera.id.wrapping_add(i as u8);
    camera.lens.narrow ^= i.is_multiple_of(2);
    camera.lens.code = Code(camera.lens.code.0 << (i % 40), -camera.lens.code.1);
    camera.exposures.0 = camera.exposures.0.rotate_left(i as u32 % 16);
    camera
}

fn structs(device: &Device) -> Outcome {
    let lens = Lens { narrow: true, focal: 50.0, code: Code(0x1234_5678_9abc, 7) };
    let camera = Camera { position: [1.0, -2.0, 3.5], id: 250, lens, exposures: (0x8001, 0.25) };
    let by = Pair { first: 0.125, second: -3.0 };
    for n in [1, 500] {
        let mut out = device.upload(&vec![camera; n])?;
        move_camera::launch(device, Grid::over(n), camera, by, &mut out)?;
        equal("move_camera", &out.download()?, &(0..n).map(|i| moved(camera, by, i)).collect::<Vec<_>>())?;
    }
    Ok(())
}

#[gpu_kernel]
fn take_compounds(array: [u16; 5], tuple: (u8, u64, u8), option: Option<u32>, nothing: Option<f64>, mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let base = u64::from(array[i.get() % 5]) + u64::from(tuple.0) * tuple.1 + u64::from(tuple.2);
        *out = base + u64::from(option.unwrap_or(1_000_000)) + nothing.map_or(3, |x| x as u64);
    }
}

fn tuples_arrays_and_options(device: &Device) -> Outcome {
    let array = [10, 20, 30, 40, 65_535u16];
    for (option, nothing) in [(Some(7), None), (None, Some(2.5))] {
        let mut out = device.zeroed::<u64>(77)?;
        take_compounds::launch(device, Grid::over(77), array, (3, 1 << 40, 9), option, nothing, &mut out)?;
        let rest = (3 << 40) + 9 + u64::from(option.unwrap_or(1_000_000)) + nothing.map_or(3, |x| x as u64);
        equal("compounds", &out.download()?, &(0..77).map(|i| u64::from(array[i % 5]) + rest).collect::<Vec<_>>())?;
    }
    Ok(())
}

#[gpu_kernel]
fn take_large(weights: [f64; 100], mut out: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = weights[i.get() % 100] + weights[99 - i.get() % 100];
    }
}

fn large_parameter(device: &Device) -> Outcome {
    let weights: [f64; 100] = std::array::from_fn(|i| (i * i) as f64 / 7.0);
    let mut out = device.zeroed::<f64>(1000)?;
    take_large::launch(device, Grid::over(1000), weights, &mut out)?;
    equal("large", &out.download()?, &(0..1000).map(|i| weights[i % 100] + weights[99 - i % 100]).collect::<Vec<_>>())
}

#[gpu_kernel]
fn sum_of_codes(lenses: &[Lens], pairs: &'_ [Pair<u16>], empty: &[u64], mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let pair = pairs[i.get() % pairs.len()];
        *out = lenses.iter().map(|lens| lens.code.0 + lens.code.1 as u64).sum::<u64>()
            + u64::from(pair.first) * u64::from(pair.second)
            + empty.len() as u64;
    }
}

fn slices_of_structs(device: &Device) -> Outcome {
    let lenses: Vec<Lens> = (0..9).map(|i| Lens { narrow: false, focal: 0.0, code: Code(1 << i, i as i8) }).collect();
    let pairs: Vec<Pair<u16>> = (0..50).map(|i| Pair { first: i, second: 3 * i + 1 }).collect();
    let mut out = device.zeroed::<u64>(260)?;
    sum_of_codes::launch(device, Grid::over(260), &device.upload(&lenses)?, &device.upload(&pairs)?, &device.upload(&[])?, &mut out)?;
    let expected: Vec<u64> = (0..260u64).map(|i| 511 + 36 + (i % 50) * (3 * (i % 50) + 1)).collect();
    equal("sum_of_codes", &out.download()?, &expected)
}

#[gpu_kernel]
fn fill(mut out: DisjointSlice<i8>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = -5;
    }
}

#[gpu_kernel]
fn nothing_at_all() {}

fn no_parameters_but_one(device: &Device) -> Outcome {
    nothing_at_all::launch(device, Grid::over(10))?;
    let mut out = device.zeroed::<i8>(10)?;
    fill::launch(device, Grid::over(10), &mut out)?;
    equal("fill", &out.download()?, &[-5; 10])
}

mod inner {
    /// Names by path, no imports: the macros have none of their own either.
    #[relocgpu_runtime::gpu_kernel]
    pub fn negate(x: &[f32], mut y: relocgpu_runtime::DisjointSlice<'_, f32>) {
        let i = relocgpu_runtime::thread::index_1d();
        if let Some(y) = y.get_mut(i) {
            *y = -x[i.get()];
        }
    }
}

fn path_qualified(device: &Device) -> Outcome {
    let xs: Vec<f32> = (0..40).map(|i| i as f32).collect();
    let mut y = device.zeroed::<f32>(40)?;
    inner::negate::launch(device, Grid::over(40), &device.upload(&xs)?, &mut y)?;
    check::equal_bits("negate", &y.download()?, &xs.iter().map(|x| -x).collect::<Vec<_>>())
}
