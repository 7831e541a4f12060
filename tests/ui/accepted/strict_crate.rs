//! A crate that forbids what the expansion holds, and denies every lint that it might raise.
#![forbid(unsafe_code, missing_docs, unreachable_pub, dead_code, unused_variables, unused_mut, unused_qualifications)]
#![forbid(non_camel_case_types, non_snake_case, non_upper_case_globals, private_interfaces, private_bounds, improper_ctypes_definitions)]
#![forbid(missing_debug_implementations, single_use_lifetimes, unnameable_types, missing_copy_implementations, let_underscore_drop)]
#![forbid(unused_lifetimes, unit_bindings, elided_lifetimes_in_paths, explicit_outlives_requirements, redundant_lifetimes, unused_results)]
#![deny(warnings, clippy::all, clippy::pedantic, clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block)]
use relocgpu_runtime::prelude::*;

fn gain() -> f32 {
    2.0
}

/// A table.
pub static CURVE: DeviceTable<f32> = host!(table: vec![1.0_f32; 4]);
/// Shared by a block.
pub static TILE: SharedArray<f32, 4> = device!(shared: [f32; 4]);

/// A kernel whose parameters are named as the expansion's own, never launched.
#[gpu_kernel]
pub fn named(device: u32, grid: u32, params: u32, kernel: u32, r#type: f32, launch: u32) {
    let _ = (device, grid, params, kernel, r#type, launch, host!(gain()), CURVE.len());
}

/// Data.
#[derive(Clone, Copy, Debug, DeviceData)]
pub struct Pair<T> {
    /// One.
    pub a: T,
    /// Other.
    pub r#b: u8,
}

/// Mode.
#[derive(Clone, Copy, Debug, DeviceData)]
#[repr(u8)]
pub enum Mode {
    /// One.
    A = 1,
    /// Other.
    B,
}

/// What is said of the function holds for its launch.
#[gpu_kernel]
#[doc(hidden)]
#[expect(clippy::type_complexity)]
#[allow(clippy::too_many_arguments)]
pub fn complex(
    x: [((u32, [u32; 2]), (u32, [u32; 2]), (u32, [[u32; 2]; 3]), ((u32, u32), (u32, [u32; 2]))); 2],
    _b: u32,
    _c: u32,
    _d: u32,
    _e: u32,
    _f: u32,
    _g: u32,
    _h: u32,
) {
    let _ = x;
}

mod inner {
    use relocgpu_runtime::prelude::*;

    #[gpu_kernel]
    pub(super) fn named(x: &[super::Mode]) {
        let _ = x;
    }

    #[gpu_kernel]
    #[cfg(any())]
    pub(super) fn absent(x: &[super::Nothing]) {
        let _ = x;
    }
}

#[gpu_kernel]
fn r#type() {}

fn main() {
    #[gpu_kernel]
    fn local(x: &[f32]) {
        let _ = x;
    }
    let launches = || -> relocgpu_runtime::Result<()> {
        let device = Device::best()?;
        local::launch(&device, Grid::over(1), &device.zeroed(1)?)?;
        inner::named::launch(&device, Grid::over(1), &device.upload(&[Mode::A, Mode::B])?)?;
        r#type::launch(&device, Grid::over(1))
    };
    // The images of these programs are skipped.
    let _ = launches().is_err();
}
