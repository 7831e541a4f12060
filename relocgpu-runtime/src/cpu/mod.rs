//! The CPU device: native code of the image, run by the threads of this process.
//!
//! Commands run when they are made, on the thread that makes them and on rayon's; each has ended on return. So the queue
//! is in order for whoever orders his calls, and calls that nothing orders may run at the same time.

mod level;
mod memory;
mod schedule;
mod stack;
#[cfg(test)]
mod tests;
mod worker;

use crate::backend::{Backend, Bytes, DeviceKind, DevicePtr, Limits, Module, Words};
use crate::contract::cpu::{CpuEntry, CpuTable, FRAME_ALIGN};
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::image::Image;
use crate::panic_text;
use std::alloc::Layout;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use worker::{Fault, Job};

/// Alignment of device memory.
const ALIGN: usize = 256;

/// The processor that runs the program.
pub(crate) struct Cpu {
    pending: Arc<Pending>,
}

/// The error of a launch that has ended, until a call takes it that waits for launches; the first stays.
#[derive(Default)]
struct Pending(Mutex<Option<Error>>);

impl Pending {
    fn keep(&self, error: Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn take(&self) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// Opens the device.
pub(crate) fn open() -> Box<dyn Backend> {
    // Noted now: a fork may come before the first launch.
    schedule::process();
    Box::new(Cpu { pending: Arc::default() })
}

/// The image's native code, and which level of it runs here.
fn entry_of(image: &Image) -> std::result::Result<(&'static CpuTable, usize), String> {
    // SAFETY: the embed stage writes null or the address of a constant.
    let table = unsafe { image.raw.cpu.as_ref() }.ok_or("the image holds no native code")?;
    let levels = &image.container.cpu_levels;
    if table.levels_len != levels.len() || table.kernels_len != image.container.manifest.kernels.len() {
        return Err("its native code is of another build than its manifest; build it again".to_owned());
    }
    let level = level::best(levels).ok_or_else(|| format!("this processor has none of {}", levels.join(", ")))?;
    Ok((table, level))
}

impl Backend for Cpu {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cpu
    }

    fn name(&self) -> String {
        level::processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned())
    }

    fn limits(&self) -> Limits {
        // Those of the GPUs that the same kernels run on; shared memory is as large as a launch wants it.
        Limits { threads_per_block: 1024, block: [1024, 1024, 64], grid: [i32::MAX as u32, 65535, 65535], shared_bytes: 1 << 30 }
    }

    fn fits(&self, image: &Image) -> std::result::Result<(), String> {
        entry_of(image).map(|_| ())
    }

    fn allocate(&self, bytes: usize) -> Result<DevicePtr> {
        let lacking = || Error::OutOfMemory { device: "cpu".to_owned(), bytes: bytes as u64 };
        let layout = Layout::from_size_align(bytes.max(1), ALIGN).map_err(|_| lacking())?;
        // SAFETY: the size is not zero.
        let at = unsafe { std::alloc::alloc(layout) };
        if at.is_null() { Err(lacking()) } else { Ok(at.expose_provenance() as DevicePtr) }
    }

    fn free(&self, at: DevicePtr, bytes: usize) {
        if let Ok(layout) = Layout::from_size_align(bytes.max(1), ALIGN) {
            // SAFETY: the caller frees once what `allocate` gave for so many bytes; no command that uses it is running.
            unsafe { std::alloc::dealloc(pointer(at), layout) };
        }
    }

    fn write(&self, at: DevicePtr, bytes: &Bytes) -> Result<()> {
        // SAFETY: the caller's memory of so many bytes, which no running command uses.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), pointer(at), bytes.len()) };
        Ok(())
    }

    fn read(&self, at: DevicePtr, into: &mut Bytes) -> Result<()> {
        self.pending.take()?;
        // SAFETY: as for `write`.
        unsafe { std::ptr::copy_nonoverlapping(pointer(at), into.as_mut_ptr().cast(), into.len()) };
        Ok(())
    }

    fn copy(&self, to: DevicePtr, from: DevicePtr, bytes: usize) -> Result<()> {
        // SAFETY: as for `write`; the ranges do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(pointer(from), pointer(to), bytes) };
        Ok(())
    }

    fn zero(&self, at: DevicePtr, bytes: usize) -> Result<()> {
        // SAFETY: as for `write`.
        unsafe { pointer(at).write_bytes(0, bytes) };
        Ok(())
    }

