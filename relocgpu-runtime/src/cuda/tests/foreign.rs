//! A program's own contexts, streams and memory.

use super::fake::Fake;
use super::work::{launch, module, read, upload};
use crate::backend::{Backend, DevicePtr};
use std::ffi::{c_int, c_void};

type Handle = *mut c_void;
type Code = c_int;

/// A program that calls the driver itself, with a context of its own current on this thread.
struct Program<'a>(&'a Fake);

/// CU_STREAM_NON_BLOCKING.
const NON_BLOCKING: u32 = 1;

impl<'a> Program<'a> {
    /// In the primary context of device 0, as `cust` and `cudarc` are.
    fn primary(fake: &'a Fake) -> (Self, Handle) {
        let mut context = std::ptr::null_mut();
        // SAFETY: the functions' signatures in fake.c.
        unsafe {
            assert_eq!(fake.function::<unsafe extern "C" fn(*mut Handle, c_int) -> Code>("cuDevicePrimaryCtxRetain")(&mut context, 0), 0);
            assert_eq!(fake.function::<unsafe extern "C" fn(Handle) -> Code>("cuCtxSetCurrent")(context), 0);
        }
        (Self(fake), context)
    }

    /// In a context of its own on this device.
    fn other(fake: &'a Fake, device: c_int) -> (Self, Handle) {
        let mut context = std::ptr::null_mut();
        // SAFETY: the function's signature in fake.c.
        let code =
            unsafe { fake.function::<unsafe extern "C" fn(*mut Handle, u32, c_int) -> Code>("cuCtxCreate_v2")(&mut context, 0, device) };
        assert_eq!(code, 0);
        (Self(fake), context)
    }

    fn stream(&self, flags: u32) -> Handle {
        let mut stream = std::ptr::null_mut();
        // SAFETY: the function's signature in fake.c.
        assert_eq!(unsafe { self.0.function::<unsafe extern "C" fn(*mut Handle, u32) -> Code>("cuStreamCreate")(&mut stream, flags) }, 0);
        stream
    }

    fn allocate(&self, bytes: usize, pool: Option<Handle>) -> DevicePtr {
        let mut at = 0;
        // SAFETY: the functions' signatures in fake.c.
        let code = unsafe {
            match pool {
                None => self.0.function::<unsafe extern "C" fn(*mut u64, usize) -> Code>("cuMemAlloc_v2")(&mut at, bytes),
                Some(stream) => {
                    self.0.function::<unsafe extern "C" fn(*mut u64, usize, Handle) -> Code>("cuMemAllocAsync")(&mut at, bytes, stream)
                }
            }
        };
        assert_eq!(code, 0);
        at
    }

    /// Copies in order with a stream; nothing is waited for.
    fn copy(&self, to: DevicePtr, from: DevicePtr, bytes: usize, stream: Handle) {
        // SAFETY: the function's signature in fake.c.
        let copy = unsafe { self.0.function::<unsafe extern "C" fn(u64, u64, usize, Handle) -> Code>("cuMemcpyDtoDAsync_v2") };
        // SAFETY: as above.
        assert_eq!(unsafe { copy(to, from, bytes, stream) }, 0);
    }
}

#[test]
fn launches_come_after_what_is_on_a_stream_and_before_what_is_put_there() {
    let fake = Fake::new();
    let (program, _) = Program::primary(&fake);
    let stream = program.stream(NON_BLOCKING);
    let cuda = fake.cuda();
    let module = module(&cuda);
    let (source, at, result) = (upload(&cuda, &[3.0]), upload(&cuda, &[100.0]), upload(&cuda, &[0.0]));
    cuda.synchronize().unwrap();
    program.copy(at, source, 4, stream);
    // SAFETY: the stream is alive and of this context.
    unsafe {
        assert!(cuda.has_stream(stream).unwrap());
        cuda.wait_for(stream).unwrap();
        launch(&*module, 0, at, 1, 2.0).unwrap();
        cuda.release_to(stream).unwrap();
    }
    program.copy(result, at, 4, stream);
    // SAFETY: the function's signature in fake.c.
    assert_eq!(unsafe { fake.function::<unsafe extern "C" fn(Handle) -> Code>("cuStreamSynchronize")(stream) }, 0);
    assert_eq!(read(&cuda, result, 1).unwrap(), [6.0]);
    assert_eq!(fake.get("fake_events_live"), 4, "those of the staging memory");
}

