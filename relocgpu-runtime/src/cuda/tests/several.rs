//! Several devices, several threads.

use super::fake::{Fake, PTX, entry, image, kernel};
use super::work::{launch, module, read, upload, words};
use crate::backend::{Backend, DeviceKind};
use crate::error::Error;

/// The fake driver refuses every call that is made in another device's context.
#[test]
fn two_devices_work_side_by_side() {
    let fake = Fake::new();
    fake.set("fake_devices", 2);
    let driver = fake.driver();
    let devices = [0, 1].map(|ordinal| fake.cuda_of(driver.clone(), ordinal));
    assert_eq!([0, 1].map(|i: usize| devices[i].kind()), [DeviceKind::Cuda(0), DeviceKind::Cuda(1)]);
    assert_eq!([0, 1].map(|i: usize| devices[i].name()), ["Fake 0", "Fake 1"]);
    let modules = devices.each_ref().map(module);
    let at = devices.each_ref().map(|cuda| upload(cuda, &[1.0, 2.0]));
    for round in 1..=3 {
        for i in [0, 1] {
            launch(&*modules[i], 0, at[i], 2, [2.0, 10.0][i]).unwrap();
        }
        let power = |base: f32| [base.powi(round), 2.0 * base.powi(round)];
        assert_eq!(read(&devices[0], at[0], 2).unwrap(), power(2.0));
        assert_eq!(read(&devices[1], at[1], 2).unwrap(), power(10.0));
    }
    drop((modules, devices));
    assert_eq!(fake.live(), [2, 0, 0, 0, 0, 0], "the two blocks that this test does not free");
}

#[test]
fn a_lost_device_leaves_the_other_alone() {
    let fake = Fake::new();
    fake.set("fake_devices", 2);
    let driver = fake.driver();
    let [lost, good] = [0, 1].map(|ordinal| fake.cuda_of(driver.clone(), ordinal));
    let (bad_module, module) = (module(&lost), module(&good));
    let at = upload(&good, &[1.0]);
    launch(&*bad_module, 4, 0, 1, 0.0).unwrap();
    assert!(matches!(lost.synchronize(), Err(Error::DeviceLost { device, .. }) if device == "cuda:0"));
    launch(&*module, 0, at, 1, 3.0).unwrap();
    assert_eq!(read(&good, at, 1).unwrap(), [3.0]);
    assert!(matches!(lost.allocate(8), Err(Error::DeviceLost { .. })));
}

/// A device opened here, used and dropped on a thread that has no context current.
#[test]
fn any_thread_may_use_and_drop_a_device() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let module = module(&cuda);
    let at = upload(&cuda, &[2.0]);
    std::thread::scope(|scope| {
        let fake = &fake;
        scope.spawn(move || {
            assert_eq!(fake.stack(), (0, 0));
            launch(&*module, 0, at, 1, 4.0).unwrap();
            assert_eq!(read(&cuda, at, 1).unwrap(), [8.0]);
            cuda.free(at, 4);
            drop((module, cuda));
            assert_eq!(fake.stack(), (0, 0));
        });
    });
    assert_eq!(fake.live(), [0; 6]);
}

#[test]
fn a_launch_is_what_grid_and_manifest_say() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let module = module(&cuda);
    let at = upload(&cuda, &[1.0; 8]);
    fake.log();
    let grid = crate::Grid::new((3, 4, 5), (8, 2, 1));
    let params = [super::work::Params { data: at, len: 8, by: 2.0, padding: 0 }];
    module.launch(0, &grid, super::work::bytes(&params)).unwrap();
    let log = fake.log();
    assert!(log.contains(&"launch scale 3x4x5 8x2x1 24".to_owned()), "{log:?}");
    // A kernel without parameters gets none.
    let none = cuda.load(image(vec![entry(75, (6, 3), PTX)], vec![kernel("scale", false)], &[]), &words(&[], &[])).unwrap();
    none.launch(0, &crate::Grid::new(1, 1), &[]).unwrap();
    assert!(fake.log().contains(&"launch scale 1x1x1 1x1x1 0".to_owned()));
    cuda.synchronize().unwrap();
}

/// Registered once, for all devices; each has its address.
#[test]
fn mapped_memory_is_registered_once_for_all_devices() {
    let fake = Fake::new();
    fake.set("fake_devices", 2);
    fake.set("fake_native_atomics", 1);
    let driver = fake.driver();
    let devices = [0, 1].map(|ordinal| fake.cuda_of(driver.clone(), ordinal));
    let memory = crate::host_ref::mapped::raw_mapped([7u64; 600]);
    assert_eq!((memory.data.addr() % 4096, memory.bytes), (0, 8192));
    for cuda in &devices {
        assert_eq!(cuda.map(memory.data, memory.bytes).unwrap(), memory.data.addr() as u64);
        assert!(cuda.host_native_atomics());
    }
    let odd = devices[0].map(memory.data.wrapping_add(8), memory.bytes).unwrap_err().to_string();
    assert!(odd.contains("cuMemHostRegister"), "{odd}");
}
