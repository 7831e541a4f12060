//! The device with native code written by hand: what `lower/cpu` makes, in Rust.

use super::*;
use crate::contract::cpu::{CpuContext, ResumeThread, STACK_BYTES, STACK_RESERVED};
use crate::contract::manifest::{Delivery, Kernel};
use crate::contract::panic::PanicReport;
use crate::deliver;
use crate::test_image::{self, Item};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

/// The context, found as native code finds it.
fn context() -> *mut CpuContext {
    let here = 0u8;
    let stack = (&raw const here).addr() & !(STACK_BYTES - 1);
    std::ptr::with_exposed_provenance_mut(stack + STACK_BYTES - STACK_RESERVED)
}

/// Parameters of all kernels below.
struct Params {
    /// One word for each thread.
    out: Vec<AtomicU64>,
    /// Number of the thread, over the whole grid, that panics or ends early.
    odd: u64,
}

impl Params {
    fn new(threads: usize, odd: u64) -> Self {
        Self { out: (0..threads).map(|_| AtomicU64::new(0)).collect(), odd }
    }

    fn values(&self) -> Vec<u64> {
        self.out.iter().map(|v| v.load(Ordering::Relaxed)).collect()
    }
}

/// Counts the thread in, and panics in the odd one.
unsafe extern "C-unwind" fn loop_form(params: *const u8) {
    // SAFETY: called by the device under test, with the parameters below.
    unsafe {
        let (params, context) = (&*params.cast::<&Params>(), context());
        let ([bx, by, bz], [gx, gy, _]) = ((*context).block_idx, (*context).grid_dim);
        let [tx, ty, tz] = (*context).block_dim;
        let block = (bz * gy + by) * gx + bx;
        for thread in 0..tx * ty * tz {
            let n = u64::from(block) * u64::from(tx * ty * tz) + u64::from(thread);
            if n == params.odd {
                (*context).thread_idx = [thread % tx, thread / tx % ty, thread / tx / ty];
                panic_like_a_kernel(context, n);
            }
            params.out[n as usize].fetch_add(n + 1, Ordering::Relaxed);
        }
    }
}

unsafe fn panic_like_a_kernel(context: *mut CpuContext, n: u64) -> ! {
    let text = format!("thread {n}");
    // SAFETY: the context is that of this stack. The text leaks, as a kernel's would not: it is a constant there.
    unsafe {
        let report = PanicReport {
            kind: 0,
            reserved: 0,
            location: 1,
            args: [0; 3],
            text: text.leak().as_ptr(),
            text_len: format!("thread {n}").len() as u64,
            thread: (*context).thread_idx,
            block: (*context).block_idx,
        };
        ((*context).panic)(context, &raw const report)
    }
}

/// A frame of `coroutine_form`: word 0, the thread's number, barriers that it has passed.
#[repr(C)]
struct Frame {
    resume: Option<ResumeThread>,
    params: *const Params,
    number: u64,
    passed: u64,
}

/// Each thread waits at three barriers, but for the odd one, which ends before its second.
unsafe extern "C-unwind" fn coroutine_form(params: *const u8) {
    // SAFETY: as in `loop_form`; frames are of the size that the entry says.
    unsafe {
        let (params, context) = (*params.cast::<&Params>(), context());
        let threads = (*context).block_dim[0];
        for thread in 0..threads {
            let number = u64::from((*context).block_idx[0] * threads + thread);
            let frame = (*context).frames.add(thread as usize * (*context).frame_stride as usize).cast::<Frame>();
            frame.write(Frame { resume: Some(resume), params, number, passed: 0 });
        }
        ((*context).drive)(context);
    }
}

unsafe extern "C-unwind" fn resume(frame: *mut u8) {
    // SAFETY: the frame that `coroutine_form` wrote.
    unsafe {
        let frame = &mut *frame.cast::<Frame>();
        frame.passed += 1;
        (&(*frame.params).out)[frame.number as usize].fetch_add(10, Ordering::Relaxed);
        if frame.passed == 3 || frame.number == (*frame.params).odd && frame.passed == 1 {
            frame.resume = None;
        }
    }
}

