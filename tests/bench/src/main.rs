//! What kernels cost on the CPU, against the same loops written by hand with rayon: `cargo run --release -p bench`.
//!
//! Both sides run in one process, in turns, on the same data; medians of the rounds are printed with their ratio.
//! `builds.sh` beside this package measures what a build costs.

mod by_hand;
mod kernels;
mod measure;
#[allow(dead_code, reason = "the example sets its strength, the benchmark takes the default")]
#[path = "../../../examples/photo/src/kernels.rs"]
mod photo;

use measure::{Live, compare, per_call};
use relocgpu_runtime::prelude::*;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

#[global_allocator]
static LIVE: Live = Live::new();

fn main() -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    relocgpu_runtime::init()?;
    let device = Device::cpu()?;
    println!("device: {}, {} threads", device.name(), rayon::current_num_threads());

    let mut small = device.zeroed::<f32>(256)?;
    kernels::scale::launch(&device, Grid::over(256), 2.0, &mut small)?;
    device.synchronize()?;
    println!("load, resolve, patch and first launch: {:.3} ms", started.elapsed().as_secs_f64() * 1e3);

    for blocks in [1, 64] {
        let mut x = device.zeroed::<f32>(256 * blocks)?;
        let time = per_call(20_000, || kernels::scale::launch(&device, Grid::over(256 * blocks), 1.0, &mut x))?;
        println!("a launch of {blocks} blocks of 256 threads: {:.3} us", time.as_secs_f64() * 1e6);
    }
    growth(&device)?;
    saxpy(&device)?;
    mandelbrot(&device)?;
    develop(&device)
}

/// A thousand launches allocate nothing that stays.
fn growth(device: &Device) -> Result<(), Box<dyn Error>> {
    let mut x = device.zeroed::<f32>(10_000)?;
    let mut launches = |count| (0..count).try_for_each(|_| kernels::scale::launch(device, Grid::over(10_000), 1.0, &mut x));
    launches(100)?;
    device.synchronize()?;
    let before = LIVE.bytes();
    launches(1000)?;
    device.synchronize()?;
    println!("bytes that a thousand launches leave allocated: {}", LIVE.bytes() - before);
    Ok(())
}

fn saxpy(device: &Device) -> Result<(), Box<dyn Error>> {
    let n = 16 << 20;
    let xs: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
    let mut by_hand = vec![0.0f32; n];
    let (x, mut y) = (device.upload(&xs)?, device.zeroed::<f32>(n)?);
    let ours = || {
        kernels::saxpy::launch(device, Grid::over(n), 0.5, &x, &mut y)?;
        device.synchronize()
    };
    compare("saxpy, 16 Mi elements", ours, || by_hand::saxpy(0.5, &xs, &mut by_hand))?;
    same("saxpy", &y.download()?, &by_hand)
}

fn mandelbrot(device: &Device) -> Result<(), Box<dyn Error>> {
    let (width, height) = (1024, 768);
    let mut by_hand = vec![0u32; width * height];
    let mut steps = device.zeroed::<u32>(width * height)?;
    let ours = || {
        kernels::mandelbrot::launch(device, Grid::over(width * height), width as u32, &mut steps)?;
        device.synchronize()
    };
    compare("mandelbrot, 1024 x 768", ours, || by_hand::mandelbrot(width, &mut by_hand))?;
    same("mandelbrot", &steps.download()?, &by_hand)
}

/// The photograph of the example, tiled to 2048 x 2048.
fn develop(device: &Device) -> Result<(), Box<dyn Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/photo/astronaut.png");
    let picture = image::open(file)?.into_rgb8();
    let (width, height) = (2048, 2048);
    let pixel = |i: usize| picture.get_pixel((i % width % 512) as u32, (i / width % 512) as u32).0;
    let pixels: Vec<[u8; 3]> = (0..width * height).map(pixel).collect();

    let input = device.upload(&pixels)?;
    let mut sharp = device.zeroed::<[f32; 3]>(pixels.len())?;
    let mut output = device.zeroed::<[u8; 3]>(pixels.len())?;
    let curve = photo::tone_curve();
    let mut by_hand = by_hand::Photo::new(width, height);
    let ours = || {
        photo::unsharp::launch(device, photo::tiles(width as u32, height as u32), &input, sharp.plane_mut((width, height))?)?;
        photo::tone::launch(device, Grid::over(pixels.len()), &sharp, &mut output)?;
        device.synchronize()
    };
    compare("photo, 2048 x 2048 pixels", ours, || by_hand.develop(&pixels, 1.0, &curve))?;
    same("photo", &output.download()?, by_hand.developed())
}

fn same<T: PartialEq>(what: &str, ours: &[T], by_hand: &[T]) -> Result<(), Box<dyn Error>> {
    let differences = ours.iter().zip(by_hand).filter(|(a, b)| a != b).count();
    if differences == 0 && ours.len() == by_hand.len() { Ok(()) } else { Err(format!("{what}: {differences} differences").into()) }
}
