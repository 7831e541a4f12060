//! `DeviceTable`: element types, lengths, and use through slices and functions.

use check::{Check, Outcome, checks, equal};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![element_types, empty_table, long_table, through_other_crates, out_of_bounds]
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceData)]
#[repr(C)]
struct Entry {
    weight: f64,
    key: u16,
    flag: bool,
}

fn entries() -> Vec<Entry> {
    (0..37).map(|i| Entry { weight: f64::from(i) / 3.0, key: i as u16 * 1000, flag: i % 3 == 0 }).collect()
}

fn words(count: usize) -> Vec<u64> {
    check::random(count as u64).take(count).collect()
}

static BYTES: DeviceTable<u8> = host!(table: b"one byte an element".to_vec());
static FLOATS: DeviceTable<f32> = host!(table: (0..100).map(|i| i as f32 * 0.1).collect::<Vec<f32>>());
static COLOURS: DeviceTable<[u8; 3]> = host!(table: vec![[1u8, 2, 3], [4, 5, 6], [250, 251, 252]]);
static ENTRIES: DeviceTable<Entry> = host!(table: entries());
static NOTHING: DeviceTable<u32> = host!(table: Vec::<u32>::new());
static LONG: DeviceTable<u64> = host!(table: words(200_000));

#[gpu_kernel]
fn look_up(mut out: DisjointSlice<(u32, f32, [u8; 3], Entry)>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let i = i.get();
        *out = (u32::from(BYTES[i % BYTES.len()]), FLOATS[i % FLOATS.len()], COLOURS[i % 3], ENTRIES[i % ENTRIES.len()]);
    }
}

fn element_types(device: &Device) -> Outcome {
    let entries = entries();
    let colours = [[1, 2, 3], [4, 5, 6], [250, 251, 252]];
    for n in [1, 100, 1000] {
        let mut out = device.zeroed::<(u32, f32, [u8; 3], Entry)>(n)?;
        look_up::launch(device, Grid::over(n), &mut out)?;
        let expected: Vec<_> = (0..n)
            .map(|i| (u32::from(b"one byte an element"[i % 19]), (i % 100) as f32 * 0.1, colours[i % 3], entries[i % entries.len()]))
            .collect();
        equal("look_up", &out.download()?, &expected)?;
    }
    Ok(())
}

#[gpu_kernel]
fn look_into_nothing(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = NOTHING.get(i.get()).copied().unwrap_or(11) + NOTHING.len() as u32 + u32::from(NOTHING.is_empty());
    }
}

fn empty_table(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(70)?;
    look_into_nothing::launch(device, Grid::over(70), &mut out)?;
    equal("empty", &out.download()?, &[12; 70])
}

#[gpu_kernel]
fn search_long(needles: &[u64], mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let start = needles[i.get()] as usize;
        *out = LONG[start..].iter().take(50).fold(0, |sum, x| sum ^ x.rotate_left(7));
    }
}

fn long_table(device: &Device) -> Outcome {
    let all = words(200_000);
    let needles: Vec<u64> = (0..1000).map(|i| i * 199).chain([199_999, 200_000]).collect();
    let mut out = device.zeroed::<u64>(needles.len())?;
    search_long::launch(device, Grid::over(needles.len()), &device.upload(&needles)?, &mut out)?;
    let expected: Vec<u64> = needles.iter().map(|&n| all[n as usize..].iter().take(50).fold(0, |sum, x| sum ^ x.rotate_left(7))).collect();
    equal("long", &out.download()?, &expected)
}

#[gpu_kernel]
fn polynomials(mut x: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(x) = x.get_mut(i) {
        *x = outside::polynomial(*x, &FLOATS[3..9]);
    }
}

fn through_other_crates(device: &Device) -> Outcome {
    let xs: Vec<f32> = (0..400).map(|i| i as f32 * 0.01 - 2.0).collect();
    let mut x = device.upload(&xs)?;
    polynomials::launch(device, Grid::over(400), &mut x)?;
    let coefficients: Vec<f32> = (3..9).map(|i| i as f32 * 0.1).collect();
    check::equal_bits("polynomials", &x.download()?, &xs.iter().map(|&x| outside::polynomial(x, &coefficients)).collect::<Vec<_>>())
}

#[gpu_kernel]
fn beyond_the_end(at: u64, mut out: DisjointSlice<u8>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = BYTES[at as usize];
    }
}

fn out_of_bounds(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u8>(5)?;
    beyond_the_end::launch(device, Grid::over(5), 19, &mut out)?;
    let Err(relocgpu_runtime::Error::Panicked { message, .. }) = device.synchronize() else {
        return Err("no panic".into());
    };
    check::that(message == "index out of bounds: the len is 19 but the index is 19", format!("message: {message}"))?;
    beyond_the_end::launch(device, Grid::over(5), 18, &mut out)?;
    equal("the last entry", &out.download()?, b"ttttt")
}
