//! Block-shared memory and the barrier.

use check::{Check, Outcome, checks, equal, random};
use relocgpu_runtime::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// The checks of this crate.
pub fn checks() -> Vec<Check> {
    checks![
        reversing,
        block_sums,
        matrices,
        transposing,
        two_arrays,
        counting,
        barrier_in_a_helper,
        early_ends,
        partial_blocks,
        in_three_dimensions
    ]
}

const BLOCK: usize = 128;

/// Reverses each block's elements.
#[gpu_kernel]
fn reverse(x: &[u32], mut out: DisjointSlice<u32>) {
    let tile = device!(shared: [u32; BLOCK]);
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    // SAFETY: each thread writes its own element; reads are behind the barrier.
    unsafe { tile.set(t, x[i.get()]) };
    block::sync();
    if let Some(out) = out.get_mut(i) {
        // SAFETY: as above.
        *out = unsafe { tile.get(BLOCK - 1 - t) };
    }
}

fn reversing(device: &Device) -> Outcome {
    for blocks in [1, 2, 100] {
        let xs: Vec<u32> = random(1).map(|word| word as u32).take(blocks * BLOCK).collect();
        let mut out = device.zeroed::<u32>(xs.len())?;
        reverse::launch(device, Grid::over(xs.len()).with_block(BLOCK as u32), &device.upload(&xs)?, &mut out)?;
        let expected: Vec<u32> = xs.chunks(BLOCK).flat_map(|c| c.iter().rev().copied()).collect();
        equal("reverse", &out.download()?, &expected)?;
    }
    Ok(())
}

/// One sum for each block, by halving: a barrier in a loop.
#[gpu_kernel]
fn sum_blocks(x: &[u64], mut sums: DisjointSlice<u64>) {
    let partial = device!(shared: [u64; BLOCK]);
    let (i, t) = (thread::index_1d().get(), thread::thread_idx().x as usize);
    // SAFETY: in each step, the lower half's threads read the upper half's elements and write their own; a barrier
    // stands between the steps.
    unsafe { partial.set(t, x.get(i).copied().unwrap_or(0)) };
    let mut half = BLOCK / 2;
    while half > 0 {
        block::sync();
        if t < half {
            // SAFETY: as above.
            unsafe { partial.set(t, partial.get(t).wrapping_add(partial.get(t + half))) };
        }
        half /= 2;
    }
    if t == 0 {
        // SAFETY: only this thread has an index with t = 0 in its block, and blocks differ in theirs.
        if let Some(sum) = unsafe { sums.get_any_mut(thread::block_idx().x as usize) } {
            // SAFETY: the last step was this thread's.
            *sum = unsafe { partial.get(0) };
        }
    }
}

fn block_sums(device: &Device) -> Outcome {
    for n in [1, BLOCK, 1000, 12_345] {
        let xs: Vec<u64> = random(n as u64).take(n).collect();
        let mut sums = device.zeroed::<u64>(n.div_ceil(BLOCK))?;
        sum_blocks::launch(device, Grid::over(n).with_block(BLOCK as u32), &device.upload(&xs)?, &mut sums)?;
        let expected: Vec<u64> = xs.chunks(BLOCK).map(|c| c.iter().fold(0u64, |a, &b| a.wrapping_add(b))).collect();
        equal("sum_blocks", &sums.download()?, &expected)?;
    }
    Ok(())
}

const TILE: usize = 16;

/// A product of square matrices, a pair of tiles at a time.
#[gpu_kernel]
fn multiply(a: &[f32], b: &[f32], n: u32, mut c: DisjointSlice<f32, Plane>) {
    let left = device!(shared: [f32; TILE * TILE]);
    let right = device!(shared: [f32; TILE * TILE]);
    let (i, n) = (thread::index_2d(), n as usize);
    let (x, y) = (thread::thread_idx().x as usize, thread::thread_idx().y as usize);
    let mut sum = 0.0;
    for tile in 0..n.div_ceil(TILE) {
        let at = |matrix: &[f32], row: usize, column: usize| if row < n && column < n { matrix[row * n + column] } else { 0.0 };
        // SAFETY: each thread writes its own elements, between two barriers.
        unsafe {
            left.set(y * TILE + x, at(a, i.y(), tile * TILE + x));
            right.set(y * TILE + x, at(b, tile * TILE + y, i.x()));
        }
        block::sync();
        for k in 0..TILE {
            // SAFETY: nobody writes between these two barriers.
            sum += unsafe { left.get(y * TILE + k) * right.get(k * TILE + x) };
        }
        block::sync();
    }
    if let Some(c) = c.get_mut(i) {
        *c = sum;
    }
}

