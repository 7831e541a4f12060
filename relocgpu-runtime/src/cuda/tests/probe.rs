//! What is there, what is not, what does not work.

use super::fake::{Fake, PTX, entry, image};
use crate::backend::{Backend, Missing};
use crate::cuda::Cuda;
use crate::cuda::driver::Driver;
use crate::error::Error;
use std::mem::MaybeUninit;

fn absent(missing: Missing) -> String {
    match missing {
        Missing::Absent(reason) => reason,
        Missing::Broken(error) => panic!("broken: {error}"),
    }
}

fn broken(missing: Missing) -> Error {
    match missing {
        Missing::Absent(reason) => panic!("absent: {reason}"),
        Missing::Broken(error) => error,
    }
}

#[test]
fn no_library_is_an_absent_driver() {
    let reason = absent(Driver::open(&["librelocgpu-no-such-driver.so.1", "librelocgpu-no-such-driver.so"]).err().unwrap());
    assert!(reason.starts_with("there is no CUDA driver (") && reason.contains("librelocgpu-no-such-driver.so.1"), "{reason}");
}

#[test]
fn a_library_that_cannot_be_loaded_is_a_broken_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libcuda.so.1");
    std::fs::write(&path, [0x7f; 4096]).unwrap();
    let error = broken(Driver::open(&[&path]).err().unwrap());
    assert!(error.to_string().contains("install NVIDIA's driver anew"), "{error}");
}

#[test]
fn no_gpu_is_absent_whichever_way_the_driver_says_it() {
    for fault in [true, false] {
        let fake = Fake::new();
        if fault {
            fake.fault("cuInit", 0, 100);
        } else {
            fake.set("fake_devices", 0);
        }
        assert!(absent(fake.open().err().unwrap()).starts_with("the CUDA driver finds no GPU"));
    }
}

#[test]
fn a_driver_that_does_not_start_is_broken_and_says_what_to_do() {
    for (code, remedy) in
        [(803, "restart the machine"), (802, "nvidia-fabricmanager"), (34, "LD_LIBRARY_PATH"), (999, "dmesg"), (12345, "CUresult")]
    {
        let fake = Fake::new();
        fake.fault("cuInit", 0, code);
        let error = broken(fake.open().err().unwrap());
        assert!(matches!(&error, Error::Driver { call: "cuInit", code: found, .. } if *found == code), "{error:?}");
        assert!(error.to_string().contains(remedy), "{error}");
    }
}

#[test]
fn a_library_without_needed_functions_is_broken_and_names_them() {
    let error = broken(Fake::with(&["WITHOUT_STREAMS"]).open().err().unwrap());
    assert!(error.to_string().contains("has no cuStreamCreate") && error.to_string().contains("libcuda.so.1"), "{error}");
}

#[test]
fn a_library_without_newer_functions_works() {
    let fake = Fake::with(&["WITHOUT_POOLS"]);
    let cuda = fake.cuda();
    let at = cuda.allocate(64).unwrap();
    cuda.free(at, 64);
    cuda.synchronize().unwrap();
    let log = fake.log();
    assert!(log.contains(&"cuMemAlloc_v2".into()) && log.contains(&"cuMemFree_v2".into()), "{log:?}");
}

#[test]
fn an_ordinal_beyond_the_last_gpu_is_absent() {
    let fake = Fake::new();
    let reason = absent(Cuda::new(fake.driver(), 1).err().unwrap());
    assert_eq!(reason, "the CUDA driver finds 1 GPUs, the last is cuda:0");
}

#[test]
fn a_context_that_cannot_be_had_is_broken() {
    let fake = Fake::new();
    fake.fault("cuDevicePrimaryCtxRetain", 0, 46);
    let error = broken(Cuda::new(fake.driver(), 0).err().unwrap());
    assert!(error.to_string().contains("exclusive mode"), "{error}");
    fake.fault("cuStreamCreate", 0, 2);
    broken(Cuda::new(fake.driver(), 0).err().unwrap());
    assert_eq!(fake.live(), [0; 6]);
}

#[test]
fn device_properties_come_from_the_driver() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    assert_eq!((cuda.name().as_str(), cuda.kind().to_string().as_str()), ("Fake 0", "cuda:0"));
    let limits = cuda.limits();
    assert_eq!((limits.threads_per_block, limits.block, limits.shared_bytes), (1024, [1024, 1024, 64], 49152));
    assert_eq!(limits.grid, [0x7fff_ffff, 65535, 65535]);
}

#[test]
fn an_image_fits_by_architecture_and_ptx_version() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    cuda.fits(image(vec![entry(75, (6, 3), PTX)], vec![], &[])).unwrap();
    let reason = cuda.fits(image(vec![entry(100, (8, 7), PTX)], vec![], &[])).unwrap_err();
    assert!(reason.contains("code for sm_100 and above, and cuda:0 is sm_90; build with `Builder::arch`"), "{reason}");
    let reason = cuda.fits(image(vec![entry(75, (8, 5), PTX)], vec![], &[])).unwrap_err();
    assert!(reason.contains("PTX 8.5 for sm_75, which needs a driver for CUDA 12.5 or later"), "{reason}");
    assert!(reason.contains("is for CUDA 12.2; install a newer driver"), "{reason}");
    assert!(cuda.fits(image(vec![], vec![], &[])).unwrap_err().contains("no GPU code"));
}

/// The real driver, where there is one.
#[test]
fn this_machine_has_a_driver_that_works_or_none() {
    match crate::cuda::open(0) {
        Ok(cuda) => {
            let at = cuda.allocate(4).unwrap();
            cuda.zero(at, 4).unwrap();
            let mut word = [MaybeUninit::new(1u8); 4];
            cuda.read(at, &mut word).unwrap();
            cuda.free(at, 4);
            // SAFETY: initialised above.
            assert_eq!(word.map(|byte| unsafe { byte.assume_init() }), [0; 4]);
        }
        Err(missing) => assert!(!absent(missing).is_empty()),
    }
}
