//! What users write around and in a kernel's signature.
#![deny(warnings, missing_docs)]
use relocgpu_runtime::prelude::*;

/// Documented before the attribute.
#[gpu_kernel]
/// And after it.
#[cfg(target_os = "linux")]
#[cfg_attr(target_os = "linux", inline, allow(clippy::needless_pass_by_value))]
pub fn configured(_x: &[f32]) {}

#[cfg(any())]
#[gpu_kernel]
fn absent_before(x: &[Nothing]) {}

#[gpu_kernel]
#[cfg(any())]
fn absent_after(x: &[Nothing]) {}

#[gpu_kernel]
#[cfg_attr(target_os = "linux", cfg(any()))]
fn absent_by_cfg_attr(x: &[Nothing]) {}

#[gpu_kernel]
#[track_caller]
#[inline(never)]
fn tracked(_n: u32) {}

#[gpu_kernel]
const fn constant(_n: u32) {}

#[gpu_kernel]
#[deprecated = "use another"]
pub(crate) fn deprecated(_n: u32) {}

mod outer {
    pub mod inner {
        use relocgpu_runtime::prelude::*;

        #[gpu_kernel]
        pub(in super::super) fn scoped(_n: u32) {}

        #[gpu_kernel]
        pub(in crate::outer) fn narrow(_n: u32) {}
    }

    pub fn launch(device: &super::Device) -> relocgpu_runtime::Result<()> {
        inner::narrow::launch(device, super::Grid::over(1), 1)
    }
}

#[gpu_kernel]
fn r#match(r#type: u32, größe: u32) {
    let _ = (r#type, größe);
}

#[gpu_kernel]
fn größen(_: u32) {}

#[gpu_kernel]
#[allow(clippy::toplevel_ref_arg)]
fn patterns((a, b): (u32, u32), argument_0: u32, mut n: u32, [c, ..]: [u32; 2], _: u32, ref d: u32, e @ 0..=u32::MAX: u32) {
    n += a + b + argument_0 + c + *d + e;
    let _ = n;
}

#[gpu_kernel]
fn hygiene(device: u32, grid: u32, params: u32, kernel: u32, launch: u32, p0: u32) {
    let _ = (device, grid, params, kernel, launch, p0);
}

type Samples = [f32; 4];

#[gpu_kernel]
fn aliases<'a, T>(x: &'a [Samples], y: DisjointSlice<'a, T>)
where
    T: DeviceData + Copy,
    [T; 2]: DeviceData,
{
    let _ = (x, y);
}

/// Kernels of one repetition, with the same `host!` in each.
macro_rules! kernels {
    ($($name:ident: $ty:ty),*) => {$(
        #[gpu_kernel]
        fn $name(mut y: DisjointSlice<$ty>) {
            if let Some(y) = y.get_mut(thread::index_1d()) {
                *y = host!(2_u8).into();
            }
        }
    )*};
}
kernels!(fill_u32: u32, fill_f32: f32);

/// A helper for each: the first in this module, the second in one of its own.
macro_rules! helpers {
    ($($module:ident = $value:expr),*) => {$(
        mod $module {
            fn value() -> u32 {
                $value
            }
            pub fn get() -> u32 {
                relocgpu_runtime::host!(value())
            }
        }
    )*};
}
helpers!(one = 1, two = 2);

/// The same name twice, in two functions.
fn first(device: &Device) -> relocgpu_runtime::Result<()> {
    #[gpu_kernel]
    fn local(_n: u32) {}
    local::launch(device, Grid::over(1), 1)
}

fn launches(device: &Device) -> relocgpu_runtime::Result<()> {
    let grid = || Grid::over(1);
    configured::launch(device, grid(), &device.zeroed(1)?)?;
    tracked::launch(device, grid(), 1)?;
    constant::launch(device, grid(), 1)?;
    #[allow(deprecated)]
    deprecated::launch(device, grid(), 1)?;
    outer::inner::scoped::launch(device, grid(), 1)?;
    outer::launch(device)?;
    r#match::launch(device, grid(), 1, 2)?;
    größen::launch(device, grid(), 1)?;
    patterns::launch(device, grid(), (1, 2), 3, 4, [5, 6], 7, 8, 9)?;
    hygiene::launch(device, grid(), 1, 2, 3, 4, 5, 6)?;
    aliases::launch(device, grid(), &device.zeroed(1)?, &mut device.zeroed::<u32>(1)?)?;
    fill_u32::launch(device, grid(), &mut device.zeroed(1)?)?;
    fill_f32::launch(device, grid(), &mut device.zeroed(1)?)?;
    first(device)
}

fn main() {
    const { constant(1) };
    assert_eq!((one::get(), two::get()), (1, 2));
    let _ = Device::best().and_then(|device| launches(&device)).is_err();
}
