//! What a program of `cust` and this crate ask of the driver together, on the driver of relocgpu-runtime's unit tests, as
//! `.ci/run` builds it. With NVIDIA's own driver there is nothing to read the calls from, and the tests fail.

mod fake;

use cust::context::Context;
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use fake::{Fake, order};
use relocgpu_runtime::Error;
use relocgpu_runtime::prelude::*;

#[gpu_kernel]
fn amplify(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += host!(2.0f32) * x[i.get()];
    }
}

fn context(ordinal: u32) -> Context {
    cust::init(cust::CudaFlags::empty()).unwrap();
    Context::new(cust::device::Device::get_device(ordinal).unwrap()).unwrap()
}

fn stream() -> Stream {
    Stream::new(StreamFlags::NON_BLOCKING, None).unwrap()
}

#[test]
fn launches_inside_on_stream_are_in_order_with_it_and_nothing_waits() {
    let fake = Fake::get();
    let (context, xs, mut ys) = (context(0), [1.0f32, 2.0, 3.0], [0.0f32; 3]);
    let stream = stream();
    let device = Device::from_cust(&context).unwrap();
    let mut x = DeviceBuffer::from_slice(&[0.0f32; 3]).unwrap();
    let mut y = DeviceBuffer::from_slice(&ys).unwrap();
    // The first launch loads the image.
    amplify::launch(&device, Grid::over(3), &x, &mut y).unwrap();
    fake.log();
    // SAFETY: the host's memory and the buffers are used again only after the stream has been waited for.
    unsafe {
        x.async_copy_from(&xs, &stream).unwrap();
        let launch_twice = |device: &Device| {
            amplify::launch(device, Grid::over(3), &x, &mut y)?;
            amplify::launch(device, Grid::new((2, 1, 1), 2), &x, &mut y)
        };
        device.on_stream(&stream, launch_twice).unwrap();
        y.async_copy_to(&mut ys, &stream).unwrap();
    }
    let log = fake.log();
    let [first, second] = [(1, 256), (2, 2)].map(|(blocks, threads)| format!(" {blocks}x1x1 {threads}x1x1 32"));
    let order = order(&log);
    assert!(
        matches!(order[..], ["cuEventRecord", "cuStreamWaitEvent", a, b, "cuEventRecord", "cuStreamWaitEvent"]
        if a.ends_with(&first) && b.ends_with(&second)),
        "{log:#?}"
    );
    assert!(!log.iter().any(|call| call.ends_with("Synchronize")), "{log:#?}");
    stream.synchronize().unwrap();
    device.synchronize().unwrap();
    assert_eq!(ys, [4.0, 8.0, 12.0]);
}

#[test]
fn a_launch_outside_has_ended_when_it_returns() {
    let fake = Fake::get();
    let context = context(0);
    let device = Device::from_cust(&context).unwrap();
    let mut ys = [0.0f32; 2];
    {
        let (x, mut y) = (DeviceBuffer::from_slice(&[5.0f32, 6.0]).unwrap(), DeviceBuffer::from_slice(&[1.0f32, 1.0]).unwrap());
        amplify::launch(&device, Grid::over(2), &x, &mut y).unwrap();
        let log = fake.log();
        let launch = log.iter().position(|call| call.starts_with("launch ")).unwrap();
        assert!(log[launch..].iter().any(|call| call == "cuStreamSynchronize"), "{log:#?}");
        y.copy_to(&mut ys).unwrap();
    }
    assert_eq!(ys, [11.0, 13.0]);
    device.synchronize().unwrap();
}

#[test]
fn the_device_is_that_of_the_context_and_leaves_it_current() {
    let _fake = Fake::get();
    let (first, second) = (context(0), context(1));
    assert_eq!(Device::from_cust(&first).unwrap(), Device::cuda(0).unwrap());
    assert_eq!(Device::from_cust(&second).unwrap(), Device::cuda(1).unwrap());
    assert_ne!(Device::from_cust(&first).unwrap(), Device::from_cust(&second).unwrap());
    // `Context::new` has made the second one current on this thread.
    let buffer = DeviceBuffer::from_slice(&[1.0f32]).unwrap();
    assert!(Device::from_cust(&second).unwrap().upload(&[0u8]).is_ok());
    let mut y = DeviceBuffer::from_slice(&[1.0f32]).unwrap();
    amplify::launch(&Device::cuda(1).unwrap(), Grid::over(1), &buffer, &mut y).unwrap();
}

#[test]
fn what_is_of_another_device_is_an_error_that_names_both() {
    let _fake = Fake::get();
    let (first, _second) = (context(0), context(1));
    let device = Device::from_cust(&first).unwrap();
    // Made in the second context, which is current.
    let (far_x, far_stream) = (DeviceBuffer::from_slice(&[1.0f32]).unwrap(), stream());
    let mut y = device.zeroed::<f32>(1).unwrap();
    let text = amplify::launch(&device, Grid::over(1), &far_x, &mut y).unwrap_err().to_string();
    assert!(text.contains("launch: the buffer lies on device `another device or context` and is needed on `cuda:0`"), "{text}");
    // SAFETY: nothing is launched.
    let error = unsafe { device.on_stream(&far_stream, |_| -> relocgpu_runtime::Result<()> { panic!("it must not run") }) }.unwrap_err();
    assert!(matches!(&error, Error::OtherDevice { operation: "on_stream", needed_on, .. } if needed_on == "cuda:0"), "{error}");
    let cpu = Device::cpu().unwrap();
    let mut y = cpu.zeroed::<f32>(1).unwrap();
    let error = amplify::launch(&cpu, Grid::over(1), &far_x, &mut y).unwrap_err();
    assert!(matches!(&error, Error::OtherDevice { needed_on, .. } if needed_on == "cpu"), "{error}");
    // A refused launch is forgotten: the next one with buffers of this crate does not wait.
    let x = cpu.upload(&[1.0f32]).unwrap();
    amplify::launch(&cpu, Grid::over(1), &x, &mut y).unwrap();
    assert_eq!(y.download().unwrap(), [2.0]);
}

#[test]
fn calls_that_fail_are_errors_with_their_names() {
    let fake = Fake::get();
    let (context, stream) = (context(0), stream());
    let device = Device::from_cust(&context).unwrap();
    let (x, mut y) = (DeviceBuffer::from_slice(&[1.0f32]).unwrap(), device.zeroed::<f32>(1).unwrap());
    let call_of = |error: Error| match error {
        Error::Driver { call, code: 46, .. } => call,
        other => panic!("{other}"),
    };
    fake.fault("cuCtxGetDevice", 46);
    assert_eq!(call_of(Device::from_cust(&context).unwrap_err()), "cuCtxGetDevice");
    fake.fault("cuPointerGetAttribute", 46);
    fake.fault("cuPointerGetAttribute", 46);
    assert_eq!(call_of(amplify::launch(&device, Grid::over(1), &x, &mut y).unwrap_err()), "cuPointerGetAttribute");
    for call in ["cuStreamGetCtx", "cuStreamWaitEvent"] {
        fake.fault(call, 46);
        // SAFETY: nothing is launched.
        let error = unsafe { device.on_stream(&stream, |_| Ok(())) }.unwrap_err();
        assert_eq!(call_of(error), call);
    }
    amplify::launch(&device, Grid::over(1), &x, &mut y).unwrap();
    assert_eq!(y.download().unwrap(), [2.0]);
}
