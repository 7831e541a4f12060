//! Kernels that are no free functions, each told once.
use relocgpu_runtime::prelude::*;

struct Camera;

impl Camera {
    #[gpu_kernel]
    fn associated(_x: &[f32]) {}

    #[gpu_kernel]
    fn method(&self, _x: &[f32]) {}

    #[gpu_kernel]
    pub fn documented<T: DeviceData>(_x: &[T], _y: DisjointSlice<T>) {}
}

trait Develop {
    #[gpu_kernel]
    fn required(_x: &[f32]);

    #[gpu_kernel]
    fn provided(_x: &[f32]) {}
}

impl Develop for Camera {
    #[gpu_kernel]
    fn required(_x: &[f32]) {}
}

unsafe extern "C" {
    #[gpu_kernel]
    fn foreign(_x: u32);
}

#[gpu_kernel]
#[gpu_kernel]
fn twice(_x: &[f32]) {}

#[gpu_kernel]
fn no_body(_x: &[f32]);

fn main() {
    #[gpu_kernel]
    fn local(_x: &[f32]) {}

    struct Inner;
    impl Inner {
        #[gpu_kernel]
        fn associated(_x: &[f32]) {}
    }
    Camera::associated(&[]);
    let device = Device::cpu().unwrap();
    local::launch(&device, Grid::over(1), &device.zeroed(1).unwrap()).unwrap();
}
