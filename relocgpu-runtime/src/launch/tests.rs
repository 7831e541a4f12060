use super::*;
use crate::backend::DeviceKind;
use crate::contract::image::{PtxEntry, RawTable};
use crate::contract::layout::{ParamDescriptor, TypeLayout};
use crate::contract::manifest::{Param, Target};
use crate::data::DeviceData;
use crate::test_backend::device;
use crate::test_image::{Item, image_of, owned};

static KERNEL: KernelDescriptor = KernelDescriptor {
    name: "crate_a::fill",
    file: "src/lib.rs",
    params: &[ParamDescriptor { name: "n", ty: "(u8, u32)", offset: 0, layout: <(u8, u32)>::LAYOUT }],
    size: 8,
    align: 4,
    line: 1,
    column: 1,
    delivery: 0,
};

/// The kernel as an image has it.
fn kernel(name: &str, layout: &TypeLayout) -> Kernel {
    let param = Param { name: "n".into(), ty: "(u8, u32)".into(), offset: 0, layout: owned(layout) };
    Kernel {
        name: name.to_owned(),
        entry: "k".to_owned(),
        params: vec![param],
        size: layout.size as u64,
        align: layout.align as u64,
        can_panic: false,
        cooperates: false,
        reads: Vec::new(),
        delivery: Delivery::Patch,
    }
}

fn holds(package: &str, names: &[&str]) -> &'static Image {
    image_of(package, names.iter().map(|name| kernel(name, <(u8, u32)>::LAYOUT)).collect(), &[])
}

fn reference(type_name: &'static str) -> KernelRef {
    KernelRef { image: ImageLink::Absent("not asked"), kernel: &KERNEL, type_name, type_id: TypeId::of::<KernelRef>() }
}

