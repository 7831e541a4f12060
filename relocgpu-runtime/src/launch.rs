//! From a typed launch to a kernel of a loaded image.

use crate::backend::{Bytes, Module};
use crate::contract::image::RawImage;
use crate::contract::layout::KernelDescriptor;
use crate::contract::manifest::Kernel;
use crate::contract::names::instance_arguments;
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::handle::{Device, Inner};
use crate::image::{self, Image};
use crate::{deliver, resolve};
use std::any::TypeId;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Where the code that launches expects its package's image.
#[derive(Clone, Copy)]
pub enum ImageLink {
    /// Here.
    Linked(&'static RawImage),
    /// There is none: why, and what to do.
    Absent(&'static str),
}

/// A kernel as the macro names it.
#[derive(Clone, Copy)]
pub struct KernelRef {
    /// The image of the package that defines it.
    pub image: ImageLink,
    /// Its name, place and parameters, from the host's view.
    pub kernel: &'static KernelDescriptor,
    /// A type's name; what stands between its first `<` and last `>` are the instance's arguments.
    pub type_name: &'static str,
    /// Tells instances apart in caches.
    pub type_id: TypeId,
}

impl KernelRef {
    /// Name of the instance in manifests.
    fn name(&self) -> String {
        format!("{}{}", self.kernel.name, instance_arguments(self.type_name))
    }
}

/// Launches a kernel.
///
/// # Errors
/// If the grid is beyond the device's limits; at the first launch, if there is no code for the kernel, its image cannot
/// be loaded or its host references cannot be resolved. A panic comes back later, from a function that waits.
///
/// # Safety
/// `P` is the parameter block that `kernel.kernel` describes. What its raw slices point at lives on this device until
/// the queue has passed the launch, and nobody else writes it, or reads what the kernel writes.
pub unsafe fn launch<P>(device: &Device, grid: Grid, kernel: &KernelRef, params: &P) -> Result<()> {
    // SAFETY: the value's own bytes, whose padding may be uninitialised.
    let bytes: &Bytes = unsafe { std::slice::from_raw_parts((&raw const *params).cast(), size_of::<P>()) };
    let inner = &device.inner;
    #[cfg(feature = "cust")]
    let must_wait = crate::cust_interop::must_wait();
    grid.check(&inner.limits)?;
    if grid.is_empty() {
        return Ok(());
    }
    let loaded = match inner.kernels.get(kernel.type_id) {
        Some(loaded) => loaded,
        None => inner.kernels.prepare(inner, kernel)?,
    };
    debug_assert_eq!(bytes.len(), kernel.kernel.size);
    loaded.module.launch(loaded.kernel, &grid, bytes)?;
    #[cfg(feature = "cust")]
    if must_wait {
        return device.synchronize();
    }
    Ok(())
}

/// A kernel of a module.
#[derive(Clone)]
pub(crate) struct Loaded {
    module: Arc<dyn Module>,
    kernel: usize,
}

/// What is loaded on one device.
#[derive(Default)]
pub(crate) struct Kernels {
    ready: RwLock<HashMap<TypeId, Loaded, BuildHasherDefault<TypeIdHasher>>>,
    modules: Mutex<HashMap<usize, Arc<dyn Module>>>,
}

/// A `TypeId` is a hash already.
#[derive(Default)]
struct TypeIdHasher(u64);

impl Hasher for TypeIdHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_ne_bytes(word);
        }
    }
    fn write_u64(&mut self, word: u64) {
        self.0 ^= word;
    }
}

