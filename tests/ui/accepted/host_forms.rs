//! Every form of `host!` and `device!` in a crate that denies every lint that the expansion might raise. The word at a
//! symbol is `unsafe` to read, and the program's own to allow; nothing else is.
#![deny(warnings, missing_docs, unreachable_pub, dead_code, unused_variables, unused_mut, unused_qualifications, unsafe_code)]
#![forbid(non_camel_case_types, non_snake_case, non_upper_case_globals, private_interfaces, private_bounds, improper_ctypes_definitions)]
#![forbid(missing_debug_implementations, single_use_lifetimes, unnameable_types, missing_copy_implementations, let_underscore_drop)]
#![forbid(unused_lifetimes, unit_bindings, elided_lifetimes_in_paths, explicit_outlives_requirements, redundant_lifetimes, unused_results)]
#![deny(clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block)]
use relocgpu_runtime::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

fn gain() -> f32 {
    2.0
}
fn double(x: u32) -> u32 {
    x * 2
}

/// Of a function.
pub type Change = fn(u32) -> u32;
/// An item that kernels tell from others.
pub static RED: u32 = 1;
/// A table.
pub static CURVE: DeviceTable<f32> = host!(table: vec![1.0_f32; 4]);
/// Seen by host and kernels.
pub static STOP: Mapped<AtomicU32> = host!(mapped: AtomicU32::new(7));
/// Kept on the device.
pub static START: DeviceStatic<(u32, f32)> = device!(static: (5_u32, 1.5_f32));
/// Shared by a block.
pub static TILE: SharedArray<f32, 4> = device!(shared: [f32; 4]);
/// Addresses in a constant.
pub const WHICH: (HostRef<u32>, FnToken<Change>) = (host!(item: RED), host!(fn: double as fn(u32) -> u32));

/// The words of the forms that are safe to read.
#[gpu_kernel(delivery = table)]
pub fn words(mut out: DisjointSlice<'_, f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = host!(gain()) + CURVE[0] + START.1;
        if host!(|device| device.limits().threads_per_block) > 1 && host!(bound: "forms.on" as bool) {
            *out += 1.0;
        }
        if WHICH == (host!(item: RED), host!(fn: double as fn(u32) -> u32)) {
            STOP.store(START.0, Ordering::Relaxed);
        }
    }
}

/// The word at a symbol.
#[gpu_kernel]
#[expect(unsafe_code)]
pub fn stored(mut out: DisjointSlice<'_, u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        // SAFETY: nothing changes the variable while the program runs.
        *out = unsafe { host!(symbol: "environ" as u64) };
        // SAFETY: as above.
        *out += u64::from(unsafe { host!(symbol: "environ" as u32, offset: 4, library: "/lib/x86_64-linux-gnu/libc.so.6") });
    }
}

fn main() {
    // On the host each is its own value.
    relocgpu_runtime::bind("forms.on", true).expect("a name of no other type");
    let mut out = [0.0_f32];
    host::run(Grid::over(1), || words(DisjointSlice::from(&mut out[..])));
    assert_eq!((out[0].to_bits(), STOP.load(Ordering::Relaxed)), (5.5_f32.to_bits(), 5));
    assert_eq!(WHICH.1, FnToken::of(double as Change));
    let launches = || -> relocgpu_runtime::Result<()> {
        let device = Device::best()?;
        words::launch(&device, Grid::over(1), &mut device.zeroed(1)?)?;
        stored::launch(&device, Grid::over(1), &mut device.zeroed(1)?)
    };
    // The images of these programs are skipped.
    let _ = launches().is_err();
}
