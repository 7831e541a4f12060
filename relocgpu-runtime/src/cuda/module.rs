//! Modules: load, deliver, look up, launch.

use super::driver::Driver;
use super::failure::{LAUNCH_OUT_OF_RESOURCES, NOT_FOUND, Outcome};
use super::jit;
use super::panics::Panics;
use super::ptx;
use super::queue::{Garbage, Queue};
use crate::backend::{Bytes, Module, Words};
use crate::contract::manifest::{Record, Site};
use crate::contract::names::ptx::{PANIC_CLAIM, PANIC_RECORD, SLOTS};
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::image::Image;
use cudarc::driver::sys::{CUdeviceptr, CUfunction, CUfunction_attribute, CUmodule, CUstream};
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::Arc;

/// A module that the driver has loaded.
pub(super) struct Loaded {
    image: &'static Image,
    raw: CUmodule,
    kernels: Vec<Function>,
    panics: Option<Panics>,
    parameter_bytes: u64,
}

// SAFETY: the driver's handles may be used on any thread.
unsafe impl Send for Loaded {}
// SAFETY: as above; nothing in it changes but what `Panics` guards.
unsafe impl Sync for Loaded {}

struct Function {
    raw: CUfunction,
    threads_per_block: u32,
}

impl Loaded {
    pub fn kernel_name(&self, kernel: usize) -> &str {
        &self.image.container.manifest.kernels[kernel].name
    }

    /// The panic that this kernel left, if any.
    pub fn take_panic(&self, kernel: usize) -> Option<Error> {
        let record = self.panics.as_ref()?.take(kernel)?;
        Some(crate::panic_text::error(&record, self.image, kernel))
    }

    pub fn has_panicked(&self, kernel: usize) -> bool {
        self.panics.as_ref().is_some_and(|panics| panics.has(kernel))
    }

    /// Lets the module take the next panic, after all commands before. The context is current.
    pub fn reset_claim(&self, driver: &Driver, stream: CUstream) -> Outcome {
        self.panics.as_ref().map_or(Ok(()), |panics| panics.reset_claim(driver, stream))
    }

    /// Gives everything back, when no command uses it any more. The context is current.
    pub fn unload(&self, driver: &Driver) -> Outcome {
        // SAFETY: loaded once and unloaded once, by the queue that has passed all its launches.
        let outcome = unsafe { driver.cuModuleUnload(self.raw) };
        outcome.and(self.panics.as_ref().map_or(Ok(()), |panics| panics.free(driver)))
    }
}

/// Loads the image's best entry, delivers the words, then looks the kernels up.
pub(super) fn load(queue: &Arc<Queue>, image: &'static Image, words: &Words) -> Result<Box<dyn Module>> {
    let context = &queue.context;
    let (raw, entry) = jit::compile(queue, image, &words.all)?;
    // From here on dropping this unloads what was loaded.
    let mut module = CudaModule {
        queue: queue.clone(),
        loaded: Some(Loaded { image, raw, kernels: Vec::new(), panics: None, parameter_bytes: 0 }.into()),
    };
    let bad = |reason: String| Error::BadImage { image: image.name(), reason: format!("{reason}; build the program again") };
    deliver(queue, image, raw, words).map_err(|fault| fault.error(&bad))?;
    let kernels = &image.container.manifest.kernels;
    let panics = panics(queue, image, raw).map_err(|fault| fault.error(&bad))?;
    let mut loaded = Loaded { image, raw, kernels: Vec::new(), panics, parameter_bytes: ptx::parameter_bytes(context, entry) };
    let found = kernels.iter().try_for_each(|kernel| {
        let function = function(queue, raw, &kernel.entry).map_err(|fault| fault.error(&bad))?;
        loaded.kernels.push(function);
        Ok(())
    });
    module.loaded = Some(Arc::new(loaded));
    found.map(|()| Box::new(module) as Box<dyn Module>)
}

/// Why a module lacks something: it is not as the manifest says, or a call failed.
enum Fault {
    Mismatch(String),
    Other(Error),
}

impl Fault {
    fn error(self, bad: &impl Fn(String) -> Error) -> Error {
        match self {
            Self::Mismatch(reason) => bad(reason),
            Self::Other(error) => error,
        }
    }
}

