//! What a program of cudarc and this crate ask of the driver together, on the driver of relocgpu-runtime's unit tests, as
//! `.ci/run` builds it. With NVIDIA's own driver there is nothing to read the calls from, and the tests fail.

#[path = "../../cust_interop/tests/fake/mod.rs"]
mod fake;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use fake::{Fake, order};
use relocgpu_runtime::Error;
use relocgpu_runtime::interop::ForeignBuffer;
use relocgpu_runtime::prelude::*;
use std::sync::Arc;

#[gpu_kernel]
fn amplify(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += host!(2.0f32) * x[i.get()];
    }
}

/// Never launched here: that its arguments are taken is what counts.
#[gpu_kernel]
fn fill(mut y: DisjointSlice<f32, Plane>) {
    if let Some(y) = y.get_mut(thread::index_2d()) {
        *y = 1.0;
    }
}

fn ready(ordinal: usize) -> (Arc<CudaContext>, Arc<CudaStream>, Device) {
    let context = CudaContext::new(ordinal).unwrap();
    let stream = context.new_stream().unwrap();
    let device = Device::from_cudarc(&context).unwrap();
    (context, stream, device)
}

#[test]
fn a_launch_comes_after_what_is_on_the_slices_streams_and_has_ended() {
    let fake = Fake::get();
    let (context, stream, device) = ready(0);
    let other = context.new_stream().unwrap();
    let (xs, ones) = ([1.0f32, 2.0, 3.0], [1.0f32; 3]);
    let (x, mut y) = (stream.clone_htod(&xs).unwrap(), other.clone_htod(&ones).unwrap());
    amplify::launch(&device, Grid::over(3), &x, &mut y).unwrap();
    let log = fake.log();
    let launch = log.iter().position(|call| call.starts_with("launch ")).unwrap();
    assert!(log[launch].ends_with(" 1x1x1 256x1x1 32"), "{log:#?}");
    assert!(log[launch..].iter().any(|call| call == "cuStreamSynchronize"), "{log:#?}");
    drop(x);
    assert_eq!(other.clone_dtoh(&y).unwrap(), [3.0, 5.0, 7.0]);
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [3.0, 5.0, 7.0], "what another stream of cudarc's reads");
    context.check_err().unwrap();
}

#[test]
fn the_last_write_on_any_stream_is_seen() {
    let _fake = Fake::get();
    let (context, stream, device) = ready(0);
    let other = context.new_stream().unwrap();
    let (zeros, xs) = ([0.0f32; 2], [10.0f32, 20.0]);
    let mut x = stream.clone_htod(&zeros).unwrap();
    let mut y = stream.alloc_zeros::<f32>(2).unwrap();
    // Not on the slice's own stream; cudarc knows.
    other.memcpy_htod(&xs, &mut x).unwrap();
    amplify::launch(&device, Grid::over(2), &x, &mut y).unwrap();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [20.0, 40.0]);
}

#[test]
fn launches_inside_on_stream_are_in_order_with_it_and_nothing_waits() {
    let fake = Fake::get();
    let (_context, stream, device) = ready(0);
    let xs = [1.0f32, 2.0];
    let (x, mut y) = (stream.clone_htod(&xs).unwrap(), stream.alloc_zeros::<f32>(2).unwrap());
    amplify::launch(&device, Grid::over(2), &x, &mut y).unwrap();
    fake.log();
    // SAFETY: both slices are used on this stream alone, which frees them.
    unsafe { device.on_stream(&stream, |device| amplify::launch(device, Grid::over(2), &x, &mut y)) }.unwrap();
    let log = fake.log();
    let order = order(&log);
    let launch = order.iter().position(|call| call.starts_with("launch ")).unwrap();
    assert!(order[..launch].contains(&"cuStreamWaitEvent") && order[launch + 1..] == ["cuEventRecord", "cuStreamWaitEvent"], "{log:#?}");
    assert!(!log.iter().any(|call| call.ends_with("Synchronize")), "{log:#?}");
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [4.0, 8.0]);
}

#[test]
fn views_and_copies_are_taken_as_well() {
    let _fake = Fake::get();
    let (context, stream, device) = ready(0);
    let xs = [1.0f32, 2.0, 3.0, 4.0];
    let (x, mut y) = (stream.clone_htod(&xs).unwrap(), stream.alloc_zeros::<f32>(4).unwrap());
    amplify::launch(&device, Grid::over(2), &x.slice(1..3), &mut y.slice_mut(2..)).unwrap();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [0.0, 0.0, 4.0, 6.0]);
    amplify::launch(&device, Grid::over(1), &x.slice(..0), &mut y.slice_mut(..0)).unwrap();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [0.0, 0.0, 4.0, 6.0], "views without elements");
    // The default stream, and a copy that has ended when it returns: the slice may go.
    let default = context.default_stream();
    let mut buffer = device.zeroed::<f32>(4).unwrap();
    {
        let z = default.clone_htod(&xs).unwrap();
        buffer.copy_from(&z).unwrap();
    }
    assert_eq!(buffer.download().unwrap(), xs);
    let text = y.plane_mut((3, 2)).err().unwrap().to_string();
    assert!(text.contains("plane_mut: 3 × 2 elements for a buffer of 4"), "{text}");
    assert!(y.plane_mut((2, 2)).is_ok());
    // The fake driver has no such kernel: that the types fit is what counts.
    let _launch = |device: &Device, y: &mut CudaSlice<f32>| fill::launch(device, Grid::over(4), y.plane_mut((2, 2))?);
}

#[test]
fn what_is_of_another_device_or_context_is_an_error_that_names_it() {
    let fake = Fake::get();
    let ((first, _, device), (_, far_stream, far)) = (ready(0), ready(1));
    assert_ne!(device, far);
    assert_eq!(Device::from_cudarc(&first).unwrap(), Device::cuda(0).unwrap());
    let values = [1.0f32];
    let far_x = far_stream.clone_htod(&values).unwrap();
    let mut y = device.zeroed::<f32>(1).unwrap();
    let text = amplify::launch(&device, Grid::over(1), &far_x, &mut y).unwrap_err().to_string();
    assert!(text.contains("launch: the buffer lies on device `another device or context` and is needed on `cuda:0`"), "{text}");
    // SAFETY: nothing is launched.
    let error = unsafe { device.on_stream(&far_stream, |_| -> relocgpu_runtime::Result<()> { panic!("it must not run") }) }.unwrap_err();
    assert!(matches!(&error, Error::OtherDevice { operation: "on_stream", .. }), "{error}");
    let own = CudaContext::new_non_primary(0, 0).unwrap();
    let text = Device::from_cudarc(&own).unwrap_err().to_string();
    assert!(text.contains("not the primary one of its GPU; make it with `CudaContext::new`"), "{text}");
    drop(own);
    fake.fault("cuCtxGetDevice", 46);
    assert!(matches!(Device::from_cudarc(&first).unwrap_err(), Error::Driver { call: "cuCtxGetDevice", code: 46, .. }));
}
