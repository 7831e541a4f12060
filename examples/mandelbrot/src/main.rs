//! Draws the Mandelbrot set into `target/mandelbrot.png`, and checks every pixel against a computation on the host.

mod reference;

use relocgpu_runtime::prelude::*;
use std::error::Error;
use std::path::Path;

const WIDTH: u32 = 1024;
const HEIGHT: u32 = 768;
const LIMIT: u32 = 256;

/// The part of the plane that the picture shows.
#[derive(Clone, Copy, DeviceData)]
struct View {
    left: f32,
    top: f32,
    /// Distance between two pixels.
    step: f32,
    width: u32,
}

/// Colours of the points that escape after 0, 1, 2… steps; the last is the set itself.
fn palette() -> Vec<[u8; 3]> {
    let shade = |i: u32, phase: f32| (127.5 + 127.5 * (i as f32 * 0.09 + phase).sin()) as u8;
    (0..LIMIT).map(|i| [shade(i, 4.0), shade(i, 4.8), shade(i, 5.6)]).chain([[0, 0, 0]]).collect()
}

static PALETTE: DeviceTable<[u8; 3]> = host!(table: palette());

/// One thread for each pixel.
#[gpu_kernel]
fn mandelbrot(view: View, mut pixels: DisjointSlice<[u8; 3]>) {
    let i = thread::index_1d();
    if let Some(pixel) = pixels.get_mut(i) {
        let column = i.get() % view.width as usize;
        let row = i.get() / view.width as usize;
        let steps = escape(view.left + column as f32 * view.step, view.top - row as f32 * view.step);
        *pixel = PALETTE[steps as usize];
    }
}

/// Steps of `z = z * z + c` until `z` leaves the circle of radius 2, at most [`LIMIT`].
fn escape(re: f32, im: f32) -> u32 {
    let (mut x, mut y) = (0.0f32, 0.0f32);
    let mut steps = 0;
    while steps < LIMIT && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + re, 2.0 * x * y + im);
        steps += 1;
    }
    steps
}

fn main() -> Result<(), Box<dyn Error>> {
    let view = View { left: -2.2, top: 1.2, step: 3.2 / WIDTH as f32, width: WIDTH };
    let count = (WIDTH * HEIGHT) as usize;

    let device = Device::best()?;
    let mut pixels = device.zeroed::<[u8; 3]>(count)?;
    mandelbrot::launch(&device, Grid::over(count), view, &mut pixels)?;
    let time = device.time(|| mandelbrot::launch(&device, Grid::over(count), view, &mut pixels))?;
    let result = pixels.download()?;

    let expected = reference::draw(view.left, view.top, view.step, WIDTH, HEIGHT, &palette());
    let wrong = result.iter().zip(&expected).filter(|(ours, theirs)| ours != theirs).count();

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("."));
    let file = root.join("target/mandelbrot.png");
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    image::save_buffer(&file, result.as_flattened(), WIDTH, HEIGHT, image::ExtendedColorType::Rgb8)?;
    println!("mandelbrot on {}: {WIDTH} x {HEIGHT} pixels in {:.3} ms, {wrong} wrong", device.name(), time.as_secs_f64() * 1e3);
    println!("written: {}", file.display());
    if wrong > 0 {
        return Err(format!("{wrong} pixels differ from the host's computation").into());
    }
    Ok(())
}