/// Two kernels, loaded on a device of their own.
fn load() -> (Cpu, Box<dyn Module>) {
    let kernel = |name: &str| Kernel {
        name: format!("k::{name}"),
        entry: String::new(),
        params: Vec::new(),
        size: 8,
        align: 8,
        can_panic: true,
        cooperates: false,
        reads: Vec::new(),
        delivery: Delivery::Patch,
    };
    let image = test_image::image_of("cpu", vec![kernel("loop"), kernel("coroutine")], &[]);
    let entries = vec![
        CpuEntry { run: loop_form, frame_bytes: 0, shared_bytes: 100 },
        CpuEntry { run: coroutine_form, frame_bytes: size_of::<Frame>() as u64 - 1, shared_bytes: 0 },
    ];
    let cpu = Cpu { pending: Arc::default() };
    let module = Loaded { image, slots: &[], entries: entries.leak(), pending: cpu.pending.clone() };
    (cpu, Box::new(module))
}

fn launch(module: &dyn Module, kernel: usize, grid: Grid, params: &Params) {
    let address: [MaybeUninit<u8>; 8] = (std::ptr::from_ref(params).expose_provenance()).to_ne_bytes().map(MaybeUninit::new);
    module.launch(kernel, &grid, &address).unwrap();
}

const NONE: u64 = u64::MAX;

#[test]
fn every_thread_runs_once() {
    let (cpu, module) = load();
    for grid in [Grid::new(1, 1), Grid::new(1, 256), Grid::new((3, 5, 2), (4, 2, 3)), Grid::new(4000, 64), Grid::new((7, 300), (32, 8))] {
        let threads = grid.blocks().iter().product::<u32>() * grid.threads().iter().product::<u32>();
        let params = Params::new(threads as usize, NONE);
        launch(&*module, 0, grid, &params);
        cpu.synchronize().unwrap();
        assert_eq!(params.values(), (1..=u64::from(threads)).collect::<Vec<_>>(), "{grid}");
    }
}

#[test]
fn a_panic_ends_its_block_and_comes_back_once() {
    let (cpu, module) = load();
    for round in 0..100 {
        let params = Params::new(64, 37);
        launch(&*module, 0, Grid::new((2, 2), (4, 4)), &params);
        let done = params.values();
        assert_eq!(done[..37], (1..=37).collect::<Vec<_>>(), "threads before it have run");
        assert!(done[37..].iter().all(|v| *v == 0), "threads after it have not");
        let error = cpu.read(1, &mut []).unwrap_err();
        let expected = Error::Panicked {
            kernel: "k::loop".into(),
            message: "thread 37".into(),
            file: "src/lib.rs".into(),
            line: 7,
            column: 9,
            thread: [1, 1, 0],
            block: [0, 1, 0],
        };
        assert_eq!(error, expected, "round {round}");
        cpu.synchronize().unwrap();
        let params = Params::new(64, NONE);
        launch(&*module, 0, Grid::new(4, 16), &params);
        cpu.synchronize().unwrap();
        assert_eq!(params.values(), (1..=64).collect::<Vec<_>>());
    }
}

#[test]
fn a_panic_stops_a_large_launch_on_all_threads() {
    let (cpu, module) = load();
    let (blocks, odd) = (200_000u64, 64 * 150);
    let params = Params::new(blocks as usize * 64, odd);
    launch(&*module, 0, Grid::new(blocks as u32, 64), &params);
    assert!(matches!(cpu.synchronize(), Err(Error::Panicked { block: [150, 0, 0], .. })));
    let done = params.values();
    assert!(done.iter().zip(1..).all(|(v, right)| *v == 0 || *v == right), "every other element holds its old value or its right one");
    assert!(done.contains(&0));
}

#[test]
fn the_first_error_is_kept() {
    let (cpu, module) = load();
    for odd in [3, 5] {
        launch(&*module, 0, Grid::new(1, 8), &Params::new(8, odd));
    }
    assert!(matches!(cpu.synchronize(), Err(Error::Panicked { thread: [3, 0, 0], .. })));
    cpu.synchronize().unwrap();
}

