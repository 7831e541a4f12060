//! Runs blocks of a launch, one after the other, on this thread.
//!
//! Native code runs on a stack of the worker's own, as a coroutine: a panic in it suspends the coroutine for good, so
//! nothing unwinds through code that knows nothing of it, and the stack serves the next block.

use super::memory::Scratch;
use super::stack::NativeStack;
use crate::contract::cpu::{CpuContext, FRAME_ALIGN, ResumeThread, RunBlock, SHARED_ALIGN, STACK_RESERVED};
use crate::contract::panic::{PanicRecord, PanicReport, TEXT_BYTES};
use corosensei::{CoroutineResult, ScopedCoroutine, Yielder};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// One launch, shared by the workers that run its blocks.
pub(super) struct Job<'a> {
    pub(super) run: RunBlock,
    pub(super) params: *const u8,
    pub(super) grid_dim: [u32; 3],
    pub(super) block_dim: [u32; 3],
    /// 0 for a kernel whose threads do not cooperate.
    pub(super) frame_stride: u64,
    pub(super) shared_bytes: u64,
    pub(super) stopped: AtomicBool,
    pub(super) fault: Mutex<Option<Fault>>,
    /// What `params` points at.
    pub(super) borrowed: std::marker::PhantomData<&'a [u8]>,
}

// SAFETY: `params` is only read, by kernels that take it as shared; the rest is `Sync`.
unsafe impl Sync for Job<'_> {}

/// What ended a launch early.
#[derive(Debug)]
pub(super) enum Fault {
    Panic(Box<PanicRecord>),
    Divergence { block: [u32; 3], waiting: u64, ended: u64 },
    OutOfMemory(u64),
}

impl Job<'_> {
    /// Ends the launch; the first fault wins.
    pub(super) fn stop(&self, fault: Fault) {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(fault);
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Threads of a block.
    fn threads(&self) -> u64 {
        self.block_dim.map(u64::from).iter().product()
    }

    /// Index of block number `n`, x the fastest.
    fn block(&self, n: u64) -> [u32; 3] {
        let [x, y, _] = self.grid_dim.map(u64::from);
        // Each is below its dimension of the grid, so it fits.
        [(n % x) as u32, (n / x % y) as u32, (n / x / y) as u32]
    }
}

/// What lies at the top of the stack.
#[repr(C)]
struct Top {
    /// What native code reads.
    context: CpuContext,
    /// The rest is ours.
    job: *const Job<'static>,
    yielder: *const Yielder<(), ()>,
}

const _: () = assert!(size_of::<Top>() <= STACK_RESERVED && align_of::<Top>() <= STACK_RESERVED);

/// Memory that one thread runs blocks with.
pub(super) struct Worker {
    stack: NativeStack,
    shared: Scratch<SHARED_ALIGN>,
    frames: Scratch<FRAME_ALIGN>,
}

thread_local! {
    /// Kept from launch to launch; absent while in use, and gone when a thread that ends launches once more.
    static WORKER: Cell<Option<Box<Worker>>> = const { Cell::new(None) };
}

/// Runs blocks by number on this thread's worker. Stops early, with the fault in the job, if one of them does.
pub(super) fn run(job: &Job, blocks: Range<u64>) {
    let mut worker = match WORKER.try_with(Cell::take).ok().flatten() {
        Some(worker) => worker,
        None => match NativeStack::new() {
            Ok(stack) => Box::new(Worker { stack, shared: Scratch::new(), frames: Scratch::new() }),
            Err(_) => return job.stop(Fault::OutOfMemory(crate::contract::cpu::STACK_BYTES as u64)),
        },
    };
    worker.run(job, blocks);
    // Without a place for it the worker ends here.
    _ = WORKER.try_with(|kept| kept.set(Some(worker)));
}