/// Writes the words to their places: the slots in one copy, then the interior words.
fn deliver(queue: &Queue, image: &Image, module: CUmodule, words: &Words) -> Result<(), Fault> {
    let write = |at: CUdeviceptr, words: &[u64]| queue.write(at, &bytes_of(words)).map_err(Fault::Other);
    if !words.slots.is_empty() {
        let at = global(queue, module, SLOTS, 0, words.slots.len() as u64 * 8)?;
        write(at, &words.slots)?;
    }
    let interiors = image.container.manifest.records.iter().filter(|record| record.site == Site::Interior);
    for (Record { name, offset, .. }, word) in interiors.zip(&words.interiors) {
        let at = global(queue, module, name, *offset, 8)?;
        write(at, &[*word])?;
    }
    Ok(())
}

fn bytes_of(words: &[u64]) -> Vec<std::mem::MaybeUninit<u8>> {
    words.iter().flat_map(|word| word.to_le_bytes()).map(std::mem::MaybeUninit::new).collect()
}

/// Address of `bytes` at `offset` in a global of the module, which must have them.
fn global(queue: &Queue, module: CUmodule, name: &str, offset: u64, bytes: u64) -> Result<CUdeviceptr, Fault> {
    within(name, find(queue, module, name)?, offset, bytes)
}

/// Address and bytes of a global.
type Global = (CUdeviceptr, usize);

fn find(queue: &Queue, module: CUmodule, name: &str) -> Result<Option<Global>, Fault> {
    let text = CString::new(name).map_err(|_| Fault::Mismatch(format!("the name {name:?} is no symbol")))?;
    let (mut at, mut size) = (0, 0);
    let found = queue.run(|driver| {
        // SAFETY: the module is loaded, and its name is a C string.
        optional(unsafe { driver.cuModuleGetGlobal_v2(&mut at, &mut size, module, text.as_ptr()) })
    });
    Ok(found.map_err(Fault::Other)?.then_some((at, size)))
}

fn within(name: &str, global: Option<Global>, offset: u64, bytes: u64) -> Result<CUdeviceptr, Fault> {
    let Some((at, size)) = global else {
        return Err(Fault::Mismatch(format!("its PTX has no global `{name}`, which the manifest names")));
    };
    match offset.checked_add(bytes) {
        Some(end) if end <= size as u64 => Ok(at + offset),
        _ => Err(Fault::Mismatch(format!("its global `{name}` has {size} bytes, and the manifest needs {bytes} from byte {offset} on"))),
    }
}

/// The place for panics. PTX from which every panic was optimised away has neither of the two globals.
fn panics(queue: &Queue, image: &Image, module: CUmodule) -> Result<Option<Panics>, Fault> {
    let kernels = &image.container.manifest.kernels;
    if !kernels.iter().any(|kernel| kernel.can_panic) {
        return Ok(None);
    }
    let (claim, record) = (find(queue, module, PANIC_CLAIM)?, find(queue, module, PANIC_RECORD)?);
    if claim.is_none() && record.is_none() {
        return Ok(None);
    }
    let claim = within(PANIC_CLAIM, claim, 0, 4)?;
    let record = within(PANIC_RECORD, record, 0, 8)?;
    queue.run(|driver| Panics::new(driver, claim, record, kernels.len())).map(Some).map_err(Fault::Other)
}

fn function(queue: &Queue, module: CUmodule, name: &str) -> Result<Function, Fault> {
    let text = CString::new(name).map_err(|_| Fault::Mismatch(format!("the name {name:?} is no symbol")))?;
    let mut raw = ptr::null_mut();
    let mut threads = 0;
    let found = queue.run(|driver| {
        // SAFETY: the module is loaded, and its name is a C string; then the function is the module's.
        unsafe {
            if !optional(driver.cuModuleGetFunction(&mut raw, module, text.as_ptr()))? {
                return Ok(false);
            }
            driver.cuFuncGetAttribute(&mut threads, CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, raw)?;
        }
        Ok(true)
    });
    if !found.map_err(Fault::Other)? {
        return Err(Fault::Mismatch(format!("its PTX has no entry `{name}`, which the manifest names")));
    }
    Ok(Function { raw, threads_per_block: u32::try_from(threads).unwrap_or(0) })
}

/// Whether something was found.
fn optional(outcome: Outcome) -> Outcome<bool> {
    match outcome {
        Ok(()) => Ok(true),
        Err(failure) if failure.code == NOT_FOUND => Ok(false),
        Err(failure) => Err(failure),
    }
}

struct CudaModule {
    queue: Arc<Queue>,
    loaded: Option<Arc<Loaded>>,
}

