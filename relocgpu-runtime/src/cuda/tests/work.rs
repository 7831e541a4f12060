//! Memory, modules, launches: results, and the calls that lead to them.

use super::fake::{Fake, PTX, entry, image, kernel};
use crate::backend::{Backend, Bytes, DevicePtr, Module, Words};
use crate::contract::manifest::Site;
use crate::cuda::Cuda;
use crate::error::Error;
use crate::grid::Grid;
use std::mem::MaybeUninit;
use std::time::Duration;

pub fn bytes<T>(values: &[T]) -> &Bytes {
    // SAFETY: the values' own bytes.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

pub fn read(cuda: &Cuda, at: DevicePtr, len: usize) -> crate::Result<Vec<f32>> {
    let mut into = vec![0f32; len];
    // SAFETY: the values' own bytes; any bytes are floats.
    let slice: &mut [MaybeUninit<u8>] = unsafe { std::slice::from_raw_parts_mut(into.as_mut_ptr().cast(), len * 4) };
    cuda.read(at, slice).map(|()| into)
}

#[repr(C)]
pub struct Params {
    pub data: DevicePtr,
    pub len: u64,
    pub by: f32,
    pub padding: u32,
}

pub fn upload(cuda: &Cuda, values: &[f32]) -> DevicePtr {
    let at = cuda.allocate(size_of_val(values)).unwrap();
    cuda.write(at, bytes(values)).unwrap();
    at
}

pub fn words(slots: &[u64], interiors: &[u64]) -> Words {
    Words { slots: slots.to_vec(), interiors: interiors.to_vec(), all: Vec::new() }
}

pub const RECORDS: &[(&str, Site, u64)] =
    &[("slot_a", Site::Slot, 0), ("slot_b", Site::Slot, 0), ("table", Site::Interior, 8), ("table", Site::Interior, 16)];

/// `scale`, `add_slots`, `panic_a`, `panic_b`, `trap`.
pub fn module(cuda: &Cuda) -> Box<dyn Module> {
    let kernels =
        vec![kernel("scale", false), kernel("add_slots", false), kernel("panic_a", true), kernel("panic_b", true), kernel("trap", false)];
    cuda.load(image(vec![entry(75, (6, 3), PTX)], kernels, RECORDS), &words(&[2, 40], &[7, 8])).unwrap()
}

pub fn launch(module: &dyn Module, kernel: usize, data: DevicePtr, len: usize, by: f32) -> crate::Result<()> {
    module.launch(kernel, &Grid::over(len), bytes(&[Params { data, len: len as u64, by, padding: 0 }]))
}

#[test]
fn a_buffer_goes_through_a_kernel_and_back() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let module = module(&cuda);
    let values: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let at = upload(&cuda, &values);
    launch(&*module, 0, at, values.len(), 3.0).unwrap();
    launch(&*module, 1, at, values.len(), 0.0).unwrap();
    let expected: Vec<f32> = values.iter().map(|x| x * 3.0 + 42.0).collect();
    assert_eq!(read(&cuda, at, values.len()).unwrap(), expected);
}

#[test]
fn what_was_written_may_change_at_once() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    // More than all of the staging memory, so that its chunks are used again.
    let mut values: Vec<f32> = (0..3 << 20).map(|i| i as f32).collect();
    let expected = values.clone();
    let at = cuda.allocate(values.len() * 4).unwrap();
    for part in 0..3 {
        let range = part << 20..(part + 1) << 20;
        cuda.write(at + (part << 22) as u64, bytes(&values[range.clone()])).unwrap();
        values[range].fill(-1.0);
    }
    for (i, value) in [5.0f32, 6.0, 7.0].iter().enumerate() {
        cuda.write(at + i as u64 * 4, bytes(&[*value])).unwrap();
    }
    let found = read(&cuda, at, values.len()).unwrap();
    assert_eq!((&found[..3], &found[3..]), (&[5.0, 6.0, 7.0][..], &expected[3..]));
}

#[test]
fn slots_are_one_copy_and_kernels_are_looked_up_last() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    fake.log();
    let _module = module(&cuda);
    let log = fake.log();
    let copies: Vec<_> = log.iter().filter(|call| call.starts_with("HtoD")).collect();
    assert_eq!(copies, ["HtoD 16", "HtoD 8", "HtoD 8"]);
    let last_copy = log.iter().rposition(|call| call.starts_with("HtoD")).unwrap();
    let first_look_up = log.iter().position(|call| call == "cuModuleGetFunction").unwrap();
    assert!(last_copy < first_look_up, "{log:#?}");
}

#[test]
fn the_best_entry_is_chosen() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    // sm_90's PTX is too new for the driver, sm_100 is too new for the GPU; sm_80 it is, the only one with the kernel.
    let ptx = vec![
        entry(75, (6, 3), "global relocgpu_slots 8"),
        entry(80, (7, 0), "entry scale 1024"),
        entry(90, (8, 7), "bad newer"),
        entry(100, (8, 7), "bad newest"),
    ];
    cuda.load(image(ptx, vec![kernel("scale", false)], &[]), &words(&[], &[])).unwrap();
}

