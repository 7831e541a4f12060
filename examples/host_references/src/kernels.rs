//! Kernels that refer to the host, and the host items that they refer to.

use relocgpu_runtime::prelude::*;
use std::sync::atomic::AtomicU32;

/// A host item that kernels know by its address.
static HITS: AtomicU32 = AtomicU32::new(7);

/// A host function that kernels know by its address.
fn on_the_host(x: u32) -> u32 {
    x + 1
}

/// A run-time setting.
fn gain() -> f32 {
    std::env::var("GAIN").ok().and_then(|text| text.parse().ok()).unwrap_or(2.0)
}

/// What the program was told to count up to.
fn limit() -> u64 {
    1_000_000_007
}

/// The sign between two fields.
fn separator() -> char {
    'λ'
}

/// Weights that a program could as well read from a file.
fn weights() -> Vec<f32> {
    (0..8).map(|i| 1.0 / (i + 1) as f32).collect()
}

static WEIGHTS: DeviceTable<f32> = host!(table: weights());

/// Each element times a setting, a table's entry and what is left of a host integer.
#[gpu_kernel]
fn scale(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let k = i.get() % WEIGHTS.len();
        *y = x[i.get()] * host!(gain()) * WEIGHTS[k] + (host!(limit()) % (k as u64 + 2)) as f32;
    }
}

/// Which host item each handle is: 1 the static, 2 the function, 3 the character, -1 none of them.
#[gpu_kernel]
fn identify(handles: &[u64], mut which: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(which) = which.get_mut(i) {
        let handle = handles[i.get()];
        *which = if handle == host!(&raw const HITS).addr() as u64 {
            1
        } else if handle == host!(on_the_host as *const ()).addr() as u64 {
            2
        } else if handle == u64::from(host!(separator()) as u32) {
            3
        } else {
            -1
        };
    }
}

fn inputs() -> Vec<f32> {
    (0..12).map(|i| i as f32).collect()
}

/// Runs [`scale()`].
pub fn run_scale(device: &Device) -> relocgpu_runtime::Result<Vec<f32>> {
    let xs = inputs();
    let x = device.upload(&xs)?;
    let mut y = device.zeroed::<f32>(xs.len())?;
    scale::launch(device, Grid::over(xs.len()), &x, &mut y)?;
    y.download()
}

/// What [`run_scale`] has to yield.
pub fn expected_scale() -> Vec<f32> {
    let weights = weights();
    let indices = (0..inputs().len()).map(|i| i % weights.len());
    inputs().iter().zip(indices).map(|(x, k)| x * gain() * weights[k] + (limit() % (k as u64 + 2)) as f32).collect()
}

/// What [`run_identify`] has to yield.
pub const EXPECTED_IDENTITIES: [i32; 5] = [2, 1, -1, 3, 1];

/// Runs [`identify()`].
pub fn run_identify(device: &Device) -> relocgpu_runtime::Result<Vec<i32>> {
    let counter = (&raw const HITS).addr() as u64;
    let function = (on_the_host as *const ()).addr() as u64;
    let handles = device.upload(&[function, counter, counter + 1, u64::from(u32::from(separator())), counter])?;
    let mut which = device.zeroed::<i32>(handles.len())?;
    identify::launch(device, Grid::over(handles.len()), &handles, &mut which)?;
    which.download()
}
