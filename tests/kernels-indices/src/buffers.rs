//! Buffers, their parts, and the order of what is done with them.

use check::{Check, Outcome, checks, equal, that};
use relocgpu_runtime::{Error, prelude::*};
use std::time::Duration;

pub fn checks() -> Vec<Check> {
    checks![copies, parts_of_a_buffer, two_halves_at_once, wrong_lengths, queue_order, timing, shapes_of_parts, many_launches]
}

#[gpu_kernel]
fn add(x: &[u32], by: u32, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[i.get()] + by;
    }
}

fn copies(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..1000).collect();
    let mut buffer = device.upload(&values)?;
    let copy = buffer.try_clone()?;
    buffer.write_from(&vec![7; 1000])?;
    equal("written", &buffer.download()?, &[7; 1000])?;
    equal("the copy", &copy.download()?, &values)?;
    buffer.copy_from(&copy)?;
    let mut read = vec![0; 1000];
    buffer.read_into(&mut read)?;
    equal("copied back", &read, &values)?;
    let odd = device.upload(&[[1u8, 2, 3]; 77])?;
    equal("three bytes each", &odd.download()?, &[[1, 2, 3]; 77])
}

fn parts_of_a_buffer(device: &Device) -> Outcome {
    let x = device.upload(&(0..100).collect::<Vec<u32>>())?;
    let mut y = device.upload(&[5u32; 100])?;
    add::launch(device, Grid::over(20), x.slice(30..50)?, 1000, y.slice_mut(70..90)?)?;
    let expected: Vec<u32> = (0..100).map(|i| if (70..90).contains(&i) { i - 40 + 1000 } else { 5 }).collect();
    equal("a part", &y.download()?, &expected)?;
    equal("read of a part", &y.slice(69..71)?.download()?, &[5, 1030])?;
    y.slice_mut(..3)?.write_from(&[1, 2, 3])?;
    y.slice_mut(3..)?.slice_mut(..2)?.copy_from(x.slice(98..)?)?;
    equal("written parts", &y.slice(..6)?.download()?, &[1, 2, 3, 98, 99, 5])
}

#[gpu_kernel]
fn swap(mut left: DisjointSlice<u64>, mut right: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let (Some(left), Some(right)) = (left.get_mut(i), right.get_mut(i)) {
        std::mem::swap(left, right);
    }
}

fn two_halves_at_once(device: &Device) -> Outcome {
    let mut x = device.upload(&(0..501).collect::<Vec<u64>>())?;
    let (left, right) = x.split_at_mut(250)?;
    swap::launch(device, Grid::over(251), left, right)?;
    equal("swapped", &x.download()?, &(250..500).chain(0..250).chain([500]).collect::<Vec<u64>>())
}

fn wrong_lengths(device: &Device) -> Outcome {
    let mut x = device.zeroed::<u32>(10)?;
    let is_length =
        |result: relocgpu_runtime::Result<()>, what: &str| that(matches!(result, Err(Error::Length { .. })), format!("{what}: {result:?}"));
    is_length(x.write_from(&[1; 9]), "write_from")?;
    is_length(x.read_into(&mut [1; 11]), "read_into")?;
    is_length(x.slice(5..11).map(|_| ()), "slice")?;
    is_length(x.slice_mut(11..).map(|_| ()), "slice_mut")?;
    is_length(x.split_at_mut(11).map(|_| ()), "split_at_mut")?;
    equal("untouched", &x.download()?, &[0; 10])
}

/// Each command sees what those before it did.
fn queue_order(device: &Device) -> Outcome {
    let mut a = device.zeroed::<u32>(5000)?;
    let mut b = device.zeroed::<u32>(5000)?;
    for round in 0..20 {
        add::launch(device, Grid::over(5000), &a, 1, &mut b)?;
        a.copy_from(&b)?;
        if round == 9 {
            b.write_from(&vec![100; 5000])?;
            add::launch(device, Grid::over(5000), &b, 5, &mut a)?;
        }
    }
    equal("in order", &a.download()?, &[115; 5000])
}

fn timing(device: &Device) -> Outcome {
    let x = device.zeroed::<u32>(1_000_000)?;
    let mut y = device.zeroed::<u32>(1_000_000)?;
    let time = device.time(|| (0..5).try_for_each(|_| add::launch(device, Grid::over(1_000_000), &x, 3, &mut y)))?;
    that(time > Duration::ZERO && time < Duration::from_secs(20), format!("five launches took {time:?}"))?;
    that(device.time(|| y.write_from(&[1])).is_err(), "an error of the work is not returned")?;
    equal("timed", &y.slice(999_990..)?.download()?, &[3; 10])
}

#[gpu_kernel]
fn mark_diagonal(mut out: DisjointSlice<u32, Plane>) {
    let i = thread::index_2d();
    if let Some(out) = out.get_mut(i) {
        *out += u32::from(i.x() == i.y()) + 1;
    }
}

fn shapes_of_parts(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(100)?;
    mark_diagonal::launch(device, Grid::over_2d((8, 4)), out.slice_mut(10..42)?.into_plane((8, 4))?)?;
    let inside = |i: u32| if (i - 10) % 8 == (i - 10) / 8 { 2 } else { 1 };
    let expected: Vec<u32> = (0..100).map(|i| if (10..42).contains(&i) { inside(i) } else { 0 }).collect();
    equal("mark_diagonal", &out.download()?, &expected)
}

#[gpu_kernel]
fn increment(mut x: DisjointSlice<u32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x += 1;
    }
}

fn many_launches(device: &Device) -> Outcome {
    let mut x = device.zeroed::<u32>(300)?;
    for _ in 0..1000 {
        increment::launch(device, Grid::over(300), &mut x)?;
    }
    equal("increment", &x.download()?, &[1000; 300])
}
