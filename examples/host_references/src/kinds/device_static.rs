//! `device!(static: value)`: memory of the device that stays, with a handle on the host.

use crate::Shown;
use relocgpu_runtime::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

static HISTOGRAM: DeviceStatic<[AtomicU32; 4]> = device!(static: [const { AtomicU32::new(0) }; 4]);

#[gpu_kernel]
fn count(values: &[u32]) {
    if let Some(value) = values.get(thread::index_1d().get()) {
        HISTOGRAM[(value % 4) as usize].fetch_add(1, Ordering::Relaxed);
    }
}

pub fn show(device: &Device) -> relocgpu_runtime::Result<Shown> {
    HISTOGRAM.write(device, &[5, 0, 0, 0].map(AtomicU32::new))?;
    let values = device.upload(&[0, 1, 1, 2, 5, 9, 4])?;
    count::launch(device, Grid::over(values.len()), &values)?;
    count::launch(device, Grid::over(values.len()), &values)?;
    Ok(Shown::new("device static", &HISTOGRAM.read(device)?.map(AtomicU32::into_inner), &[9, 8, 2, 0]))
}
