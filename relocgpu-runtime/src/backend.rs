//! What a kind of device does for the rest of the runtime.
//!
//! A back-end is one device with one in-order queue. Every call is a command on that queue, whichever thread makes it:
//! back-ends serialise, callers do not. What the safety story needs beyond that is stated at each function.

use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::image::Image;
use std::mem::MaybeUninit;
use std::time::Duration;

/// Address in device memory; a host address where the device is the CPU.
pub(crate) type DevicePtr = u64;

/// Memory of values whose padding need not be initialised: moved, never looked at.
pub(crate) type Bytes = [MaybeUninit<u8>];

/// Which device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// The processor that runs the program.
    Cpu,
    /// The CUDA device of this ordinal.
    Cuda(usize),
}

impl std::fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

/// What a launch may ask of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Threads of a block, all dimensions together.
    pub threads_per_block: u32,
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Blocks of a grid in x, y, z.
    pub grid: [u32; 3],
    /// Bytes of shared memory of a block. Not checked at a launch, which asks for none: a kernel declares it with
    /// [`device!`](macro@crate::device). Where the device cannot give it, a launch is an `Err`, on CUDA the first one,
    /// which loads the image.
    pub shared_bytes: u64,
}

/// Why a device cannot be had. [`Device::best`](crate::Device::best) passes over an absent one and reports a broken one.
#[derive(Clone, Debug)]
pub(crate) enum Missing {
    /// No driver, no such device, or none that this program's images fit: the reason, as a clause.
    Absent(String),
    /// It is there and does not work.
    Broken(Error),
}

/// One device.
pub(crate) trait Backend: Send + Sync {
    /// Which device it is.
    fn kind(&self) -> DeviceKind;

    /// Its name, as the maker gives it.
    fn name(&self) -> String;

    /// What a launch may ask of it.
    fn limits(&self) -> Limits;

    /// Whether some entry of the image runs here; else the reason, as a clause.
    fn fits(&self, image: &Image) -> std::result::Result<(), String>;

    /// Uninitialised memory of `bytes` > 0, aligned to 256 bytes or more.
    fn allocate(&self, bytes: usize) -> Result<DevicePtr>;

    /// Frees after all commands before. Never panics; an error is kept for the next call that can return it.
    fn free(&self, at: DevicePtr, bytes: usize);

    /// Copies from the host; `bytes` may be reused on return.
    fn write(&self, at: DevicePtr, bytes: &Bytes) -> Result<()>;

    /// Copies to the host after all commands before; an `Err` of a panic in one of them comes from here.
    /// On `Ok` all of `into` is written.
    fn read(&self, at: DevicePtr, into: &mut Bytes) -> Result<()>;

    /// Copies inside the device; the ranges do not overlap.
    fn copy(&self, to: DevicePtr, from: DevicePtr, bytes: usize) -> Result<()>;

    /// Sets bytes to zero.
    fn zero(&self, at: DevicePtr, bytes: usize) -> Result<()>;

    /// Picks the image's entry for this device, loads it and delivers `words`: one for each slot record of the
    /// manifest and one for each interior record, each in manifest order. Looks kernels up after that, and returns
    /// nothing half-loaded.
    fn load(&self, image: &'static Image, words: &Words) -> Result<Box<dyn Module>>;

    /// The address by which the device sees these pages of the host, which stay for the life of the process.
    fn map(&self, host: *mut u8, bytes: usize) -> Result<DevicePtr>;

    /// Whether a read-modify-write of the device in mapped memory is atomic against the host's.
    fn host_native_atomics(&self) -> bool;

    /// Waits for all commands before; returns the `Err` of a panic in one of them.
    fn synchronize(&self) -> Result<()>;

    /// Time that the queue takes for the commands of `work`, which have ended on return.
    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Duration>;

    /// The CUDA device, if it is one.
    #[cfg(all(feature = "interop", not(relocgpu_device)))]
    fn cuda(&self) -> Option<&crate::cuda::Cuda> {
        None
    }
}

/// A loaded image on one device.
pub(crate) trait Module: Send + Sync {
    /// Enqueues one launch of kernel number `kernel` of the manifest. The grid is not empty and within
    /// [`Limits`]; `params` has the size and alignment of [`Kernel::block`](crate::contract::manifest::Kernel::block)
    /// and may be reused on return.
    fn launch(&self, kernel: usize, grid: &Grid, params: &Bytes) -> Result<()>;

    /// Writes the words of the slots anew, in queue order: launches before see the old words, those after the new ones.
    fn refresh(&self, slots: &[u64]) -> Result<()>;
}

/// The resolved words of an image.
pub(crate) struct Words {
    /// One for each slot, in slot order.
    pub slots: Vec<u64>,
    /// One for each interior record, in manifest order.
    pub interiors: Vec<u64>,
    /// One for each record, in manifest order: what code may hold.
    pub all: Vec<u64>,
}