#[test]
fn threads_meet_at_barriers() {
    let (cpu, module) = load();
    let params = Params::new(50 * 100, NONE);
    launch(&*module, 1, Grid::new(50, 100), &params);
    cpu.synchronize().unwrap();
    assert!(params.values().iter().all(|v| *v == 30));
}

#[test]
fn a_barrier_that_part_of_a_block_reaches_is_an_error() {
    let (cpu, module) = load();
    let params = Params::new(30, 13);
    launch(&*module, 1, Grid::new(3, 10), &params);
    let expected = Error::Divergence { kernel: "k::coroutine".into(), block: [1, 0, 0], waiting: 9, ended: 1 };
    assert_eq!(cpu.synchronize(), Err(expected));
    launch(&*module, 1, Grid::new(3, 10), &Params::new(30, NONE));
    cpu.synchronize().unwrap();
}

#[test]
fn many_threads_launch_at_once() {
    let (cpu, module) = load();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let params = Params::new(40 * 32, NONE);
                    launch(&*module, 0, Grid::new(40, 32), &params);
                    assert_eq!(params.values(), (1..=40 * 32).collect::<Vec<_>>());
                    let params = Params::new(4 * 32, NONE);
                    launch(&*module, 1, Grid::new(4, 32), &params);
                    assert!(params.values().iter().all(|v| *v == 30));
                }
            });
        }
    });
    cpu.synchronize().unwrap();
}

#[test]
fn a_thread_that_ends_can_launch() {
    struct AtEnd(std::sync::mpsc::Sender<bool>);
    impl Drop for AtEnd {
        fn drop(&mut self) {
            self.0.send(runs_a_large_launch()).unwrap();
        }
    }
    thread_local!(static AT_END: std::cell::RefCell<Option<AtEnd>> = const { std::cell::RefCell::new(None) });
    let (at_end, ended) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(|| {
        AT_END.set(Some(AtEnd(at_end)));
        // What this thread keeps from launch to launch goes before the value above does.
        assert!(runs_a_large_launch());
    });
    thread.join().unwrap();
    assert_eq!(ended.recv(), Ok(true));
}

#[test]
fn a_fork_launches_without_the_threads_that_it_lacks() {
    _ = open();
    assert!(runs_a_large_launch());
    // SAFETY: the child only launches, which takes no lock that another thread of this test holds, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: no precondition. A launch that waits for ever is killed.
        unsafe {
            libc::alarm(20);
            libc::_exit(i32::from(!runs_a_large_launch()));
        }
    }
    let mut status = 0;
    // SAFETY: the child above; the status is ours.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child must end by itself, with 0");
}

/// Large enough for more than one thread.
fn runs_a_large_launch() -> bool {
    let (_, module) = load();
    let params = Params::new(40_000 * 64, NONE);
    launch(&*module, 0, Grid::new(40_000, 64), &params);
    params.values().into_iter().eq(1..=40_000 * 64)
}

#[test]
fn a_dimension_of_too_many_threads_is_refused() {
    let (_, module) = load();
    let launch = |grid| module.launch(0, &grid, &[MaybeUninit::new(0); 8]);
    assert!(matches!(launch(Grid::new(1 << 24, 256)), Err(Error::Grid { .. })));
    assert!(matches!(launch(Grid::new((1, 1 << 30), (1, 4))), Err(Error::Grid { .. })));
}

#[test]
fn memory_is_aligned_and_holds_what_was_written() {
    let (cpu, _) = load();
    let bytes: Vec<MaybeUninit<u8>> = (0..1000).map(|i| MaybeUninit::new(i as u8)).collect();
    let (a, b) = (cpu.allocate(1000).unwrap(), cpu.allocate(1000).unwrap());
    assert_eq!((a % 256, b % 256), (0, 0));
    cpu.write(a, &bytes).unwrap();
    cpu.zero(b, 1000).unwrap();
    cpu.copy(b + 500, a, 500).unwrap();
    let mut back = vec![MaybeUninit::new(1u8); 1000];
    cpu.read(b, &mut back).unwrap();
    // SAFETY: initialised above.
    let back: Vec<u8> = back.iter().map(|v| unsafe { v.assume_init() }).collect();
    assert_eq!(back, (0..500).map(|_| 0).chain((0..500).map(|i| i as u8)).collect::<Vec<_>>());
    cpu.free(a, 1000);
    cpu.free(b, 1000);
    assert!(matches!(cpu.allocate(usize::MAX / 2), Err(Error::OutOfMemory { .. })));
}

