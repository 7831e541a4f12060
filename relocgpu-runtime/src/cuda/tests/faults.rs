//! Calls of the driver that fail.

use super::fake::{Fake, PTX, entry, image, kernel};
use super::work::{launch, module, read, upload, words};
use crate::backend::Backend;
use crate::error::Error;

#[test]
fn the_driver_compilers_log_is_in_the_error() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let error = cuda.load(image(vec![entry(75, (6, 3), "bad line 3; unexpected `+`")], vec![], &[]), &words(&[], &[])).err().unwrap();
    let text = error.to_string();
    for part in [
        "image fake 1.0.0 (bin fake)",
        "PTX 6.3 for sm_75 on cuda:0 (sm_90), driver for CUDA 12.2",
        "218",
        "CUDA_ERROR_INVALID_PTX",
        "ptxas fatal: line 3; unexpected `+`",
        "please report it",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    cuda.synchronize().unwrap();
}

#[test]
fn ptx_newer_than_the_driver_names_both_and_the_remedy() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    fake.fault("cuModuleLoadDataEx", 0, 222);
    let error = cuda.load(image(vec![entry(75, (8, 4), PTX)], vec![], &[]), &words(&[], &[])).err().unwrap();
    let text = error.to_string();
    for part in [
        "222",
        "PTX 8.4 for sm_75, which needs a driver for CUDA 12.4 or later",
        "driver of cuda:0 (sm_90) is for CUDA 12.2",
        "install a newer driver",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn an_entry_that_the_driver_refuses_gives_way_to_the_next() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    fake.fault("cuModuleLoadDataEx", 0, 209);
    let ptx = vec![entry(75, (6, 3), PTX), entry(90, (8, 0), PTX)];
    cuda.load(image(ptx, vec![kernel("scale", false)], &[]), &words(&[], &[])).unwrap();
}

#[test]
fn no_entry_for_the_gpu_is_an_error_of_its_own() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let error = cuda.load(image(vec![entry(120, (8, 7), PTX)], vec![], &[]), &words(&[], &[])).err().unwrap();
    assert!(matches!(&error, Error::NoEntry { reason, .. } if reason.contains("code for sm_120 and above")), "{error}");
}

#[test]
fn out_of_memory_says_how_much() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    fake.fault("cuMemAllocAsync", 1, 2);
    cuda.allocate(64).unwrap();
    assert_eq!(cuda.allocate(4096), Err(Error::OutOfMemory { device: "cuda:0".into(), bytes: 4096 }));
    cuda.allocate(64).unwrap();
}

#[test]
fn memory_that_waits_for_the_queue_is_reclaimed_before_giving_up() {
    for defines in [&[][..], &["WITHOUT_POOLS"]] {
        let fake = Fake::with(defines);
        let cuda = fake.cuda();
        let at = cuda.allocate(64).unwrap();
        cuda.free(at, 64);
        fake.fault(if defines.is_empty() { "cuMemAllocAsync" } else { "cuMemAlloc_v2" }, 0, 2);
        fake.log();
        cuda.allocate(128).unwrap();
        assert!(fake.log().contains(&"cuStreamSynchronize".into()));
    }
}

