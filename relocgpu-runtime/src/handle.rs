//! Devices as a program holds them.

use crate::backend::{Backend, DeviceKind, Limits, Missing};
use crate::buffer::Buffer;
use crate::data::DeviceData;
use crate::deliver::Memory;
use crate::error::{Error, Result};
use crate::launch::Kernels;
use crate::{device_choice, image};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A GPU, or the CPU that runs kernels in its place. Cheap to clone; clones are the same device.
///
/// Each device has one queue. Launches, copies and frees are commands on it and happen in the order in which they are
/// made; functions that return data wait for what they return. A panic in a kernel comes back as an `Err` from the next
/// function that waits.
#[derive(Clone)]
pub struct Device {
    pub(crate) inner: Arc<Inner>,
    reason: Option<Arc<str>>,
}

pub(crate) struct Inner {
    /// Never that of another device, and not 0.
    pub id: usize,
    pub backend: Box<dyn Backend>,
    pub limits: Limits,
    pub kernels: Kernels,
    pub memory: Mutex<Memory>,
}

impl Device {
    /// A CUDA device if there is one that runs this program's kernels, else the CPU; [`reason`](Self::reason) says why.
    ///
    /// `RELOCGPU_DEVICE` set to `cpu`, `cuda` or `cuda:N` asks for that one. It is ignored in a privileged process.
    ///
    /// # Errors
    /// If the environment asks for a device that cannot be had, or if a driver or GPU is there and does not work.
    pub fn best() -> Result<Self> {
        match device_choice::from_environment()? {
            Some(kind) => Self::named(kind),
            None => match open(DeviceKind::Cuda(0)) {
                Ok(device) => match image::readable().find_map(|image| device.inner.backend.fits(image).err()) {
                    None => Ok(device),
                    Some(reason) => Ok(Self { reason: Some(reason.into()), ..Self::cpu()? }),
                },
                Err(Missing::Absent(reason)) => Ok(Self { reason: Some(reason.into()), ..Self::cpu()? }),
                Err(Missing::Broken(error)) => Err(error),
            },
        }
    }

    /// The CUDA device of this ordinal.
    ///
    /// # Errors
    /// If there is no driver, no such device, or it does not work.
    pub fn cuda(ordinal: usize) -> Result<Self> {
        Self::named(DeviceKind::Cuda(ordinal))
    }

    /// The CPU: every program has it, and it gives the same results.
    ///
    /// # Errors
    /// In device code, where there are no devices.
    pub fn cpu() -> Result<Self> {
        Self::named(DeviceKind::Cpu)
    }

    fn named(kind: DeviceKind) -> Result<Self> {
        open(kind).map_err(|missing| match missing {
            Missing::Absent(reason) => Error::NoDevice { device: kind.to_string(), reason },
            Missing::Broken(error) => error,
        })
    }

    /// A device of its own with this back-end.
    pub(crate) fn with(backend: Box<dyn Backend>) -> Self {
        static OPENED: AtomicUsize = AtomicUsize::new(0);
        let (id, limits) = (OPENED.fetch_add(1, Ordering::Relaxed) + 1, backend.limits());
        Self { inner: Arc::new(Inner { id, backend, limits, kernels: Kernels::default(), memory: Mutex::default() }), reason: None }
    }

    /// Why [`best`](Self::best) did not choose a GPU; `None` if it did, or was not asked.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The device's name, as its maker gives it.
    pub fn name(&self) -> String {
        self.inner.backend.name()
    }

    /// Which device it is.
    pub fn kind(&self) -> DeviceKind {
        self.inner.backend.kind()
    }

    /// What a launch may ask of it.
    pub fn limits(&self) -> Limits {
        self.inner.limits
    }

    /// Copies elements into a new buffer.
    ///
    /// # Errors
    /// If there is not enough memory, or the device is lost.
    pub fn upload<T: DeviceData>(&self, elements: &[T]) -> Result<Buffer<T>> {
        Buffer::upload(self, elements)
    }

    /// A new buffer of `len` elements that are all zero.
    ///
    /// That must be a value of the type:
    /// ```compile_fail,E0080
    /// let device = relocgpu_runtime::Device::cpu().unwrap();
    /// device.zeroed::<std::num::NonZero<u32>>(4);
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory, or the device is lost.
    pub fn zeroed<T: DeviceData>(&self, len: usize) -> Result<Buffer<T>> {
        const {
            assert!(T::ZERO_IS_VALID, "`zeroed` needs a type of which all-zero bytes are a value; upload initial values instead");
        }
        Buffer::zeroed(self, len)
    }

    /// Evaluates the host references of all kernels that were launched here anew, but for tables, mapped values and
    /// statics, and delivers them in queue order: launches before see the old values, those after the new ones.
    ///
    /// # Errors
    /// [`Error::Unresolved`] if an expression panics now, [`Error::Baked`] if code holds a value that has changed.
    pub fn refresh(&self) -> Result<()> {
        self.inner.kernels.refresh(self)
    }

    /// Waits until everything before has ended.
    ///
    /// # Errors
    /// [`Error::Panicked`] if a kernel did, [`Error::DeviceLost`] if the device is.
    pub fn synchronize(&self) -> Result<()> {
        self.inner.backend.synchronize()
    }

    /// The time that the device takes for the commands which `work` makes; it waits until they have ended.
    ///
    /// # Errors
    /// Those of `work`, and those of [`synchronize`](Self::synchronize).
    pub fn time(&self, work: impl FnOnce() -> Result<()>) -> Result<Duration> {
        let mut work = Some(work);
        self.inner.backend.time(&mut || work.take().map_or(Ok(()), |work| work()))
    }

    /// Whether a read-modify-write in a [`Mapped`](crate::Mapped) value is atomic against the host's. Loads and stores are in any case.
    pub fn host_native_atomics(&self) -> bool {
        self.inner.backend.host_native_atomics()
    }

    /// Whether both are the same device.
    pub(crate) fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.same(other)
    }
}

impl Eq for Device {}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} ({})", self.kind(), self.name())
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Device({self})")
    }
}

/// The process's device of this kind. Once opened it stays, with what is loaded on it.
fn open(kind: DeviceKind) -> Result<Device, Missing> {
    static OPEN: Mutex<Vec<Device>> = Mutex::new(Vec::new());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = open.iter().find(|device| device.kind() == kind) {
        return Ok(device.clone());
    }
    let device = Device::with(open_backend(kind)?);
    open.push(device.clone());
    Ok(device)
}

#[cfg(not(relocgpu_device))]
fn open_backend(kind: DeviceKind) -> Result<Box<dyn Backend>, Missing> {
    match kind {
        DeviceKind::Cpu => Ok(crate::cpu::open()),
        DeviceKind::Cuda(ordinal) => crate::cuda::open(ordinal),
    }
}

#[cfg(relocgpu_device)]
fn open_backend(_kind: DeviceKind) -> Result<Box<dyn Backend>, Missing> {
    Err(Missing::Absent("device code has no devices".to_owned()))
}
