//! A program that already uses cudarc launches relocgpu kernels on its own context, slices and stream.
//!
//! It builds everywhere; run it where there is NVIDIA's driver and a GPU.

use cudarc::driver::{CudaContext, CudaStream};
use relocgpu_runtime::prelude::*;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

/// Set in the environment, read when the program starts: a host reference in a program that is otherwise cudarc's.
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

/// Counts the elements that are not `times` the gain times the input.
fn wrong(x: &[f32], y: &[f32], times: f32) -> usize {
    x.iter().zip(y).filter(|(x, y)| **y != times * gain() * **x).count()
}

/// The launch comes after the copy, and has ended when it returns: cudarc may do anything with its slices afterwards.
fn launch_and_wait(device: &Device, stream: &Arc<CudaStream>, xs: &[f32]) -> Result<usize, Box<dyn Error>> {
    let x = stream.clone_htod(xs)?;
    let mut y = stream.alloc_zeros::<f32>(xs.len())?;
    amplify::launch(device, Grid::over(xs.len()), &x, &mut y)?;
    Ok(wrong(xs, &stream.clone_dtoh(&y)?, 1.0))
}

/// Launches between copies of cudarc's on the program's stream; the host waits once, at the end.
fn launch_in_order(device: &Device, stream: &Arc<CudaStream>, xs: &[f32]) -> Result<usize, Box<dyn Error>> {
    let x = stream.clone_htod(xs)?;
    let mut y = stream.alloc_zeros::<f32>(xs.len())?;
    // SAFETY: both slices are used on this stream alone, which frees them.
    unsafe {
        device.on_stream(stream, |device| {
            amplify::launch(device, Grid::over(xs.len()), &x, &mut y)?;
            amplify::launch(device, Grid::over(xs.len()), &x, &mut y)
        })
    }?;
    let ys = stream.clone_dtoh(&y)?;
    stream.synchronize()?;
    // A panic in a kernel comes from the device, not from the stream.
    device.synchronize()?;
    Ok(wrong(xs, &ys, 2.0))
}

fn run() -> Result<usize, Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let device = Device::from_cudarc(&context)?;
    let xs: Vec<f32> = (0..1 << 20).map(|i| (i % 1000) as f32).collect();
    let wrong = [launch_and_wait(&device, &stream, &xs)?, launch_in_order(&device, &stream, &xs)?];
    println!("{device}: {} elements with cudarc's slices, {} wrong; with its stream, {} wrong", xs.len(), wrong[0], wrong[1]);
    Ok(wrong.iter().sum())
}

fn main() -> ExitCode {
    // cudarc itself panics where the driver is missing.
    if let Err(error) = Device::cuda(0) {
        println!("{error}");
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