#[test]
fn a_trap_ends_the_device_and_names_the_kernel() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let module = module(&cuda);
    let at = upload(&cuda, &[1.0]);
    launch(&*module, 0, at, 1, 2.0).unwrap();
    cuda.synchronize().unwrap();
    launch(&*module, 4, at, 1, 2.0).unwrap();
    let error = cuda.synchronize().unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
    for part in ["device `cuda:0` is lost", "719", "CUDA_ERROR_LAUNCH_FAILED", "(the kernel is `k::trap`)", "restart the program"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    // Every later call says the same, and none reaches the driver.
    fake.log();
    assert_eq!(cuda.allocate(8).unwrap_err(), error);
    assert_eq!(cuda.write(at, super::work::bytes(&[1.0f32])).unwrap_err(), error);
    assert_eq!(cuda.zero(at, 4).unwrap_err(), error);
    assert_eq!(cuda.copy(at, at, 4).unwrap_err(), error);
    assert_eq!(read(&cuda, at, 1).unwrap_err(), error);
    assert_eq!(launch(&*module, 0, at, 1, 2.0).unwrap_err(), error);
    assert_eq!(cuda.synchronize().unwrap_err(), error);
    assert_eq!(cuda.time(&mut || Ok(())).unwrap_err(), error);
    let loaded = cuda.load(image(vec![entry(75, (6, 3), PTX)], vec![], &[]), &words(&[], &[]));
    assert_eq!(loaded.err().unwrap(), error);
    cuda.free(at, 4);
    drop((module, cuda));
    assert_eq!(fake.log(), ["cuDevicePrimaryCtxRelease_v2"]);
}

#[test]
fn several_suspects_are_all_named() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let module = module(&cuda);
    let at = upload(&cuda, &[1.0]);
    launch(&*module, 0, at, 1, 2.0).unwrap();
    launch(&*module, 4, at, 1, 2.0).unwrap();
    let text = cuda.synchronize().unwrap_err().to_string();
    assert!(text.contains("one of those since the device was last waited for: `k::scale`, `k::trap`"), "{text}");
}

#[test]
fn a_context_destroyed_by_other_code_is_a_lost_device() {
    for call in ["push", "cuStreamSynchronize"] {
        let fake = Fake::new();
        let cuda = fake.cuda();
        fake.fault(call, 0, if call == "push" { 201 } else { 709 });
        let text = cuda.synchronize().unwrap_err().to_string();
        assert!(text.contains("is lost") && text.contains("destroyed or reset it"), "{text}");
        assert!(matches!(cuda.allocate(8), Err(Error::DeviceLost { .. })));
    }
}

#[test]
fn an_error_without_a_caller_is_kept_for_the_next() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let at = cuda.allocate(8).unwrap();
    fake.fault("cuMemFreeAsync", 0, 1);
    cuda.free(at, 8);
    let error = cuda.allocate(8).unwrap_err();
    assert!(matches!(error, Error::Driver { call: "cuMemFreeAsync", code: 1, .. }), "{error}");
    cuda.allocate(8).unwrap();
}

#[test]
fn a_kept_error_does_not_let_a_read_return_early() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let at = upload(&cuda, &[4.0]);
    let other = cuda.allocate(8).unwrap();
    fake.fault("cuMemFreeAsync", 0, 1);
    cuda.free(other, 8);
    fake.log();
    read(&cuda, at, 1).unwrap_err();
    assert!(fake.log().contains(&"cuStreamSynchronize".into()), "the copy into the buffer is over");
    assert_eq!(read(&cuda, at, 1).unwrap(), [4.0]);
}

#[test]
fn a_failing_copy_or_allocation_of_the_loader_leaves_nothing() {
    for (call, after) in [
        ("cuMemHostAlloc", 4),
        ("cuMemcpyHtoDAsync_v2", 1),
        ("cuMemHostGetDevicePointer_v2", 0),
        ("cuModuleGetFunction", 2),
        ("cuFuncGetAttribute", 0),
    ] {
        let fake = Fake::new();
        let cuda = fake.cuda();
        upload(&cuda, &[1.0]);
        fake.fault(call, if call == "cuMemHostAlloc" { 0 } else { after }, 1);
        let kernels = vec![kernel("scale", false), kernel("add_slots", false), kernel("panic_a", true)];
        let loaded = cuda.load(image(vec![entry(75, (6, 3), PTX)], kernels, super::work::RECORDS), &words(&[2, 40], &[7, 8]));
        assert!(matches!(loaded.err().unwrap(), Error::Driver { call: found, .. } if found == call), "{call}");
        cuda.synchronize().unwrap();
        assert_eq!(fake.get("fake_modules_live"), 0, "{call}");
        assert_eq!(fake.get("fake_pinned_live"), 4, "{call}");
    }
}

