//! What is dropped while it is in use, and what is left in the end.

use super::fake::Fake;
use super::work::{launch, module, read, upload};
use crate::backend::Backend;
use crate::error::Error;

#[test]
fn buffers_and_modules_may_go_while_kernels_run() {
    for defines in [&[][..], &["WITHOUT_POOLS"]] {
        let fake = Fake::with(defines);
        let cuda = fake.cuda();
        let module = module(&cuda);
        let (a, b) = (upload(&cuda, &[1.0, 2.0]), upload(&cuda, &[0.0, 0.0]));
        launch(&*module, 0, a, 2, 5.0).unwrap();
        cuda.copy(b, a, 8).unwrap();
        cuda.free(a, 8);
        drop(module);
        assert_eq!(fake.get("fake_modules_live"), 1, "the kernel may still run");
        assert_eq!(read(&cuda, b, 2).unwrap(), [5.0, 10.0]);
        assert_eq!(fake.get("fake_modules_live"), 0);
        cuda.free(b, 8);
        drop(cuda);
        assert_eq!(fake.live(), [0; 6]);
    }
}

#[test]
fn without_pools_freed_memory_does_not_pile_up() {
    let fake = Fake::with(&["WITHOUT_POOLS"]);
    let cuda = fake.cuda();
    for _ in 0..5000 {
        let at = cuda.allocate(64).unwrap();
        cuda.free(at, 64);
    }
    assert!(fake.get("fake_blocks_live") <= 1100, "{}", fake.get("fake_blocks_live"));
}

#[test]
fn the_programs_own_context_stays_current() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    upload(&cuda, &[1.0]);
    cuda.synchronize().unwrap();
    let log = fake.log();
    let count = |name: &str| log.iter().filter(|call| *call == name).count();
    assert!(count("push") > 0 && count("push") == count("pop"), "{log:?}");
}

#[test]
fn a_module_that_cannot_be_unloaded_is_an_error_of_a_later_call() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    drop(module(&cuda));
    fake.fault("cuModuleUnload", 0, 1);
    cuda.synchronize().unwrap();
    let error = cuda.synchronize().unwrap_err();
    assert!(matches!(error, Error::Driver { call: "cuModuleUnload", .. }), "{error}");
    cuda.synchronize().unwrap();
}

#[test]
fn an_unreported_panic_of_a_dropped_module_is_still_seen() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let module = module(&cuda);
    launch(&*module, 2, 0, 1, 0.0).unwrap();
    drop(module);
    assert!(matches!(cuda.synchronize(), Err(Error::Panicked { .. })));
    cuda.synchronize().unwrap();
    drop(cuda);
    assert_eq!(fake.live(), [0; 6]);
}

#[test]
fn a_thousand_launches_leave_nothing_that_grows() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let module = module(&cuda);
    let at = upload(&cuda, &[1.0]);
    let before = fake.live();
    for _ in 0..1000 {
        launch(&*module, 0, at, 1, 1.0).unwrap();
    }
    assert_eq!(fake.live(), before);
    cuda.synchronize().unwrap();
}

#[test]
fn a_forked_child_is_told_so_and_leaves_the_parents_device_alone() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let at = upload(&cuda, &[1.0]);
    // SAFETY: the child uses this test's device only, whose locks no other thread holds, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let told = matches!(cuda.synchronize(), Err(Error::DeviceLost { cause, .. }) if cause.contains("open devices after the fork"));
        fake.log();
        cuda.free(at, 4);
        drop(cuda);
        let quiet = fake.log().is_empty();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(if told && quiet { 0 } else { 1 }) };
    }
    let mut status = -1;
    // SAFETY: the child of above.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(read(&cuda, at, 1).unwrap(), [1.0]);
}
