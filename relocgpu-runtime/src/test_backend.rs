//! A device for unit tests: host memory, and launches that are only written down.

use crate::backend::{Backend, Bytes, DeviceKind, DevicePtr, Limits, Module, Words};
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::handle::Device;
use crate::image::Image;
use std::alloc::{Layout, alloc, dealloc};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Kernel, blocks, threads, bytes of the parameters.
pub(crate) type Launch = (usize, [u32; 3], [u32; 3], Vec<u8>);

/// What was done on a device.
#[derive(Default)]
pub(crate) struct Log {
    pub allocated: Vec<usize>,
    pub freed: Vec<usize>,
    pub loads: Vec<(String, Vec<u64>)>,
    pub launches: Vec<Launch>,
    /// Returned by the next call that waits.
    pub pending: Option<Error>,
}

#[derive(Clone)]
pub(crate) struct Mock {
    pub log: Arc<Mutex<Log>>,
    kind: DeviceKind,
}

/// A new device, and its log.
pub(crate) fn device(kind: DeviceKind) -> (Device, Arc<Mutex<Log>>) {
    let mock = Mock { log: Arc::default(), kind };
    let log = mock.log.clone();
    (Device::with(Box::new(mock)), log)
}

fn layout(bytes: usize) -> Layout {
    assert!(bytes > 0, "a back-end is never asked for nothing");
    Layout::from_size_align(bytes, 256).unwrap()
}

impl Mock {
    fn waits(&self) -> Result<()> {
        self.log.lock().unwrap().pending.take().map_or(Ok(()), Err)
    }
}

impl Backend for Mock {
    fn kind(&self) -> DeviceKind {
        self.kind
    }
    fn name(&self) -> String {
        "mock".to_owned()
    }
    fn limits(&self) -> Limits {
        Limits { threads_per_block: 1024, block: [1024, 1024, 64], grid: [i32::MAX as u32, 65535, 65535], shared_bytes: 48 << 10 }
    }
    fn fits(&self, _image: &Image) -> std::result::Result<(), String> {
        Ok(())
    }
    fn allocate(&self, bytes: usize) -> Result<DevicePtr> {
        if bytes > 1 << 30 {
            return Err(Error::OutOfMemory { device: self.kind.to_string(), bytes: bytes as u64 });
        }
        self.log.lock().unwrap().allocated.push(bytes);
        // SAFETY: not zero-sized.
        Ok(unsafe { alloc(layout(bytes)) } as DevicePtr)
    }
    fn free(&self, at: DevicePtr, bytes: usize) {
        self.log.lock().unwrap().freed.push(bytes);
        // SAFETY: from `allocate`.
        unsafe { dealloc(at as *mut u8, layout(bytes)) }
    }
    fn write(&self, at: DevicePtr, bytes: &Bytes) -> Result<()> {
        // SAFETY: in bounds of an allocation.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut _, bytes.len()) };
        Ok(())
    }
    fn read(&self, at: DevicePtr, into: &mut Bytes) -> Result<()> {
        self.waits()?;
        // SAFETY: in bounds of an allocation.
        unsafe { std::ptr::copy_nonoverlapping(at as *const _, into.as_mut_ptr(), into.len()) };
        Ok(())
    }
    fn copy(&self, to: DevicePtr, from: DevicePtr, bytes: usize) -> Result<()> {
        // SAFETY: in bounds of allocations.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes) };
        Ok(())
    }
    fn zero(&self, at: DevicePtr, bytes: usize) -> Result<()> {
        // SAFETY: in bounds of an allocation.
        unsafe { std::ptr::write_bytes(at as *mut u8, 0, bytes) };
        Ok(())
    }
    fn load(&self, image: &'static Image, words: &Words) -> Result<Box<dyn Module>> {
        self.log.lock().unwrap().loads.push((image.name(), words.slots.clone()));
        Ok(Box::new(self.clone()))
    }
    fn map(&self, host: *mut u8, _bytes: usize) -> Result<DevicePtr> {
        Ok(host as DevicePtr)
    }
    fn host_native_atomics(&self) -> bool {
        true
    }
    fn synchronize(&self) -> Result<()> {
        self.waits()
    }
    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Duration> {
        work()?;
        self.waits()?;
        Ok(Duration::from_micros(5))
    }
}

impl Module for Mock {
    fn launch(&self, kernel: usize, grid: &Grid, params: &Bytes) -> Result<()> {
        // SAFETY: tests launch with blocks that have no padding.
        let params = params.iter().map(|b| unsafe { b.assume_init() }).collect();
        self.log.lock().unwrap().launches.push((kernel, grid.blocks(), grid.threads(), params));
        Ok(())
    }
    fn refresh(&self, slots: &[u64]) -> Result<()> {
        self.log.lock().unwrap().loads.push(("refresh".to_owned(), slots.to_vec()));
        Ok(())
    }
}
