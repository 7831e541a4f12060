//! `host!(expression)` of a raw pointer: the address of a host item, as a value.

use crate::Shown;
use relocgpu_runtime::prelude::*;
use std::sync::atomic::AtomicU32;

static HITS: AtomicU32 = AtomicU32::new(7);

fn on_the_host(x: u32) -> u32 {
    x + 1
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
        } else if handle == u64::from(host!('λ') as u32) {
            3
        } else {
            -1
        };
    }
}

pub fn show(device: &Device) -> relocgpu_runtime::Result<Shown> {
    let counter = (&raw const HITS).addr() as u64;
    let function = (on_the_host as *const ()).addr() as u64;
    let handles = device.upload(&[function, counter, counter + 1, u64::from('λ'), counter])?;
    let mut which = device.zeroed::<i32>(handles.len())?;
    identify::launch(device, Grid::over(handles.len()), &handles, &mut which)?;
    Ok(Shown::new("pointers", &which.download()?, &[2, 1, -1, 3, 1]))
}