impl Worker {
    fn run(&mut self, job: &Job, blocks: Range<u64>) {
        let frame_bytes = job.frame_stride * job.threads();
        let memory = |bytes: u64| usize::try_from(bytes).map_err(|_| bytes);
        let shared = memory(job.shared_bytes).and_then(|n| self.shared.at_least(n).ok_or(job.shared_bytes));
        let frames = memory(frame_bytes).and_then(|n| self.frames.at_least(n).ok_or(frame_bytes));
        let (shared, frames) = match (shared, frames) {
            (Ok(shared), Ok(frames)) => (shared, frames),
            (Err(bytes), _) | (_, Err(bytes)) => return job.stop(Fault::OutOfMemory(bytes)),
        };
        let top = self.stack.reserved().cast::<Top>().as_ptr();
        let context = CpuContext {
            block_idx: [0; 3],
            block_dim: job.block_dim,
            grid_dim: job.grid_dim,
            thread_idx: [0; 3],
            shared: shared.as_ptr(),
            frames: frames.as_ptr(),
            frame_stride: job.frame_stride,
            panic: on_panic,
            drive: on_drive,
            diverge: on_diverge,
        };
        // SAFETY: the reserved bytes are ours and large enough; nothing runs on the stack now.
        unsafe { top.write(Top { context, job: std::ptr::from_ref(job).cast(), yielder: std::ptr::null() }) };

        let coroutine = ScopedCoroutine::with_stack(&mut self.stack, move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: this runs on the stack whose top that is; native code may change `thread_idx` only, and `on_panic`
            // reads the yielder while this function is on the stack.
            unsafe { (*top).yielder = yielder };
            for block in blocks {
                if job.is_stopped() {
                    return;
                }
                // SAFETY: as above. The entry is that of a kernel whose parameters `params` holds; grid and block are
                // within limits, and shared memory and frames are of the entry's sizes.
                unsafe {
                    (*top).context.block_idx = job.block(block);
                    (job.run)(job.params);
                }
            }
        });
        coroutine.scope(|mut coroutine| {
            if let CoroutineResult::Yield(()) = coroutine.resume(()) {
                // SAFETY: suspended by `suspend` below. On its stack are that function, native code, and the closure
                // above, none of which has anything to drop.
                unsafe { coroutine.force_reset() };
            }
        });
    }
}

/// Leaves native code for good.
///
/// # Safety
/// `top` is the top of the stack that this runs on, and nothing on that stack has anything to drop.
unsafe fn suspend(top: *const Top) -> ! {
    // SAFETY: set before native code ran, and the yielder lives as long as the coroutine.
    unsafe { (*(*top).yielder).suspend(()) };
    // Only a bug here resumes it.
    std::process::abort()
}

/// The context's `panic`.
unsafe extern "C-unwind" fn on_panic(context: *mut CpuContext, report: *const PanicReport) -> ! {
    let top = context.cast::<Top>().cast_const();
    // SAFETY: native code passes the context of its stack and a complete report; the job outlives the launch's blocks.
    unsafe {
        (*(*top).job).stop(Fault::Panic(record(&*report)));
        suspend(top)
    }
}

/// A report as a record of its own.
///
/// # Safety
/// The report's text is null or valid for its length.
unsafe fn record(report: &PanicReport) -> Box<PanicRecord> {
    let &PanicReport { kind, location, args, thread, block, .. } = report;
    let len = usize::try_from(report.text_len).unwrap_or(usize::MAX).min(TEXT_BYTES);
    let mut text = [0; TEXT_BYTES];
    let text_len = if report.text.is_null() { 0 } else { len };
    // SAFETY: the caller's promise, and both are `TEXT_BYTES` or more.
    unsafe { std::ptr::copy_nonoverlapping(report.text, text.as_mut_ptr(), text_len) };
    Box::new(PanicRecord { state: 1, kind, location, args, thread, block, text_len: text_len as u32, reserved: 0, text })
}

/// The context's `drive`: a round resumes every thread, up to its next barrier or its end.
unsafe extern "C-unwind" fn on_drive(context: *mut CpuContext) {
    let top = context.cast::<Top>().cast_const();
    // SAFETY: native code passes the context of its stack; each frame begins with the function that resumes it or null,
    // and the frames of threads that have ended are not resumed.
    unsafe {
        let job = &*(*top).job;
        let (frames, stride, threads) = ((*context).frames, (*context).frame_stride as usize, job.threads());
        let frame = |i: u64| frames.add(i as usize * stride).cast::<Option<ResumeThread>>();
        let mut waiting = (0..threads).filter(|i| (*frame(*i)).is_some()).count() as u64;
        while waiting == threads {
            waiting = 0;
            for i in 0..threads {
                let at = frame(i);
                if let Some(resume) = *at {
                    resume(at.cast());
                }
                waiting += u64::from((*at).is_some());
            }
        }
        if waiting > 0 {
            on_diverge(context, waiting, threads - waiting)
        }
    }
}

/// The context's `diverge`.
unsafe extern "C-unwind" fn on_diverge(context: *mut CpuContext, waiting: u64, ended: u64) -> ! {
    let top = context.cast::<Top>().cast_const();
    // SAFETY: native code passes the context of its stack; the job outlives the launch's blocks.
    unsafe {
        (*(*top).job).stop(Fault::Divergence { block: (*context).block_idx, waiting, ended });
        suspend(top)
    }
}