/// Those after which, by the manual, "the context cannot be used" or "any further CUDA work will return the same error".
#[test]
fn every_error_that_ends_a_context_loses_the_device() {
    for code in [4, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999] {
        for call in ["cuStreamSynchronize", "cuLaunchKernel", "cuMemcpyDtoHAsync_v2"] {
            let fake = Fake::new();
            let cuda = fake.cuda();
            let module = module(&cuda);
            let at = upload(&cuda, &[1.0]);
            fake.fault(call, 0, code);
            let error = launch(&*module, 0, at, 1, 2.0).and_then(|()| read(&cuda, at, 1)).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, Error::DeviceLost { .. }), "{text}");
            assert!(text.contains(&format!("{call} failed with {code}, CUDA_ERROR_")) && text.contains("`k::scale`"), "{text}");
            fake.log();
            assert_eq!(cuda.allocate(8).unwrap_err(), error);
            cuda.free(at, 4);
            drop((module, cuda));
            assert_eq!(fake.log(), ["cuDevicePrimaryCtxRelease_v2"], "{code}");
        }
    }
}

#[test]
fn other_errors_pass() {
    for code in [1, 2, 46, 101, 500, 801, 802, 12345] {
        let fake = Fake::new();
        let cuda = fake.cuda();
        let at = upload(&cuda, &[1.0]);
        fake.fault("cuMemcpyDtoHAsync_v2", 0, code);
        let error = read(&cuda, at, 1).unwrap_err();
        assert!(matches!(&error, Error::Driver { call: "cuMemcpyDtoHAsync_v2", code: found, .. } if *found == code), "{error}");
        assert_eq!(read(&cuda, at, 1).unwrap(), [1.0], "{code}");
    }
}

#[test]
fn what_the_driver_says_to_ptx_names_image_call_and_remedy() {
    for (code, remedy) in [
        (200, "build the program again"),
        (218, "relocgpu inspect --extract"),
        (221, "NVIDIA_DRIVER_CAPABILITIES"),
        (223, "unset CUDA_DISABLE_PTX_JIT"),
        (300, "see CUresult"),
    ] {
        let fake = Fake::new();
        let cuda = fake.cuda();
        fake.fault("cuModuleLoadDataEx", 0, code);
        let ptx = vec![entry(75, (6, 3), PTX), entry(80, (7, 0), PTX)];
        let error = cuda.load(image(ptx, vec![], &[]), &words(&[], &[])).err().unwrap();
        let text = error.to_string();
        assert!(matches!(error, Error::Load { .. }), "{text}");
        assert!(text.contains("image fake 1.0.0 (bin fake)") && text.contains(&format!("cuModuleLoadDataEx failed with {code}")), "{text}");
        assert!(text.contains(remedy), "{text}");
        cuda.synchronize().unwrap();
        assert_eq!(fake.get("fake_modules_live"), 0);
    }
}

/// Memory that the driver itself lacks, wherever it is asked for: an error, and everything works again afterwards.
#[test]
fn out_of_memory_anywhere_is_an_error_that_passes() {
    for call in ["cuMemHostAlloc", "cuEventCreate", "cuModuleLoadDataEx", "cuLaunchKernel"] {
        let fake = Fake::new();
        let cuda = fake.cuda();
        fake.fault(call, 0, 2);
        let run = || {
            let kernels = vec![kernel("scale", false)];
            let module = cuda.load(image(vec![entry(75, (6, 3), PTX)], kernels, &[]), &words(&[], &[]))?;
            let at = cuda.allocate(4)?;
            cuda.write(at, super::work::bytes(&[1.0f32]))?;
            launch(&*module, 0, at, 1, 3.0)?;
            read(&cuda, at, 1)
        };
        let text = run().unwrap_err().to_string();
        assert!(text.contains(call) && text.contains("not enough memory; drop buffers"), "{text}");
        assert_eq!(run().unwrap(), [3.0], "{call}");
    }
}
