//! Tickets, flags, swaps, a lock: what programs build from atomics.

use check::{Check, Outcome, checks, equal, that};
use relocgpu_runtime::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

pub fn checks() -> Vec<Check> {
    checks![tickets, histogram, last_block_sums, swaps_lose_nothing, fetch_update, flags]
}

/// Each thread takes a number; all numbers are taken once.
#[gpu_kernel]
fn take_tickets(next: &[AtomicU32], mut taken: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(taken) = taken.get_mut(i) {
        *taken = next[0].fetch_add(1, Ordering::Relaxed);
    }
}

fn tickets(device: &Device) -> Outcome {
    for n in [1, 300, 20_000] {
        let next = device.zeroed::<AtomicU32>(1)?;
        let mut taken = device.zeroed::<u32>(n)?;
        take_tickets::launch(device, Grid::over(n), &next, &mut taken)?;
        let mut taken = taken.download()?;
        taken.sort_unstable();
        equal("tickets", &taken, &(0..n as u32).collect::<Vec<_>>())?;
    }
    Ok(())
}

#[gpu_kernel]
fn count_bytes(text: &[u8], bins: &[AtomicU64]) {
    let i = thread::index_1d().get();
    if let Some(&byte) = text.get(i) {
        bins[usize::from(byte)].fetch_add(1, Ordering::Relaxed);
    }
}

fn histogram(device: &Device) -> Outcome {
    let text: Vec<u8> = check::random(5).map(|word| (word % 251) as u8 & (word >> 32) as u8).take(100_000).collect();
    let bins = device.zeroed::<AtomicU64>(256)?;
    count_bytes::launch(device, Grid::over(text.len()), &device.upload(&text)?, &bins)?;
    let mut expected = vec![0u64; 256];
    text.iter().for_each(|&byte| expected[usize::from(byte)] += 1);
    equal("bins", &bins.download()?.into_iter().map(AtomicU64::into_inner).collect::<Vec<_>>(), &expected)
}

/// Each thread leaves a partial result; the one that comes last sees them all.
#[gpu_kernel]
fn sum_by_the_last(x: &[u32], partial: &[AtomicU32], done: &[AtomicU32], sum: &[AtomicU64]) {
    let i = thread::index_1d().get();
    let Some(own) = partial.get(i) else { return };
    own.store(x[i].wrapping_mul(2), Ordering::Relaxed);
    fence(Ordering::Release);
    if done[0].fetch_add(1, Ordering::AcqRel) as usize == partial.len() - 1 {
        fence(Ordering::Acquire);
        sum[0].store(partial.iter().map(|p| u64::from(p.load(Ordering::Relaxed))).sum(), Ordering::Release);
    }
}

fn last_block_sums(device: &Device) -> Outcome {
    for n in [1, 255, 5000] {
        let xs: Vec<u32> = check::random(6).map(|word| word as u32).take(n).collect();
        let (partial, done, sum) = (device.zeroed::<AtomicU32>(n)?, device.zeroed::<AtomicU32>(1)?, device.zeroed::<AtomicU64>(1)?);
        sum_by_the_last::launch(device, Grid::over(n), &device.upload(&xs)?, &partial, &done, &sum)?;
        let expected: u64 = xs.iter().map(|x| u64::from(x.wrapping_mul(2))).sum();
        let ours = sum.download()?.remove(0).into_inner();
        that(ours == expected, format!("sum {ours}, expected {expected}"))?;
    }
    Ok(())
}

/// Whatever a thread swaps out, it keeps: no value is lost, none is seen twice.
#[gpu_kernel]
fn swap_values(slot: &[AtomicU64], mut kept: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(kept) = kept.get_mut(i) {
        *kept = slot[0].swap(i.get() as u64 + 1, Ordering::AcqRel);
    }
}

fn swaps_lose_nothing(device: &Device) -> Outcome {
    let slot = device.zeroed::<AtomicU64>(1)?;
    let mut kept = device.zeroed::<u64>(3000)?;
    swap_values::launch(device, Grid::over(3000), &slot, &mut kept)?;
    let mut all = kept.download()?;
    all.extend(slot.download()?.into_iter().map(AtomicU64::into_inner));
    all.sort_unstable();
    equal("swapped", &all, &(0..=3000).collect::<Vec<u64>>())
}

/// Collatz steps on one shared word, all threads together.
#[gpu_kernel]
fn step_together(word: &[AtomicU32], steps: u32) {
    if (thread::index_1d().get() as u32) < steps {
        // The closure never refuses.
        _ = word[0].fetch_update(Ordering::SeqCst, Ordering::Relaxed, |n| Some(if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 }));
    }
}

fn fetch_update(device: &Device) -> Outcome {
    let word = device.upload(&[AtomicU32::new(27)])?;
    step_together::launch(device, Grid::over(1000), &word, 111)?;
    that(word.download()?[0].load(Ordering::Relaxed) == 1, "27 does not come down to 1 in 111 steps")
}

#[gpu_kernel]
fn raise_flags(flags: &[AtomicBool], first: &[AtomicU32]) {
    let i = thread::index_1d().get();
    if i < 3 * flags.len() && !flags[i % flags.len()].swap(true, Ordering::AcqRel) {
        first[i % flags.len()].fetch_add(1, Ordering::Relaxed);
    }
}

/// Bytes, which GPUs know no atomics of: three threads try each flag, one is first.
fn flags(device: &Device) -> Outcome {
    let flags = device.zeroed::<AtomicBool>(101)?;
    let first = device.zeroed::<AtomicU32>(101)?;
    raise_flags::launch(device, Grid::over(303), &flags, &first)?;
    that(flags.download()?.into_iter().all(AtomicBool::into_inner), "a flag was not raised")?;
    equal("first", &first.download()?.into_iter().map(AtomicU32::into_inner).collect::<Vec<_>>(), &[1; 101])
}