/// The same without the two orders: what is held by the test above is not an accident of the fake driver.
#[test]
fn streams_that_nothing_orders_are_not_in_order() {
    let fake = Fake::new();
    let (program, _) = Program::primary(&fake);
    let stream = program.stream(NON_BLOCKING);
    let cuda = fake.cuda();
    let module = module(&cuda);
    let (source, at) = (upload(&cuda, &[3.0]), upload(&cuda, &[100.0]));
    cuda.synchronize().unwrap();
    program.copy(at, source, 4, stream);
    launch(&*module, 0, at, 1, 2.0).unwrap();
    assert_eq!(read(&cuda, at, 1).unwrap(), [200.0]);
}

#[test]
fn blocking_streams_and_the_default_stream_are_in_order_with_the_queue() {
    let fake = Fake::new();
    let (program, _) = Program::primary(&fake);
    let cuda = fake.cuda();
    let module = module(&cuda);
    let (source, at, result) = (upload(&cuda, &[3.0]), upload(&cuda, &[100.0]), upload(&cuda, &[0.0]));
    program.copy(at, source, 4, std::ptr::null_mut());
    launch(&*module, 0, at, 1, 2.0).unwrap();
    program.copy(result, at, 4, std::ptr::null_mut());
    assert_eq!(read(&cuda, result, 1).unwrap(), [6.0]);
}

#[test]
fn what_is_of_another_context_or_device_is_known() {
    let fake = Fake::new();
    fake.set("fake_devices", 2);
    let (program, primary) = Program::primary(&fake);
    let cuda = fake.cuda();
    let own_stream = program.stream(NON_BLOCKING);
    let (own, plain, pool) = (cuda.allocate(64).unwrap(), program.allocate(64, None), program.allocate(64, Some(own_stream)));
    let (second, context) = Program::other(&fake, 0);
    let (other_stream, other_plain) = (second.stream(0), second.allocate(64, None));
    let (third, far_context) = Program::other(&fake, 1);
    let far_stream = third.stream(0);
    let far_pool = third.allocate(64, Some(far_stream));

    let has = |at| cuda.has_memory(at).unwrap();
    assert_eq!([own, plain, pool, other_plain, far_pool, 8].map(has), [true, true, true, false, false, false]);
    assert_eq!([primary, context, far_context].map(|context| cuda.is_context(context)), [true, false, false]);
    // SAFETY: all are alive.
    let streams = [own_stream, other_stream, far_stream].map(|stream| unsafe { cuda.has_stream(stream) }.unwrap());
    assert_eq!(streams, [true, false, false]);
}

#[test]
fn the_programs_own_context_stays_current_whatever_happens() {
    let fake = Fake::new();
    let (_, context) = Program::other(&fake, 0);
    let before = fake.stack();
    assert_eq!(before, (1, context.addr()));
    let check = |after: &str| assert_eq!(fake.stack(), before, "{after}");
    let cuda = fake.cuda();
    check("opening");
    let module = module(&cuda);
    check("loading");
    let at = upload(&cuda, &[1.0]);
    launch(&*module, 0, at, 1, 2.0).unwrap();
    assert_eq!(read(&cuda, at, 1).unwrap(), [2.0]);
    check("a launch and copies");
    fake.fault("cuMemAllocAsync", 0, 2);
    cuda.allocate(8).unwrap_err();
    check("an allocation that fails");
    launch(&*module, 2, at, 1, 0.0).unwrap();
    cuda.synchronize().unwrap_err();
    check("a panic");
    launch(&*module, 4, at, 1, 0.0).unwrap();
    cuda.synchronize().unwrap_err();
    check("the loss of the device");
    cuda.free(at, 4);
    drop((module, cuda));
    check("drops");
}