#[test]
fn an_image_without_native_code_is_refused() {
    let cpu = open();
    let image = test_image::image(&[]);
    assert!(cpu.fits(image).is_err());
    let words = Words { slots: Vec::new(), interiors: Vec::new(), all: Vec::new() };
    let Err(Error::NoEntry { reason, .. }) = cpu.load(image, &words).map(|_| ()) else { panic!("it must be refused") };
    assert!(reason.contains("no native code"), "{reason}");
}

extern "C-unwind" fn four() -> u64 {
    4
}
extern "C-unwind" fn negative() -> u64 {
    -2i64 as u64
}
extern "C-unwind" fn letters() -> u64 {
    u64::from_le_bytes(*b"relocgpu")
}

/// The words of one image's native code: slots, and for each of two levels a global of 40 bytes.
struct Words40 {
    slots: [u64; 3],
    globals: [[u8; 40]; 2],
}

/// Loads an image with two slots and two interior words, at bytes 3 and 32 of its global. Its tables have so many of them.
fn load_words(words: &mut Words40, slots_len: usize, interiors_len: usize) -> Result<usize> {
    let items =
        [Item::Value("a", four), Item::Interior("table", 3, letters), Item::Interior("table", 32, negative), Item::Value("z", negative)];
    let image = test_image::image_of("words", Vec::new(), &items);
    let mut container = image.container.clone();
    container.cpu_levels = vec!["x86-64".into(), "x86-64-v4".into()];
    let interiors: Vec<*mut u64> = words.globals.iter_mut().flat_map(|g| [3, 32].map(|at| (&raw mut g[at]).cast())).collect();
    let table = CpuTable {
        slots: words.slots.as_mut_ptr(),
        slots_len,
        interiors: interiors.leak().as_ptr(),
        interiors_len,
        entries: std::ptr::NonNull::dangling().as_ptr(),
        levels_len: 2,
        kernels_len: 0,
    };
    let raw = Box::leak(Box::new(crate::contract::image::RawImage { cpu: Box::leak(Box::new(table)), ..*image.raw }));
    let image: &'static Image = Box::leak(Box::new(Image { raw, container }));
    let cpu = crate::Device::with(open());
    let resolved = deliver::words(&cpu, image)?;
    cpu.inner.backend.load(image, &deliver::by_site(image, &resolved))?;
    Ok(level::best(&image.container.cpu_levels).unwrap())
}

#[test]
fn slots_and_interior_words_are_written_where_their_records_say() {
    let mut words = Words40 { slots: [7; 3], globals: [[0xee; 40]; 2] };
    let level = load_words(&mut words, 2, 2).unwrap();
    assert_eq!(words.slots, [4, -2i64 as u64, 7], "in manifest order, and none beyond the last");
    let mut patched = [0xee; 40];
    patched[3..11].copy_from_slice(b"relocgpu");
    patched[32..40].copy_from_slice(&(-2i64).to_le_bytes());
    assert_eq!(words.globals[level], patched);
    assert_eq!(words.globals[1 - level], [0xee; 40], "the level that does not run stays as it is");
}

#[test]
fn native_code_with_other_words_than_the_manifest_is_refused_and_left_alone() {
    for (slots, interiors) in [(2, 1), (2, 3), (1, 2), (3, 2)] {
        let mut words = Words40 { slots: [7; 3], globals: [[0xee; 40]; 2] };
        let error = load_words(&mut words, slots, interiors).unwrap_err();
        assert!(matches!(&error, Error::NoEntry { reason, .. } if reason.contains("its words are not those of its manifest")), "{error}");
        assert_eq!((words.slots, words.globals), ([7; 3], [[0xee; 40]; 2]));
    }
}