impl Module for CudaModule {
    fn launch(&self, kernel: usize, grid: &Grid, params: &Bytes) -> Result<()> {
        let loaded = self.loaded.as_ref().expect("taken by drop only");
        let function = &loaded.kernels[kernel];
        self.check(loaded, kernel, grid, params)?;
        let no_room = self.queue.run(|driver| {
            let mut state = self.queue.state();
            if let Some(panics) = loaded.panics.as_ref().filter(|_| loaded.image.container.manifest.kernels[kernel].can_panic) {
                panics.aim(driver, self.queue.stream, kernel)?;
            }
            // Noted first: a launch that reports a sticky error may be the cause of it.
            state.launched(loaded, kernel);
            match enqueue(driver, self.queue.stream, function.raw, grid, params) {
                Err(failure) if failure.code == LAUNCH_OUT_OF_RESOURCES => Ok(Some(failure)),
                outcome => outcome.map(|()| None),
            }
        })?;
        match no_room {
            None => Ok(()),
            Some(failure) => Err(Error::Grid {
                grid: grid.to_string(),
                what: format!("kernel `{}`: {}", loaded.kernel_name(kernel), failure.sentence()),
                remedy: "use a smaller block".to_owned(),
            }),
        }
    }

    fn refresh(&self, slots: &[u64]) -> Result<()> {
        let loaded = self.loaded.as_ref().expect("taken by drop only");
        if slots.is_empty() { Ok(()) } else { self.write_slots(loaded, slots) }
    }
}

impl CudaModule {
    fn write_slots(&self, loaded: &Loaded, slots: &[u64]) -> Result<()> {
        let bad = |reason: String| Error::BadImage { image: loaded.image.name(), reason: format!("{reason}; build the program again") };
        let at = global(&self.queue, loaded.raw, SLOTS, 0, slots.len() as u64 * 8).map_err(|fault| fault.error(&bad))?;
        self.queue.write(at, &bytes_of(slots))
    }

    /// What holds for this kernel beyond the device's limits.
    fn check(&self, loaded: &Loaded, kernel: usize, grid: &Grid, params: &Bytes) -> Result<()> {
        let name = loaded.kernel_name(kernel);
        let most = loaded.kernels[kernel].threads_per_block;
        let threads: u64 = grid.threads().iter().map(|&n| u64::from(n)).product();
        if threads > u64::from(most) {
            return Err(Error::Grid {
                grid: grid.to_string(),
                what: format!(
                    "kernel `{name}` runs with at most {most} threads a block on {}, for the registers it uses",
                    self.queue.context.device()
                ),
                remedy: "use a smaller block".to_owned(),
            });
        }
        if params.len() as u64 > loaded.parameter_bytes {
            return Err(Error::Length {
                operation: "launch",
                what: format!(
                    "kernel `{name}` takes {} bytes of parameters, and {} passes at most {} to this image's PTX; pass large values in a buffer, as `&[T]`",
                    params.len(),
                    self.queue.context.device(),
                    loaded.parameter_bytes
                ),
            });
        }
        Ok(())
    }
}

/// The parameters travel as one block of bytes, laid out as the kernel reads them; the driver has copied it on return.
fn enqueue(driver: &Driver, stream: CUstream, function: CUfunction, grid: &Grid, params: &Bytes) -> Outcome {
    /// `CU_LAUNCH_PARAM_END`, `…_BUFFER_POINTER`, `…_BUFFER_SIZE`.
    const KEYS: [usize; 3] = [0, 1, 2];
    let key = |key: usize| ptr::without_provenance_mut::<c_void>(KEYS[key]);
    let mut size = params.len();
    let mut extra = [key(1), params.as_ptr().cast_mut().cast(), key(2), (&raw mut size).cast(), key(0)];
    let extra = if params.is_empty() { ptr::null_mut() } else { extra.as_mut_ptr() };
    let ([bx, by, bz], [tx, ty, tz]) = (grid.blocks(), grid.threads());
    // SAFETY: the function is loaded and takes a block of this size (manifest); what its addresses point at lives until
    // the queue has passed the launch (contract of `launch`).
    unsafe { driver.cuLaunchKernel(function, bx, by, bz, tx, ty, tz, 0, stream, ptr::null_mut(), extra) }
}

impl Drop for CudaModule {
    /// Unloads once the queue has passed its launches; on a lost device it is gone already.
    fn drop(&mut self) {
        if let Some(loaded) = self.loaded.take().filter(|_| self.queue.is_usable()) {
            self.queue.state().discard(Garbage::Module(loaded), 0);
        }
    }
}
