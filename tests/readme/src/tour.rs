//! The tour of the README, word for word.

use relocgpu_runtime::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Two dimensions: each thread reaches the element of its column and row.
#[gpu_kernel]
fn gradient(mut image: DisjointSlice<u32, Plane>) {
    let at = thread::index_2d();
    if let Some(pixel) = image.get_mut(at) {
        *pixel = (1000 * at.y() + at.x()) as u32;
    }
}

/// What all threads write is atomic. Shared memory belongs to a block, whose threads meet at the barrier.
#[gpu_kernel]
fn histogram(text: &[u8], counts: &[AtomicU32]) {
    let own = device!(shared: [AtomicU32; 256]);
    let t = thread::thread_idx().x as usize;
    own.at(t).store(0, Relaxed); // it holds arbitrary bits when the block starts
    block::sync();
    if let Some(byte) = text.get(thread::index_1d().get()) {
        own.at(usize::from(*byte)).fetch_add(1, Relaxed);
    }
    block::sync();
    counts[t].fetch_add(own.at(t).load(Relaxed), Relaxed);
}

/// A generic kernel. A part of a `Buffer` is an argument as well as a whole one.
#[gpu_kernel]
fn pick<T: DeviceData + Copy>(from: &[T], places: &[u32], mut to: DisjointSlice<T>) {
    let i = thread::index_1d();
    if let Some(to) = to.get_mut(i) {
        *to = from[places[i.get()] as usize]; // a panic if it is out of bounds
    }
}

#[test]
fn kernels_do_what_they_say() -> relocgpu_runtime::Result<()> {
    let device = Device::cpu()?; // the same in every run of the tests; `Device::best()` is what RELOCGPU_DEVICE says
    let mut image = device.zeroed::<u32>(64 * 30)?;
    gradient::launch(&device, Grid::over_2d((64, 30)), image.plane_mut((64, 30))?)?;
    assert_eq!(image.download()?[64 * 29 + 5], 29_005);

    let counts = device.zeroed::<AtomicU32>(256)?;
    histogram::launch(&device, Grid::over(5).with_block(256), &device.upload(b"hello")?, &counts)?;
    assert_eq!(counts.download()?[usize::from(b'l')].load(Relaxed), 2);

    let (from, places) = (device.upload(&[0.5, 1.5, 2.5])?, device.upload(&[2, 0, 7])?);
    let mut to = device.zeroed::<f64>(3)?;
    pick::launch(&device, Grid::over(2), &from, places.slice(..2)?, to.slice_mut(..2)?)?;
    assert_eq!(to.download()?, [2.5, 0.5, 0.0]);

    pick::launch(&device, Grid::over(3), &from, &places, &mut to)?;
    let error = device.synchronize().expect_err("a thread panicked");
    assert!(error.to_string().contains("index out of bounds: the len is 3 but the index is 7"), "{error}");
    Ok(())
}
