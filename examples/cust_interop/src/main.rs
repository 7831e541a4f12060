//! A program that already uses `cust` launches relocgpu kernels on its own context, buffers and stream.
//!
//! Build it with `CUDA_LIBRARY_PATH` naming a folder whose `lib64` holds libcuda (`lib64/stubs` of a CUDA toolkit
//! serves); run it where there is NVIDIA's driver and a GPU.

use cust::context::Context;
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use relocgpu_runtime::prelude::*;
use std::error::Error;
use std::process::ExitCode;

/// Set in the environment, read when the program starts: a host reference in a program that is otherwise cust's.
fn gain() -> f32 {
    std::env::var("GAIN").ok().and_then(|gain| gain.parse().ok()).unwrap_or(2.0)
}

/// One thread for each element.
#[gpu_kernel]
fn amplify(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += host!(gain()) * x[i.get()];
    }
}

/// `len` elements that differ.
fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i % 1000) as f32).collect()
}

/// Counts the elements that are not `times` the gain times the input.
fn wrong(x: &[f32], y: &[f32], times: f32) -> usize {
    x.iter().zip(y).filter(|(x, y)| **y != times * gain() * **x).count()
}

/// The launch has ended when it returns, so `cust` may do anything with its buffers afterwards.
fn launch_and_wait(device: &Device, len: usize) -> Result<usize, Box<dyn Error>> {
    let xs = numbers(len);
    let x = DeviceBuffer::from_slice(&xs)?;
    let mut y = DeviceBuffer::from_slice(&vec![0.0f32; len])?;
    amplify::launch(device, Grid::over(len), &x, &mut y)?;
    let mut ys = vec![0.0; len];
    y.copy_to(&mut ys)?;
    Ok(wrong(&xs, &ys, 1.0))
}

/// Copies of `cust` on the program's stream and launches between them; the host waits once, at the end.
fn launch_in_order(device: &Device, stream: &Stream, len: usize) -> Result<usize, Box<dyn Error>> {
    let xs = numbers(len);
    let mut ys = vec![0.0; len];
    let mut x = DeviceBuffer::from_slice(&vec![0.0f32; len])?;
    let mut y = DeviceBuffer::from_slice(&ys)?;
    // SAFETY: the host's memory is used again only after the stream has been waited for.
    unsafe { x.async_copy_from(&xs, stream) }?;
    // SAFETY: both buffers are used on this stream alone, and freed after it has been waited for.
    unsafe {
        device.on_stream(stream, |device| {
            amplify::launch(device, Grid::over(len), &x, &mut y)?;
            amplify::launch(device, Grid::over(len), &x, &mut y)
        })
    }?;
    // SAFETY: as above.
    unsafe { y.async_copy_to(&mut ys, stream) }?;
    stream.synchronize()?;
    // A panic in a kernel comes from the device, not from the stream.
    device.synchronize()?;
    Ok(wrong(&xs, &ys, 2.0))
}

fn run() -> Result<usize, Box<dyn Error>> {
    let context = Context::new(cust::device::Device::get_device(0)?)?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let device = Device::from_cust(&context)?;
    let len = 1 << 20;
    let wrong = [launch_and_wait(&device, len)?, launch_in_order(&device, &stream, len)?];
    println!("{device}: {len} elements with cust's buffers, {} wrong; with its stream, {} wrong", wrong[0], wrong[1]);
    Ok(wrong.iter().sum())
}

fn main() -> ExitCode {
    if let Err(error) = cust::init(cust::CudaFlags::empty()) {
        println!("cust finds no GPU: {error}");
        return ExitCode::from(2);
    }
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
