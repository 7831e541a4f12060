//! Kernels with every kind of generic parameter, and the ways to launch them.
use relocgpu_runtime::prelude::*;

trait Op<'a>: Copy {
    fn apply(self, x: f32) -> f32;
}

#[derive(Clone, Copy, DeviceData)]
struct Add(f32);
impl Op<'_> for Add {
    fn apply(self, x: f32) -> f32 {
        x + self.0
    }
}

#[derive(Clone, Copy, DeviceData)]
struct Pair<T>(T, T)
where
    T: Copy;

#[gpu_kernel]
#[inline]
fn all<'a, T, O: for<'b> Op<'b> + DeviceData, const N: usize>(
    x: &'a [T],
    mut y: DisjointSlice<'a, [T; N], Linear>,
    (_a, _b): (u32, u32),
    op: O,
    _: Pair<T>,
) where
    T: DeviceData + Copy + Into<f32>,
{
    let i = thread::index_1d();
    let _ = op.apply(x[0].into());
    if let Some(y) = y.get_mut(i) {
        *y = [x[0]; N];
    }
}

#[gpu_kernel]
fn named_lifetime<'a, T: Op<'a> + DeviceData>(x: &'a [u32], _op: T) {
    let _ = x;
}

#[gpu_kernel]
fn without_values<const UP: bool, F: 'static>() {}

#[gpu_kernel]
unsafe fn careful(x: &[u32]) {
    let _ = x;
}

/// Kernels made by a macro.
macro_rules! kernels {
    ($($name:ident: $ty:ty = $value:expr),*) => {$(
        #[gpu_kernel]
        fn $name(x: &[$ty], by: $ty) {
            let _ = (x, by, host!($value));
        }
    )*};
}
kernels!(scale_f32: f32 = 1.0_f32, scale_u32: u32 = 1_u32);

fn launches(device: &Device) -> relocgpu_runtime::Result<()> {
    let grid = || Grid::over(1);
    let x = device.zeroed::<f32>(1)?;
    let mut y = device.zeroed::<[f32; 4]>(1)?;
    all::launch::<f32, Add, 4>(device, grid(), &x, &mut y, (1, 2), Add(1.0), Pair(1.0, 2.0))?;
    all::launch(device, grid(), &x, &mut y, (1, 2), Add(1.0), Pair(1.0, 2.0))?;
    let x = device.zeroed::<u32>(1)?;
    named_lifetime::launch(device, grid(), &x, Add(1.0))?;
    without_values::launch::<true, fn()>(device, grid())?;
    scale_f32::launch(device, grid(), &device.zeroed(1)?, 1.0)?;
    scale_u32::launch(device, grid(), &x, 1)?;
    // SAFETY: the kernel does nothing.
    unsafe { careful::launch(device, grid(), &x) }
}

fn main() {
    let _ = Device::best().and_then(|device| launches(&device)).is_err();
}