fn matrices(device: &Device) -> Outcome {
    for n in [1, 16, 33, 64] {
        let values = |seed| random(seed).map(|word| (word % 2000) as f32 / 8.0 - 125.0).take(n * n).collect::<Vec<f32>>();
        let (a, b) = (values(1), values(2));
        let mut c = device.zeroed::<f32>(n * n)?;
        let grid = Grid::over_2d((n, n)).with_block((TILE as u32, TILE as u32));
        multiply::launch(device, grid, &device.upload(&a)?, &device.upload(&b)?, n as u32, c.plane_mut((n, n))?)?;
        let expected: Vec<f32> = (0..n * n).map(|i| (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).fold(0.0, |s, p| s + p)).collect();
        equal("multiply", &c.download()?, &expected)?;
    }
    Ok(())
}

/// Transposes through a padded tile.
#[gpu_kernel]
fn transpose(x: &[u16], width: u32, height: u32, mut out: DisjointSlice<u16, Plane>) {
    let tile = device!(shared: [u16; TILE * (TILE + 1)]);
    let (tx, ty) = (thread::thread_idx().x as usize, thread::thread_idx().y as usize);
    let (bx, by) = (thread::block_idx().x as usize * TILE, thread::block_idx().y as usize * TILE);
    let (width, height) = (width as usize, height as usize);
    // The output's block (bx, by) is the input's block (by, bx).
    if by + tx < width && bx + ty < height {
        // SAFETY: each thread writes its own element; reads are behind the barrier.
        unsafe { tile.set(tx * (TILE + 1) + ty, x[(bx + ty) * width + by + tx]) };
    }
    block::sync();
    if let Some(out) = out.get_mut(thread::index_2d()) {
        // SAFETY: inside the output, the element has been written above.
        *out = unsafe { tile.get(ty * (TILE + 1) + tx) };
    }
}

fn transposing(device: &Device) -> Outcome {
    for (width, height) in [(1, 1), (16, 32), (50, 21), (7, 100)] {
        let xs: Vec<u16> = random(3).map(|word| word as u16).take(width * height).collect();
        let mut out = device.zeroed::<u16>(xs.len())?;
        let grid = Grid::over_2d((height, width)).with_block((TILE as u32, TILE as u32));
        transpose::launch(device, grid, &device.upload(&xs)?, width as u32, height as u32, out.plane_mut((height, width))?)?;
        let expected: Vec<u16> = (0..xs.len()).map(|i| xs[i % height * width + i / height]).collect();
        equal("transpose", &out.download()?, &expected)?;
    }
    Ok(())
}

static PAIRS: SharedArray<(u32, f32), 64> = device!(shared: [(u32, f32); 64]);

/// A static of shared memory beside a local one, with other element types.
#[gpu_kernel]
fn rotate_pairs(mut out: DisjointSlice<(u32, f32, u8)>) {
    let bytes = device!(shared: [u8; 64]);
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    // SAFETY: each thread writes its own elements; reads are behind the barrier.
    unsafe {
        PAIRS.set(t, (i.get() as u32, i.get() as f32 / 4.0));
        bytes.set(t, (i.get() * 3) as u8);
    }
    block::sync();
    if let Some(out) = out.get_mut(i) {
        // SAFETY: as above.
        let ((number, float), byte) = unsafe { (PAIRS.get((t + 1) % 64), bytes.get((t + 63) % 64)) };
        *out = (number, float, byte);
    }
}

fn two_arrays(device: &Device) -> Outcome {
    let mut out = device.zeroed::<(u32, f32, u8)>(640)?;
    rotate_pairs::launch(device, Grid::over(640).with_block(64), &mut out)?;
    let neighbour = |i: usize, by: usize| i / 64 * 64 + (i + by) % 64;
    let expected: Vec<_> = (0..640).map(|i| (neighbour(i, 1) as u32, neighbour(i, 1) as f32 / 4.0, (neighbour(i, 63) * 3) as u8)).collect();
    equal("rotate_pairs", &out.download()?, &expected)
}

/// A histogram in shared memory, by atomics, that the block then writes out.
#[gpu_kernel]
fn count(x: &[u8], mut out: DisjointSlice<u32>) {
    let bins = device!(shared: [AtomicU32; BLOCK]);
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    bins.at(t).store(0, Ordering::Relaxed);
    block::sync();
    for k in 0..10 {
        let value = x[(i.get() * 10 + k) % x.len()];
        bins.at(usize::from(value) % BLOCK).fetch_add(1, Ordering::Relaxed);
    }
    block::sync();
    if let Some(out) = out.get_mut(i) {
        *out = bins.at(t).load(Ordering::Relaxed);
    }
}

fn counting(device: &Device) -> Outcome {
    let xs: Vec<u8> = random(8).map(|word| word as u8).take(2000).collect();
    let mut out = device.zeroed::<u32>(5 * BLOCK)?;
    count::launch(device, Grid::over(5 * BLOCK).with_block(BLOCK as u32), &device.upload(&xs)?, &mut out)?;
    let mut expected = vec![0; 5 * BLOCK];
    for i in 0..5 * BLOCK * 10 {
        expected[i / (10 * BLOCK) * BLOCK + usize::from(xs[i % xs.len()]) % BLOCK] += 1;
    }
    equal("count", &out.download()?, &expected)
}