impl Kernels {
    fn get(&self, id: TypeId) -> Option<Loaded> {
        self.ready.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    /// Finds, checks and loads; keeps what it found.
    fn prepare(&self, device: &Inner, kernel: &KernelRef) -> Result<Loaded> {
        let images: Vec<&'static Image> = image::readable().collect();
        let own = match kernel.image {
            ImageLink::Linked(raw) => Ok(image::of(raw)?),
            ImageLink::Absent(why) => Err(why),
        };
        self.prepare_from(device, kernel, own, &images)
    }

    fn prepare_from(
        &self,
        device: &Inner,
        kernel: &KernelRef,
        own: std::result::Result<&'static Image, &'static str>,
        images: &[&'static Image],
    ) -> Result<Loaded> {
        let (image, number) = find(kernel, own, images)?;
        check(kernel, &image.container.manifest.kernels[number])?;
        let loaded = Loaded { module: self.module(device, image)?, kernel: number };
        self.ready.write().unwrap_or_else(PoisonError::into_inner).insert(kernel.type_id, loaded.clone());
        Ok(loaded)
    }

    /// The image's module on this device, loaded the first time.
    fn module(&self, device: &Inner, image: &'static Image) -> Result<Arc<dyn Module>> {
        // Before the lock: this runs the program's expressions, which may use the device.
        let values = resolve::values(image)?;
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (&raw const *image).addr();
        if let Some(module) = modules.get(&key) {
            return Ok(module.clone());
        }
        let mut tables = device.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let words = deliver::words(&*device.backend, &mut tables, &values)?;
        let module: Arc<dyn Module> = device.backend.load(image, &deliver::by_site(image, &words))?.into();
        modules.insert(key, module.clone());
        Ok(module)
    }
}

/// The image and number of a kernel: its own package's image first, then the others of this executable or library.
fn find(
    kernel: &KernelRef,
    own: std::result::Result<&'static Image, &'static str>,
    images: &[&'static Image],
) -> Result<(&'static Image, usize)> {
    let name = kernel.name();
    let fault = |reason: String| Err(Error::NoKernel { kernel: name.clone(), reason });
    let in_image = |image: &'static Image| {
        let kernels = image.container.manifest.kernels.iter().enumerate();
        kernels.filter(|(_, k)| k.name == name).map(move |(number, _)| (image, number)).collect::<Vec<_>>()
    };
    let mut found = own.map(in_image).unwrap_or_default();
    if found.is_empty() {
        found = images.iter().copied().filter(|image| own.map_or(true, |own| !std::ptr::eq(own, *image))).flat_map(in_image).collect();
    }
    // Two versions of a crate share their kernels' names; the source line tells them apart.
    let place = kernel.kernel.place().to_string();
    let here: Vec<_> = found.iter().copied().filter(|(image, n)| image.container.source_map.kernels.get(*n) == Some(&place)).collect();
    let found = if here.is_empty() { found } else { here };

    let Some(&(first, number)) = found.first() else {
        return match own {
            Err(why) => fault(why.to_owned()),
            Ok(own) => fault(absent(kernel, own)),
        };
    };
    let same = |(other, n): &(&Image, usize)| {
        other.container.unit_hash == first.container.unit_hash
            || other.container.manifest.kernels[*n].params == first.container.manifest.kernels[number].params
                && other.container.source_map.kernels.get(*n) == first.container.source_map.kernels.get(number)
    };
    if found.iter().all(same) {
        return Ok((first, number));
    }
    let images = found.iter().map(|(image, _)| image.name()).collect::<Vec<_>>().join(", ");
    fault(format!("several images have a kernel of this name, and not the same one: {images}; give one of them another name"))
}

/// Why a kernel is in no image, given that of the package that defines it.
fn absent(kernel: &KernelRef, own: &Image) -> String {
    if kernel.name() == kernel.kernel.name {
        return format!("image {} does not hold it; it is older than the program: build again", own.name());
    }
    format!(
        "no package of this program made this instance. The package that launches it needs its own image: in its Cargo.toml \
         `[build-dependencies] relocgpu-build = \"{version}\"`, and in its build.rs `fn main() {{ relocgpu_build::compile() }}`",
        version = env!("CARGO_PKG_VERSION")
    )
}

/// Compares the program's own view of the parameters with the image's.
fn check(kernel: &KernelRef, image: &Kernel) -> Result<()> {
    let own = kernel.kernel;
    let fault = |parameter: &str, difference: String| {
        Err(Error::Layout { kernel: image.name.clone(), parameter: parameter.to_owned(), difference })
    };
    if own.params.len() != image.params.len() {
        return fault("", format!("{} parameters on the device and {} in the program", image.params.len(), own.params.len()));
    }
    for (ours, theirs) in own.params.iter().zip(&image.params) {
        if ours.name != theirs.name {
            return fault(ours.name, format!("on the device its place is that of `{}`", theirs.name));
        }
        if let Some(difference) = theirs.layout.difference(ours.layout) {
            return fault(ours.name, difference);
        }
        if ours.offset as u64 != theirs.offset {
            return fault(ours.name, format!("it lies at byte {} on the device and at {} in the program", theirs.offset, ours.offset));
        }
    }
    if (own.size as u64, own.align as u64) != (image.size, image.align) {
        let (size, align) = (image.size, image.align);
        return fault("", format!("{size} bytes aligned to {align} on the device, {} aligned to {} in the program", own.size, own.align));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
