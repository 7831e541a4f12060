//! When a host expression is evaluated: once in a process, and never if no kernel is left that reads it.

use check::{Check, Outcome, checks, equal, that};
use relocgpu_runtime::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

pub fn checks() -> Vec<Check> {
    checks![once, never_if_unused, table_once]
}

static CALLS: AtomicU32 = AtomicU32::new(0);
static UNUSED_CALLS: AtomicU32 = AtomicU32::new(0);
static TABLE_CALLS: AtomicU32 = AtomicU32::new(0);

fn counted() -> u32 {
    CALLS.fetch_add(1, Ordering::Relaxed) + 100
}

#[gpu_kernel]
fn read_counted(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = host!(counted()) + i.get() as u32;
    }
}

fn once(device: &Device) -> Outcome {
    for _ in 0..3 {
        let mut out = device.zeroed::<u32>(300)?;
        read_counted::launch(device, Grid::over(300), &mut out)?;
        equal("counted", &out.download()?, &(100..400).collect::<Vec<u32>>())?;
    }
    let calls = CALLS.load(Ordering::Relaxed);
    that(calls == 1, format!("evaluated {calls} times"))
}

fn unused() -> u32 {
    UNUSED_CALLS.fetch_add(1, Ordering::Relaxed)
}

#[gpu_kernel]
fn read_in_dead_code(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let read = if i.get() > usize::MAX / 2 && i.get() < 7 { host!(unused()) } else { 5 };
        *out = read + 1;
    }
}

fn never_if_unused(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(64)?;
    read_in_dead_code::launch(device, Grid::over(64), &mut out)?;
    equal("dead code", &out.download()?, &[6; 64])?;
    that(UNUSED_CALLS.load(Ordering::Relaxed) == 0, "a reference in dead code was evaluated")
}

fn counted_table() -> Vec<u32> {
    vec![TABLE_CALLS.fetch_add(1, Ordering::Relaxed); 3]
}

static TABLE: DeviceTable<u32> = host!(table: counted_table());

#[gpu_kernel]
fn read_table(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = TABLE[i.get() % 3] + TABLE.len() as u32;
    }
}

/// Both words of a table come from one evaluation.
fn table_once(device: &Device) -> Outcome {
    for _ in 0..2 {
        let mut out = device.zeroed::<u32>(9)?;
        read_table::launch(device, Grid::over(9), &mut out)?;
        equal("table", &out.download()?, &[3; 9])?;
    }
    that(TABLE_CALLS.load(Ordering::Relaxed) == 1, "the table was evaluated more than once")
}