fn reason(result: Result<(&'static Image, usize)>) -> String {
    match result {
        Err(error @ Error::NoKernel { .. }) => error.to_string(),
        other => panic!("expected that there is no kernel, got {other:?}"),
    }
}

#[test]
fn an_instance_is_named_by_its_arguments() {
    assert_eq!(reference("crate_a::__fill_instance").name(), "crate_a::fill");
    assert_eq!(reference("crate_a::__fill_instance<f32, alloc::vec::Vec<u8>, 3>").name(), "crate_a::fill<f32, alloc::vec::Vec<u8>, 3>");
}

#[test]
fn the_own_image_comes_first() {
    let (own, other) = (holds("own", &["crate_a::other", "crate_a::fill"]), holds("another", &["crate_a::fill"]));
    let (image, number) = find(&reference("x"), Ok(own), &[other, own]).unwrap();
    assert_eq!((image.name(), number), ("own 1.2.3 (lib own)".to_owned(), 1));
}

#[test]
fn an_instance_may_lie_in_the_image_of_who_launches_it() {
    let (own, other) = (holds("own", &["crate_a::fill<u8>"]), holds("another", &["crate_a::fill<f32>"]));
    let (image, number) = find(&reference("i<f32>"), Ok(own), &[own, other]).unwrap();
    assert_eq!((image.name(), number), ("another 1.2.3 (lib another)".to_owned(), 0));
    // The same kernel in two images: either.
    let third = holds("third", &["crate_a::fill<f32>"]);
    assert!(find(&reference("i<f32>"), Ok(own), &[own, other, third]).is_ok());
}

#[test]
fn a_missing_kernel_says_what_to_add() {
    let own = holds("own", &["crate_a::fill<u8>"]);
    let text = reason(find(&reference("i<f32>"), Ok(own), &[own]));
    assert!(text.starts_with("no device code for kernel `crate_a::fill<f32>`"), "{text}");
    assert!(text.contains("[build-dependencies]") && text.contains("relocgpu_build::compile()"), "{text}");
    assert!(reason(find(&reference("i"), Ok(own), &[own])).contains("image own 1.2.3 (lib own) does not hold it"));
    assert!(reason(find(&reference("i"), Err("skipped under cargo doc"), &[own])).ends_with("skipped under cargo doc"));
}

#[test]
fn a_name_for_two_kernels_is_refused() {
    let own = holds("own", &[]);
    let one = holds("one", &["crate_a::fill<u8>"]);
    let two = image_of("second", vec![kernel("crate_a::fill<u8>", <(u8, u64)>::LAYOUT)], &[]);
    let text = reason(find(&reference("i<u8>"), Ok(own), &[own, one, two]));
    assert!(text.contains("one 1.2.3 (lib one), second 1.2.3 (lib second)"), "{text}");
}

#[test]
fn program_and_image_agree_about_parameters_or_nothing_is_launched() {
    let differs = |kernel: Kernel| match check(&reference("x"), &kernel) {
        Err(error @ Error::Layout { .. }) => error.to_string(),
        other => panic!("expected a difference, got {other:?}"),
    };
    assert_eq!(check(&reference("x"), &kernel("k", <(u8, u32)>::LAYOUT)), Ok(()));
    assert!(differs(kernel("k", <(u8, u64)>::LAYOUT)).starts_with("kernel `k`, parameter `n`: `tuple` has 16 bytes on the device and 8"));
    let mut none = kernel("k", <(u8, u32)>::LAYOUT);
    none.params.clear();
    assert!(differs(none).starts_with("kernel `k`: 0 parameters on the device and 1 in the program"));
    let mut renamed = kernel("k", <(u8, u32)>::LAYOUT);
    renamed.params[0].name = "m".into();
    assert!(differs(renamed).contains("on the device its place is that of `m`"));
    let mut moved = kernel("k", <(u8, u32)>::LAYOUT);
    moved.params[0].offset = 4;
    assert!(differs(moved).contains("it lies at byte 4 on the device and at 0 in the program"));
    let mut larger = kernel("k", <(u8, u32)>::LAYOUT);
    larger.size = 16;
    assert!(differs(larger).contains("16 bytes aligned to 4 on the device, 8 aligned to 4"));
}

extern "C-unwind" fn seven() -> u64 {
    7
}
extern "C-unwind" fn curve() -> RawTable {
    crate::host_ref::raw_table(vec![1u32, 2, 3])
}

#[test]
fn an_image_is_loaded_once_with_its_words_and_a_table_copied_once() {
    let items = [Item::Value("a", seven), Item::TableLen("t_len", curve), Item::TablePtr("t_ptr", curve)];
    let kernels = || vec![kernel("crate_a::fill", <(u8, u32)>::LAYOUT)];
    let (first, second) = (image_of("own", kernels(), &items), image_of("another", kernels(), &items));
    let (device, log) = device(DeviceKind::Cuda(0));
    let inner = &device.inner;
    for image in [first, first, second] {
        inner.kernels.prepare_from(&device, &reference("x"), Ok(image), &[]).ok().unwrap();
    }
    {
        let log = log.lock().unwrap();
        assert_eq!(log.loads.len(), 2);
        let words = &log.loads[0].1;
        assert_eq!((words[0], words[1]), (7, 3));
        assert_eq!(log.loads[1].1, *words);
        assert_eq!(log.allocated, [12]);
        // SAFETY: the mock's device memory is host memory.
        assert_eq!(unsafe { std::slice::from_raw_parts(words[2] as *const u32, 3) }, [1, 2, 3]);
    }

    // From here on the kernel is known by its instance.
    // SAFETY: nothing runs.
    let launch = |grid| unsafe { launch(&device, grid, &reference("x"), &[1u32, 2]) };
    launch(Grid::over(257)).unwrap();
    launch(Grid::over(0)).unwrap();
    assert!(matches!(launch(Grid::new(1, 2048)), Err(Error::Grid { .. })));
    let log = log.lock().unwrap();
    assert_eq!(log.launches, [(0, [2, 1, 1], [256, 1, 1], vec![1, 0, 0, 0, 2, 0, 0, 0])]);
    assert_eq!(log.loads.len(), 2);
}

#[test]
fn the_cpu_reads_tables_where_they_are() {
    let image = image_of("own", vec![kernel("crate_a::fill", <(u8, u32)>::LAYOUT)], &[Item::TablePtr("t_ptr", curve)]);
    let (device, log) = device(DeviceKind::Cpu);
    device.inner.kernels.prepare_from(&device, &reference("x"), Ok(image), &[]).ok().unwrap();
    let log = log.lock().unwrap();
    assert!(log.allocated.is_empty());
    assert_eq!(log.loads[0].1, [crate::resolve::table(curve).unwrap().data.addr() as u64]);
}

#[test]
fn a_kernel_of_no_image_is_an_error_and_not_a_panic() {
    let (device, _) = device(DeviceKind::Cpu);
    // SAFETY: nothing runs.
    let result = unsafe { launch(&device, Grid::over(1), &reference("x"), &[1u32, 2]) };
    assert_eq!(result.unwrap_err().to_string(), "no device code for kernel `crate_a::fill`: not asked");
}

static LIMIT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(30);
extern "C-unwind" fn limit() -> u64 {
    LIMIT.load(std::sync::atomic::Ordering::Relaxed).into()
}
extern "C-unwind" fn width() -> u64 {
    crate::host_ref::named::bound::<u32>("launch.width").into()
}

/// An image whose one kernel takes the words of both its records with each launch.
fn image_with_table(indirect: bool) -> &'static Image {
    let bound = Target::Bound { name: "launch.width".into(), ty: "u32".into() };
    let items = [Item::Value("limit", limit), Item::Of("width", bound, width as *const ())];
    let table = LaunchTable { records: vec![0, 1], offset: 8, indirect };
    image_of("own", vec![Kernel { delivery: Delivery::Table(table), ..kernel("crate_a::fill", <(u8, u32)>::LAYOUT) }], &items)
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn words_of_a_table_ride_behind_the_parameters_as_they_are_at_the_launch() {
    for indirect in [false, true] {
        let (device, log) = device(DeviceKind::Cuda(0));
        crate::bind("launch.width", 640u32).unwrap();
        LIMIT.store(30, std::sync::atomic::Ordering::Relaxed);
        device.refresh().unwrap();
        device.inner.kernels.prepare_from(&device, &reference("x"), Ok(image_with_table(indirect)), &[]).ok().unwrap();
        device.refresh().unwrap();
        // SAFETY: nothing runs.
        let launch = || unsafe { launch(&device, Grid::over(1), &reference("x"), &[1u32, 2]) };
        let passed = || {
            launch().unwrap();
            let log = log.lock().unwrap();
            let block = words(&log.launches.last().unwrap().3);
            assert_eq!(block[0], 1 | 2 << 32);
            if indirect {
                assert_eq!((block.len(), log.allocated.len()), (2, log.freed.len()))
            } else {
                assert_eq!(block.len(), 3)
            }
            block[1..].to_vec()
        };
        let first = passed();
        crate::bind("launch.width", 800u32).unwrap();
        let second = passed();
        LIMIT.store(31, std::sync::atomic::Ordering::Relaxed);
        let third = passed();
        device.refresh().unwrap();
        let fourth = passed();
        if !indirect {
            assert_eq!([first, second, third, fourth], [[30, 640], [30, 800], [30, 800], [31, 800]]);
        }
    }
}

#[test]
fn a_refresh_delivers_what_the_host_has_now() {
    static NOW: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(5);
    extern "C-unwind" fn now() -> u64 {
        match NOW.load(std::sync::atomic::Ordering::Relaxed) {
            0 => panic!("there is no value"),
            value => value.into(),
        }
    }
    let (device, log) = device(DeviceKind::Cuda(0));
    let items = [Item::Value("now", now), Item::TableLen("t_len", curve)];
    let image = image_of("own", vec![kernel("crate_a::fill", <(u8, u32)>::LAYOUT)], &items);
    device.inner.kernels.prepare_from(&device, &reference("x"), Ok(image), &[]).ok().unwrap();
    NOW.store(6, std::sync::atomic::Ordering::Relaxed);
    device.refresh().unwrap();
    NOW.store(0, std::sync::atomic::Ordering::Relaxed);
    let error = device.refresh().unwrap_err().to_string();
    assert!(error.contains("its expression panicked: there is no value"), "{error}");
    NOW.store(7, std::sync::atomic::Ordering::Relaxed);
    device.refresh().unwrap();
    let log = log.lock().unwrap();
    let delivered: Vec<_> = log.loads.iter().map(|(_, words)| words.clone()).collect();
    assert_eq!(delivered, [[5, 3], [6, 3], [7, 3]]);
}

/// Whatever kernels by table have seen meanwhile: code goes on with the word that it was loaded with.
#[test]
fn a_refresh_that_code_cannot_follow_is_refused_by_name() {
    static NOW: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(5);
    extern "C-unwind" fn now() -> u64 {
        NOW.load(std::sync::atomic::Ordering::Relaxed).into()
    }
    let table = LaunchTable { records: vec![0], offset: 8, indirect: false };
    let by_table = Kernel { delivery: Delivery::Table(table), ..kernel("crate_a::fill", <(u8, u32)>::LAYOUT) };
    let made = image_of("own", vec![by_table], &[Item::Value("now", now)]);
    let mut container = made.container.clone();
    container.ptx = vec![PtxEntry { arch: 75, isa: (6, 3), text: "0x5e1fc0de00000000".into(), baked: vec![(0, 2)] }];
    let image: &'static Image = Box::leak(Box::new(Image { raw: made.raw, container }));
    for (kind, refuses) in [(DeviceKind::Cuda(0), true), (DeviceKind::Cpu, false)] {
        NOW.store(5, std::sync::atomic::Ordering::Relaxed);
        let (device, _) = device(kind);
        device.refresh().unwrap();
        let loaded = device.inner.kernels.prepare_from(&device, &reference("x"), Ok(image), &[]).ok().unwrap();
        device.refresh().unwrap();
        NOW.store(6, std::sync::atomic::Ordering::Relaxed);
        for _ in 0..2 {
            let error = device.refresh().err().map(|error| error.to_string());
            let names_it = error.as_deref().is_some_and(|text| text.contains("holds the old value of `host!(x)` at src/main.rs:1:1"));
            assert_eq!(names_it, refuses, "{error:?}");
            assert_eq!(device.inner.kernels.words(&device, &loaded).unwrap()[0], 6);
        }
        NOW.store(5, std::sync::atomic::Ordering::Relaxed);
        device.refresh().unwrap();
    }
}
