//! Develops a photograph: an unsharp mask over the neighbourhood of each pixel, then a tone curve.
//!
//! `cargo run --release -p photo [-- IN OUT --strength 1.5]`: without arguments the photograph beside this package
//! becomes `target/photo.png`. The picture is checked against a computation that shares nothing with the kernels.

mod kernels;
mod options;
mod reference;

use image::RgbImage;
use options::Options;
use relocgpu_runtime::prelude::*;
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(differences) => {
            eprintln!("photo: {differences} values differ from the host's computation");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("photo: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns how many values differ from the host's computation.
fn run() -> Result<usize, Box<dyn Error>> {
    let options = Options::from_arguments()?;
    let source = image::open(&options.input).map_err(|e| format!("{}: {e}", options.input.display()))?.into_rgb8();
    kernels::set_strength(options.strength);
    relocgpu_runtime::init()?;
    let device = Device::best()?;

    let (developed, time) = develop(&device, &source)?;
    let started = Instant::now();
    let expected = reference::develop(&source, options.strength, &kernels::tone_curve());
    let on_host = started.elapsed();
    let differences = developed.as_raw().iter().zip(expected.as_raw()).filter(|(ours, theirs)| ours != theirs).count();

    if let Some(folder) = options.output.parent() {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    developed.save(&options.output).map_err(|e| format!("{}: {e}", options.output.display()))?;

    println!("backend:     {}", device.name());
    println!("size:        {} x {} pixels", source.width(), source.height());
    println!("strength:    {}", options.strength);
    println!("time:        {:.3} ms (one thread of plain Rust: {:.3} ms)", time.as_secs_f64() * 1e3, on_host.as_secs_f64() * 1e3);
    println!("differences: {differences} of {}", expected.as_raw().len());
    println!("written:     {}", options.output.display());
    Ok(differences)
}

/// Runs both kernels; the time is that of the second run, when everything is loaded.
fn develop(device: &Device, source: &RgbImage) -> relocgpu_runtime::Result<(RgbImage, Duration)> {
    let (width, height) = source.dimensions();
    let pixels: Vec<[u8; 3]> = source.pixels().map(|p| p.0).collect();
    let input = device.upload(&pixels)?;
    let mut sharp = device.zeroed::<[f32; 3]>(pixels.len())?;
    let mut output = device.zeroed::<[u8; 3]>(pixels.len())?;
    let mut launch = || {
        let rows = sharp.plane_mut((width as usize, height as usize))?;
        kernels::unsharp::launch(device, kernels::tiles(width, height), &input, rows)?;
        kernels::tone::launch(device, Grid::over(pixels.len()), &sharp, &mut output)
    };
    launch()?;
    let time = device.time(launch)?;
    let bytes = output.download()?.into_flattened();
    Ok((RgbImage::from_raw(width, height, bytes).expect("three bytes for each pixel"), time))
}
