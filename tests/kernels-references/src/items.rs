//! Addresses of host items: compared, handed back, and held by constants.

use check::{Check, Outcome, checks, equal, that};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![three_arguments, two_references, handed_back, in_constants, tokens, in_generic_code]
}

static RED: u32 = 1;
static GREEN: u32 = 1;
static BLUE: u32 = 1;

#[inline(never)]
fn double(x: u32) -> u32 {
    x * 2
}
#[inline(never)]
fn triple(x: u32) -> u32 {
    x * 3
}

#[gpu_kernel]
fn which(item: HostRef<u32>, mut out: DisjointSlice<i32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = match item {
            item if item == host!(item: RED) => 1,
            item if item == host!(item: GREEN) => 2,
            _ => -1,
        };
    }
}

fn three_arguments(device: &Device) -> Outcome {
    for (item, expected) in [(HostRef::of(&RED), 1), (HostRef::of(&GREEN), 2), (HostRef::of(&BLUE), -1)] {
        let mut out = device.zeroed::<i32>(70)?;
        which::launch(device, Grid::over(70), item, &mut out)?;
        equal("which", &out.download()?, &[expected; 70])?;
    }
    Ok(())
}

/// What two references are to each other is not known before the program runs.
#[gpu_kernel]
fn compare(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let (a, b) = (host!(item: RED), if i.get().is_multiple_of(2) { host!(item: RED) } else { host!(item: BLUE) });
    if let Some(out) = out.get_mut(i) {
        *out = u32::from(a == b) + 2 * u32::from(a != b) + 4 * u32::from(a.to_bits() == 0);
    }
}

fn two_references(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(300)?;
    compare::launch(device, Grid::over(300), &mut out)?;
    equal("compare", &out.download()?, &(0..300).map(|i| 1 + i % 2).collect::<Vec<u32>>())
}

#[gpu_kernel]
fn hand_back(mut out: DisjointSlice<HostRef<u32>>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = if i.get().is_multiple_of(3) { host!(item: GREEN) } else { host!(item: BLUE) };
    }
}

fn handed_back(device: &Device) -> Outcome {
    let mut out = device.upload(&[HostRef::of(&RED); 100])?;
    hand_back::launch(device, Grid::over(100), &mut out)?;
    let expected: Vec<_> = (0..100).map(|i| if i % 3 == 0 { HostRef::of(&GREEN) } else { HostRef::of(&BLUE) }).collect();
    equal("handed back", &out.download()?, &expected)?;
    that(std::ptr::eq(expected[0].as_ptr(), &raw const GREEN), "a reference is its item's address")
}

struct Door {
    number: u32,
    key: HostRef<u32>,
    /// Nothing but a reference, and zero until it is patched.
    only: [HostRef<u32>; 1],
    next: Option<&'static Door>,
}
static LAST: Door = Door { number: 30, key: host!(item: BLUE), only: [host!(item: RED)], next: None };
static DOORS: [Door; 2] = [
    Door { number: 10, key: host!(item: RED), only: [host!(item: GREEN)], next: Some(&LAST) },
    Door { number: 20, key: host!(item: GREEN), only: [host!(item: GREEN)], next: None },
];
static WAY: &[Door; 2] = &DOORS;
const PAIR: (u8, HostRef<u32>) = (5, host!(item: BLUE));
static ZERO: [HostRef<u32>; 2] = [host!(item: RED), host!(item: BLUE)];

#[gpu_kernel]
fn open(key: HostRef<u32>, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut door = Some(&WAY[i.get() % 2]);
    let mut sum = 0;
    while let Some(at) = door {
        sum += if at.key == key { at.number } else { 0 } + if at.only[0] == key { 1000 * at.number } else { 0 };
        door = at.next;
    }
    if PAIR.1 == key {
        sum += u32::from(PAIR.0);
    }
    if ZERO[i.get() % 2] == key {
        sum += 7;
    }
    if let Some(out) = out.get_mut(i) {
        *out = sum;
    }
}

fn in_constants(device: &Device) -> Outcome {
    for key in [HostRef::of(&RED), HostRef::of(&GREEN), HostRef::of(&BLUE)] {
        let mut out = device.zeroed::<u32>(130)?;
        open::launch(device, Grid::over(130), key, &mut out)?;
        let [red, green, blue] = [&RED, &GREEN, &BLUE].map(|item| HostRef::of(item) == key);
        let expected = |i: usize| {
            let doors = if i.is_multiple_of(2) {
                10 * u32::from(red) + 10_000 * u32::from(green) + 30 * u32::from(blue) + 30_000 * u32::from(red)
            } else {
                20_020 * u32::from(green)
            };
            doors + 5 * u32::from(blue) + 7 * u32::from(if i.is_multiple_of(2) { red } else { blue })
        };
        equal("doors", &out.download()?, &(0..130).map(expected).collect::<Vec<_>>())?;
    }
    Ok(())
}

type Work = FnToken<fn(u32) -> u32>;

static WORK: [Work; 2] = [host!(fn: double as fn(u32) -> u32), host!(fn: triple as fn(u32) -> u32)];

#[gpu_kernel]
fn choose(asked: Work, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let in_code = asked == host!(fn: triple as fn(u32) -> u32);
    if let Some(out) = out.get_mut(i) {
        *out = u32::from(WORK[i.get() % 2] == asked) + 10 * u32::from(in_code);
    }
}

fn tokens(device: &Device) -> Outcome {
    for (asked, at, in_code) in [(double as fn(u32) -> u32, 0, 0), (triple, 1, 10)] {
        let mut out = device.zeroed::<u32>(40)?;
        choose::launch(device, Grid::over(40), FnToken::of(asked), &mut out)?;
        equal("tokens", &out.download()?, &(0..40).map(|i| u32::from(i % 2 == at) + in_code).collect::<Vec<u32>>())?;
    }
    Ok(())
}

#[gpu_kernel]
fn count<T: DeviceData + PartialEq + Copy>(items: &[T], item: T, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let equal = |other: &&T| **other == item;
        *out = items.iter().filter(equal).count() as u32;
    }
}

fn in_generic_code(device: &Device) -> Outcome {
    let items = device.upload(&[HostRef::of(&RED), HostRef::of(&BLUE), HostRef::of(&RED)])?;
    let mut out = device.zeroed::<u32>(5)?;
    count::launch(device, Grid::over(5), &items, HostRef::of(&RED), &mut out)?;
    equal("count", &out.download()?, &[2; 5])
}
