//! What still holds after a panic.

use check::{Check, Outcome, Panic, checks, equal, panicked, that};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![the_next_launch_works, one_of_many, at_a_read, in_two_dimensions, at_a_barrier, many_times_over]
}

/// Panics at elements above `limit`, doubles the others.
#[gpu_kernel]
fn double_below(limit: u32, mut x: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(x) = x.get_mut(i) {
        assert!(*x <= limit, "above the limit");
        *x *= 2;
    }
}

fn panic_of(result: relocgpu_runtime::Result<()>) -> Result<([u32; 3], [u32; 3]), String> {
    match result {
        Err(relocgpu_runtime::Error::Panicked { message, thread, block, .. }) if message == "above the limit" => Ok((block, thread)),
        other => Err(format!("expected a panic, got {other:?}")),
    }
}

fn the_next_launch_works(device: &Device) -> Outcome {
    let mut x = device.upload(&(0..1000).collect::<Vec<u32>>())?;
    double_below::launch(device, Grid::over(1000), 500, &mut x)?;
    panic_of(device.synchronize())?;
    let mut y = device.upload(&(0..1000).collect::<Vec<u32>>())?;
    double_below::launch(device, Grid::over(1000), 999, &mut y)?;
    device.synchronize()?;
    equal("the next launch", &y.download()?, &(0..1000).map(|i| 2 * i).collect::<Vec<u32>>())
}

/// Every thread above 500 would panic: one is reported, and it is one of those.
fn one_of_many(device: &Device) -> Outcome {
    let mut x = device.upload(&(0..4000).collect::<Vec<u32>>())?;
    double_below::launch(device, Grid::over(4000).with_block(128), 500, &mut x)?;
    let (block, thread) = panic_of(device.synchronize())?;
    let index = block[0] * 128 + thread[0];
    that(index > 500 && index < 4000, format!("thread {index} had nothing to panic about"))?;
    device.synchronize()?;
    let x = x.download()?;
    let torn = (0..4000).find(|&i| x[i as usize] != i && (i > 500 || x[i as usize] != 2 * i));
    that(torn.is_none(), format!("element {torn:?} has neither its old value nor its right one"))
}

/// A read synchronises: it brings the panic, too.
fn at_a_read(device: &Device) -> Outcome {
    let mut x = device.upload(&[7u32; 10])?;
    double_below::launch(device, Grid::over(10), 3, &mut x)?;
    panic_of(x.download().map(|_| ()))?;
    equal("after the panic", &x.download()?, &[7; 10])
}

#[gpu_kernel]
fn panic_at_a_point(at: (u32, u32), out: &[u32]) {
    let (thread, block) = (thread::thread_idx(), thread::block_idx());
    let point = (block.x * 8 + thread.x, block.y * 4 + thread.y);
    assert!(point != at || out.is_empty(), "here");
}

fn in_two_dimensions(device: &Device) -> Outcome {
    let out = device.upload(&[1u32])?;
    panic_at_a_point::launch(device, Grid::new((5, 7), (8, 4)), (3 * 8 + 6, 5 * 4 + 2), &out)?;
    let expected = Panic {
        kernel: "::panic_at_a_point",
        message: "here",
        file: "src/after.rs",
        line: 1 + include_str!("after.rs").lines().position(|line| line.contains("out.is_empty(), \"here\"")).ok_or("no such line")? as u32,
        thread: [6, 2, 0],
        block: [3, 5, 0],
    };
    panicked(device.synchronize(), &expected)
}

/// One thread panics while the others of its block wait for it.
#[gpu_kernel]
fn panic_before_a_barrier(victim: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    assert!(i.get() as u32 != victim, "above the limit");
    block::sync();
    if let Some(out) = out.get_mut(i) {
        *out = 1;
    }
}

fn at_a_barrier(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(256)?;
    panic_before_a_barrier::launch(device, Grid::over(256).with_block(64), 64 + 9, &mut out)?;
    let (block, thread) = panic_of(device.synchronize())?;
    that((block, thread) == ([1, 0, 0], [9, 0, 0]), format!("block {block:?}, thread {thread:?}"))?;
    panic_before_a_barrier::launch(device, Grid::over(256).with_block(64), u32::MAX, &mut out)?;
    equal("the next launch", &out.download()?, &[1; 256])
}

fn many_times_over(device: &Device) -> Outcome {
    for round in 0..200u32 {
        let mut x = device.upload(&[round; 100])?;
        double_below::launch(device, Grid::over(100), 99, &mut x)?;
        match (round <= 99, device.synchronize()) {
            (true, Ok(())) => equal("doubled", &x.download()?, &[2 * round; 100])?,
            (false, result) => panic_of(result).map(|_| ())?,
            (true, Err(error)) => return Err(error.into()),
        }
    }
    Ok(())
}