    fn load(&self, image: &'static Image, words: &Words) -> Result<Box<dyn Module>> {
        let unusable = |reason: String| Error::NoEntry { image: image.name(), device: "cpu".to_owned(), reason };
        let (table, level) = entry_of(image).map_err(|reason| unusable(format!("{reason}; build it on x86_64 Linux with this version")))?;
        if table.slots_len != words.slots.len() || table.interiors_len != words.interiors.len() {
            return Err(unusable("its words are not those of its manifest; build it again".to_owned()));
        }
        // SAFETY: the tables are as long as they say. The words are read by kernels of this image only, none of which
        // has run: launches come after `load` returns. A second device would write the same words.
        let (slots, entries): (&[AtomicU64], _) = unsafe {
            let slots = if table.slots_len == 0 { &[] } else { std::slice::from_raw_parts(table.slots.cast(), table.slots_len) };
            for (i, word) in words.interiors.iter().enumerate() {
                (*table.interiors.add(level * table.interiors_len + i)).write_unaligned(*word);
            }
            (slots, std::slice::from_raw_parts(table.entries.add(level * table.kernels_len), table.kernels_len))
        };
        slots.iter().zip(&words.slots).for_each(|(slot, word)| slot.store(*word, Ordering::Release));
        Ok(Box::new(Loaded { image, slots, entries, pending: self.pending.clone() }))
    }

    fn map(&self, host: *mut u8, _bytes: usize) -> Result<DevicePtr> {
        Ok(host.expose_provenance() as DevicePtr)
    }

    fn host_native_atomics(&self) -> bool {
        true
    }

    fn synchronize(&self) -> Result<()> {
        self.pending.take()
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Duration> {
        self.pending.take()?;
        let start = Instant::now();
        work()?;
        let took = start.elapsed();
        self.pending.take()?;
        Ok(took)
    }
}

/// The host address behind a device pointer.
fn pointer(at: DevicePtr) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(at as usize)
}

/// An image whose words are delivered.
struct Loaded {
    image: &'static Image,
    slots: &'static [AtomicU64],
    entries: &'static [CpuEntry],
    pending: Arc<Pending>,
}

impl Module for Loaded {
    fn launch(&self, kernel: usize, grid: &Grid, params: &Bytes) -> Result<()> {
        let CpuEntry { run, frame_bytes, shared_bytes } = self.entries[kernel];
        let grid_dim = grid.blocks();
        check_dimensions(grid)?;
        let job = Job {
            run,
            params: params.as_ptr().cast(),
            grid_dim,
            block_dim: grid.threads(),
            frame_stride: frame_bytes.next_multiple_of(FRAME_ALIGN as u64),
            shared_bytes,
            stopped: false.into(),
            fault: Mutex::new(None),
            borrowed: PhantomData,
        };
        schedule::run(&job, grid_dim.map(u64::from).iter().product());
        if let Some(fault) = job.fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
            self.pending.keep(self.error(kernel, fault));
        }
        Ok(())
    }

    fn refresh(&self, slots: &[u64]) -> Result<()> {
        // A launch that another thread makes at the same time, which nothing orders, sees the old word or the new one.
        self.slots.iter().zip(slots).for_each(|(slot, word)| slot.store(*word, Ordering::Release));
        Ok(())
    }
}

/// Native code counts the threads of a dimension in 32 bits: see `lower/cpu/nowrap.rs`.
fn check_dimensions(grid: &Grid) -> Result<()> {
    let (blocks, threads) = (grid.blocks(), grid.threads());
    for (d, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let total = u64::from(blocks[d]) * u64::from(threads[d]);
        if total > u64::from(u32::MAX) {
            let what = format!("{total} threads in {axis}, the CPU device takes {}", u32::MAX);
            return Err(Error::Grid { grid: grid.to_string(), what, remedy: "use another dimension or several launches".to_owned() });
        }
    }
    Ok(())
}

impl Loaded {
    fn error(&self, kernel: usize, fault: Fault) -> Error {
        match fault {
            Fault::Panic(record) => panic_text::error(&record, self.image, kernel),
            Fault::Divergence { block, waiting, ended } => {
                let kernel = self.image.container.manifest.kernels[kernel].name.clone();
                Error::Divergence { kernel, block, waiting, ended }
            }
            Fault::OutOfMemory(bytes) => Error::OutOfMemory { device: "cpu".to_owned(), bytes },
        }
    }
}