#[test]
fn images_that_differ_from_their_manifest_are_refused_and_unloaded() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let load = |text: &str, kernels: Vec<_>, records: &[_]| {
        let slots = records.iter().filter(|(_, site, _)| *site == Site::Slot).count();
        let words = words(&vec![1; slots], &vec![1; records.len() - slots]);
        cuda.load(image(vec![entry(75, (6, 3), text)], kernels, records), &words).map(drop).unwrap_err().to_string()
    };
    let slots = &[("a", Site::Slot, 0), ("b", Site::Slot, 0)];
    assert!(load("", vec![], slots).contains("its PTX has no global `relocgpu_slots`"));
    assert!(
        load("global relocgpu_slots 8", vec![], slots).contains("`relocgpu_slots` has 8 bytes, and the manifest needs 16 from byte 0 on")
    );
    let interior = &[("table", Site::Interior, 16)];
    assert!(load("global table 20", vec![], interior).contains("`table` has 20 bytes, and the manifest needs 8 from byte 16 on"));
    assert!(load("global table 20", vec![], &[("table", Site::Interior, u64::MAX - 15)]).contains("from byte 18446744073709551600"));
    assert!(load("", vec![kernel("absent", false)], &[]).contains("no entry `absent`"));
    let claim_only = "global relocgpu_panic_claim 4\nentry panic_a 1024";
    assert!(load(claim_only, vec![kernel("panic_a", true)], &[]).contains("no global `relocgpu_panic_record`"));
    cuda.synchronize().unwrap();
    assert_eq!(fake.get("fake_modules_live"), 0);
}

#[test]
fn a_block_beyond_the_kernels_registers_and_too_many_parameters_are_refused() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let module = module(&cuda);
    let grid = Grid::over(2048).with_block(1024);
    let error = module.launch(1, &grid, bytes(&[0u64; 3])).unwrap_err();
    assert!(error.to_string().contains("kernel `k::add_slots` runs with at most 512 threads a block"), "{error}");
    let error = module.launch(0, &Grid::over(1), bytes(&[0u64; 513])).unwrap_err();
    assert!(error.to_string().contains("takes 4104 bytes of parameters, and cuda:0 passes at most 4096"), "{error}");
    fake.fault("cuLaunchKernel", 0, 701);
    let error = launch(&*module, 0, 0, 0x1000, 1.0).unwrap_err();
    assert!(matches!(&error, Error::Grid { remedy, .. } if remedy == "use a smaller block"), "{error}");
    cuda.synchronize().unwrap();
}

#[test]
fn panics_name_their_kernel_and_the_next_one_is_seen_too() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let module = module(&cuda);
    let at = upload(&cuda, &[1.0]);
    for (kernel, name) in [(2, "k::panic_a"), (3, "k::panic_b"), (2, "k::panic_a")] {
        launch(&*module, 0, at, 1, 2.0).unwrap();
        launch(&*module, kernel, at, 1, 0.0).unwrap();
        // The first panic wins.
        launch(&*module, 5 - kernel, at, 1, 0.0).unwrap();
        let error = cuda.synchronize().unwrap_err();
        let Error::Panicked { kernel, message, file, line, column, thread, .. } = &error else { panic!("{error}") };
        assert_eq!((kernel.as_str(), file.as_str(), *line, *column, *thread), (name, "src/main.rs", 7, 9, [5, 0, 0]));
        assert_eq!(message, "index out of bounds: the len is 4 but the index is 9");
        cuda.synchronize().unwrap();
    }
    assert_eq!(read(&cuda, at, 1).unwrap(), [8.0]);
    launch(&*module, 2, at, 1, 0.0).unwrap();
    assert!(matches!(read(&cuda, at, 1), Err(Error::Panicked { .. })));
    assert_eq!(read(&cuda, at, 1).unwrap(), [8.0]);
}

#[test]
fn the_record_is_set_only_when_the_kernel_changes() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let module = module(&cuda);
    let at = upload(&cuda, &[1.0]);
    fake.log();
    for kernel in [2, 2, 2, 3, 3, 0, 3] {
        launch(&*module, kernel, at, 1, 0.0).unwrap();
    }
    assert_eq!(fake.log().iter().filter(|call| *call == "HtoD 8").count(), 2);
}

#[test]
fn time_is_the_queues() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let at = upload(&cuda, &[1.0]);
    assert_eq!(cuda.time(&mut || cuda.zero(at, 4)).unwrap(), Duration::from_micros(1500));
    assert_eq!(fake.get("fake_events_live"), 4, "those of the staging memory");
    let module = module(&cuda);
    let panics = cuda.time(&mut || launch(&*module, 2, at, 1, 0.0));
    assert!(matches!(panics, Err(Error::Panicked { .. })), "{panics:?}");
}

#[test]
fn copies_and_zeros_keep_the_order() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let (a, b) = (upload(&cuda, &[1.0, 2.0]), upload(&cuda, &[3.0, 4.0]));
    cuda.copy(b, a, 4).unwrap();
    cuda.zero(a, 8).unwrap();
    assert_eq!((read(&cuda, a, 2).unwrap(), read(&cuda, b, 2).unwrap()), (vec![0.0, 0.0], vec![1.0, 4.0]));
}

#[test]
fn many_threads_use_one_queue() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let module = module(&cuda);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (cuda, module) = (&cuda, &module);
            scope.spawn(move || {
                for round in 0..50 {
                    let values = vec![(thread * 100 + round) as f32; 100];
                    let at = upload(cuda, &values);
                    launch(&**module, 0, at, 100, 2.0).unwrap();
                    assert_eq!(read(cuda, at, 100).unwrap(), vec![values[0] * 2.0; 100]);
                    cuda.free(at, 400);
                }
            });
        }
    });
    drop((module, cuda));
    assert_eq!(fake.live(), [0; 6]);
}