/// Waits inside a function: the greatest of the block's values.
fn greatest_of_block(scratch: SharedArray<u32, BLOCK>, value: u32) -> u32 {
    let t = thread::thread_idx().x as usize;
    // SAFETY: each thread writes its own element between two barriers, and reads are between the next two.
    unsafe { scratch.set(t, value) };
    block::sync();
    // SAFETY: as above.
    let greatest = (0..BLOCK).map(|k| unsafe { scratch.get(k) }).max().unwrap_or(0);
    block::sync();
    greatest
}

#[gpu_kernel]
fn greatest_twice(x: &[u32], mut out: DisjointSlice<[u32; 2]>) {
    let scratch = device!(shared: [u32; BLOCK]);
    let i = thread::index_1d();
    let own = x[i.get()];
    let greatest = greatest_of_block(scratch, own);
    let of_remainders = greatest_of_block(scratch, greatest % (own + 1));
    if let Some(out) = out.get_mut(i) {
        *out = [greatest, of_remainders];
    }
}

fn barrier_in_a_helper(device: &Device) -> Outcome {
    let xs: Vec<u32> = random(9).map(|word| word as u32 % 1_000_000).take(7 * BLOCK).collect();
    let mut out = device.zeroed::<[u32; 2]>(xs.len())?;
    greatest_twice::launch(device, Grid::over(xs.len()).with_block(BLOCK as u32), &device.upload(&xs)?, &mut out)?;
    let of_block = |c: &[u32]| {
        let greatest = c.iter().copied().max().unwrap_or(0);
        [[greatest, c.iter().map(|x| greatest % (x + 1)).max().unwrap_or(0)]; BLOCK]
    };
    equal("greatest_twice", &out.download()?, &xs.chunks(BLOCK).flat_map(of_block).collect::<Vec<_>>())
}

/// Whole blocks end before the barrier; those that stay, stay whole.
#[gpu_kernel]
fn skip_odd_blocks(mut out: DisjointSlice<u32>) {
    let tile = device!(shared: [u32; 32]);
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    if thread::block_idx().x % 2 == 1 {
        return;
    }
    // SAFETY: each thread writes its own element; reads are behind the barrier.
    unsafe { tile.set(t, i.get() as u32) };
    block::sync();
    if let Some(out) = out.get_mut(i) {
        // SAFETY: as above.
        *out = unsafe { tile.get(31 - t) };
    }
}

fn early_ends(device: &Device) -> Outcome {
    let mut out = device.upload(&[7u32; 320])?;
    skip_odd_blocks::launch(device, Grid::over(320).with_block(32), &mut out)?;
    let expected: Vec<u32> = (0..320).map(|i| if i / 32 % 2 == 1 { 7 } else { i / 32 * 32 + 31 - i % 32 }).collect();
    equal("skip_odd_blocks", &out.download()?, &expected)
}

/// Fewer elements than threads: those beyond the end still wait.
fn partial_blocks(device: &Device) -> Outcome {
    for n in [1, 31, 33, 100] {
        let mut out = device.zeroed::<u32>(n)?;
        skip_odd_blocks::launch(device, Grid::over(n).with_block(32), &mut out)?;
        let expected: Vec<u32> = (0..n as u32).map(|i| if i / 32 % 2 == 1 { 0 } else { i / 32 * 32 + 31 - i % 32 }).collect();
        equal("skip_odd_blocks", &out.download()?, &expected)?;
    }
    Ok(())
}

/// Each thread reads the element of its mirror image in a block of 4 x 3 x 2.
#[gpu_kernel]
fn mirror(mut out: DisjointSlice<u32>) {
    let tile = device!(shared: [u32; 24]);
    let (i, t) = (thread::index_1d(), thread::thread_idx());
    let at = |x: u32, y: u32, z: u32| ((z * 3 + y) * 4 + x) as usize;
    // SAFETY: each thread writes its own element; reads are behind the barrier.
    unsafe { tile.set(at(t.x, t.y, t.z), i.get() as u32) };
    block::sync();
    if let Some(out) = out.get_mut(i) {
        // SAFETY: as above.
        *out = unsafe { tile.get(at(3 - t.x, 2 - t.y, 1 - t.z)) };
    }
}

fn in_three_dimensions(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(24 * 12)?;
    mirror::launch(device, Grid::new((2, 2, 3), (4, 3, 2)), &mut out)?;
    equal("mirror", &out.download()?, &(0..24 * 12).map(|i| i / 24 * 24 + 23 - i % 24).collect::<Vec<u32>>())
}
