//! From a typed launch to a kernel of a loaded image.

use crate::backend::{Bytes, DeviceKind, Module};
use crate::contract::image::RawImage;
use crate::contract::layout::KernelDescriptor;
use crate::contract::manifest::{Delivery, Kernel, LaunchTable};
use crate::contract::names::instance_arguments;
use crate::error::{Error, Result, Unresolved};
use crate::grid::Grid;
use crate::handle::{Device, Inner};
use crate::host_ref::HostWord;
use crate::image::{self, Image};
use crate::{deliver, resolve};
use std::any::TypeId;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::mem::MaybeUninit;
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

/// The word of a `host!` in a generic kernel's own body that names its generic parameters: evaluated once for each
/// instance, at its first launch, and anew after [`Device::refresh`].
///
/// # Errors
/// [`Error::Unresolved`] if the expression panicked, or needs itself.
pub fn instance_word<R: HostWord>(kernel: &KernelRef, number: u32, source: &str, text: &str, expression: fn() -> R) -> Result<u64> {
    resolve::instance_word(kernel.type_id, number, expression).map_err(|cause| {
        Error::Unresolved(vec![Unresolved { name: kernel.name(), source: source.to_owned(), text: text.to_owned(), cause }])
    })
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
    #[cfg(feature = "interop")]
    let must_wait = crate::interop::must_wait();
    grid.check(&inner.limits)?;
    if grid.is_empty() {
        return Ok(());
    }
    let loaded = match inner.kernels.get(kernel.type_id) {
        Some(loaded) => loaded,
        None => inner.kernels.prepare(device, kernel)?,
    };
    debug_assert_eq!(bytes.len(), kernel.kernel.size);
    match &loaded.image.container.manifest.kernels[loaded.kernel].delivery {
        Delivery::Patch | Delivery::Bake => loaded.module.launch(loaded.kernel, &grid, bytes)?,
        Delivery::Table(table) => {
            let words = inner.kernels.words(device, &loaded)?;
            let words: Vec<u64> = table.records.iter().map(|record| words[*record as usize]).collect();
            launch_with(inner, &loaded, &grid, bytes, table, &words)?;
        }
    }
    #[cfg(feature = "interop")]
    if must_wait {
        return device.synchronize();
    }
    Ok(())
}

/// Launches with words behind the parameters; beyond what parameters can hold, in memory of the launch's own.
fn launch_with(inner: &Inner, loaded: &Loaded, grid: &Grid, params: &Bytes, table: &LaunchTable, words: &[u64]) -> Result<()> {
    let (size, align) = loaded.image.container.manifest.kernels[loaded.kernel].block();
    let mut block = Block::new(size as usize, align as usize);
    let place = block.bytes();
    place[..params.len()].copy_from_slice(params);
    let words: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).map(MaybeUninit::new).collect();
    let offset = table.offset as usize;
    if !table.indirect {
        place[offset..][..words.len()].copy_from_slice(&words);
        return loaded.module.launch(loaded.kernel, grid, place);
    }
    let at = inner.backend.allocate(words.len())?;
    let launched = inner.backend.write(at, &words).and_then(|()| {
        place[offset..][..8].copy_from_slice(&at.to_le_bytes().map(MaybeUninit::new));
        loaded.module.launch(loaded.kernel, grid, place)
    });
    // In queue order: the launch has ended before.
    inner.backend.free(at, words.len());
    launched
}

/// Memory for a parameter block.
struct Block {
    memory: Vec<u128>,
    start: usize,
    size: usize,
}

impl Block {
    fn new(size: usize, align: usize) -> Self {
        let memory = vec![0u128; (size + align).div_ceil(16) + 1];
        let start = memory.as_ptr().addr().next_multiple_of(align.max(1)) - memory.as_ptr().addr();
        Self { memory, start, size }
    }

    fn bytes(&mut self) -> &mut Bytes {
        let memory: *mut MaybeUninit<u8> = self.memory.as_mut_ptr().cast();
        // SAFETY: the vector has room for the size behind the aligned start.
        unsafe { std::slice::from_raw_parts_mut(memory.add(self.start), self.size) }
    }
}

/// A kernel of a module.
#[derive(Clone)]
pub(crate) struct Loaded {
    image: &'static Image,
    module: Arc<dyn Module>,
    kernel: usize,
}

/// An image on one device.
struct LoadedImage {
    image: &'static Image,
    module: Arc<dyn Module>,
    /// The words that its code may hold: those it was loaded with.
    first: Arc<[u64]>,
    /// The words of all records, and which state of the host's values they come from.
    words: Mutex<(u64, Arc<[u64]>)>,
}

/// What is loaded on one device.
#[derive(Default)]
pub(crate) struct Kernels {
    ready: RwLock<HashMap<TypeId, Loaded, BuildHasherDefault<TypeIdHasher>>>,
    images: Mutex<HashMap<usize, Arc<LoadedImage>>>,
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
    fn prepare(&self, device: &Device, kernel: &KernelRef) -> Result<Loaded> {
        let images: Vec<&'static Image> = image::readable().collect();
        let own = match kernel.image {
            ImageLink::Linked(raw) => Ok(image::of(raw)?),
            ImageLink::Absent(why) => Err(why),
        };
        self.prepare_from(device, kernel, own, &images)
    }

    fn prepare_from(
        &self,
        device: &Device,
        kernel: &KernelRef,
        own: std::result::Result<&'static Image, &'static str>,
        images: &[&'static Image],
    ) -> Result<Loaded> {
        let (image, number) = find(kernel, own, images)?;
        check(kernel, &image.container.manifest.kernels[number])?;
        let loaded = Loaded { image, module: self.image(device, image)?.module.clone(), kernel: number };
        self.ready.write().unwrap_or_else(PoisonError::into_inner).insert(kernel.type_id, loaded.clone());
        Ok(loaded)
    }

    /// The image on this device, loaded the first time.
    fn image(&self, device: &Device, image: &'static Image) -> Result<Arc<LoadedImage>> {
        let key = (&raw const *image).addr();
        let lock = || self.images.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = lock().get(&key) {
            return Ok(loaded.clone());
        }
        // Outside of the lock: this runs the program's expressions, which may use the device.
        let state = resolve::state();
        let words = deliver::words(device, image)?;
        let mut images = lock();
        if let Some(loaded) = images.get(&key) {
            return Ok(loaded.clone());
        }
        let module: Arc<dyn Module> = device.inner.backend.load(image, &deliver::by_site(image, &words))?.into();
        let first: Arc<[u64]> = words.into();
        let loaded = Arc::new(LoadedImage { image, module, words: Mutex::new((state, first.clone())), first });
        images.insert(key, loaded.clone());
        Ok(loaded)
    }

    /// The words of a loaded image as the host has them now.
    fn words(&self, device: &Device, loaded: &Loaded) -> Result<Arc<[u64]>> {
        let image = self.image(device, loaded.image)?;
        let state = resolve::state();
        let lock = || image.words.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let kept = lock();
            if kept.0 == state {
                return Ok(kept.1.clone());
            }
        }
        let words: Arc<[u64]> = deliver::words(device, image.image)?.into();
        *lock() = (state, words.clone());
        Ok(words)
    }

    /// Delivers the host's values as they are now to every image that is loaded on the device.
    pub(crate) fn refresh(&self, device: &Device) -> Result<()> {
        let images: Vec<_> = self.images.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        resolve::forget(images.iter().map(|loaded| loaded.image), device);
        for loaded in images {
            let (state, words) = (resolve::state(), deliver::words(device, loaded.image)?);
            refuse_baked(device, loaded.image, &loaded.first, &words)?;
            let mut kept = loaded.words.lock().unwrap_or_else(PoisonError::into_inner);
            loaded.module.refresh(&deliver::by_site(loaded.image, &words).slots)?;
            *kept = (state, words.into());
        }
        Ok(())
    }
}

/// Code that holds a word would go on with the old one.
fn refuse_baked(device: &Device, image: &Image, old: &[u64], new: &[u64]) -> Result<()> {
    if device.kind() == DeviceKind::Cpu {
        return Ok(());
    }
    let baked = image.container.ptx.iter().flat_map(|entry| &entry.baked).map(|(record, _)| *record as usize);
    let mut changed: Vec<_> = baked.filter(|record| old.get(*record) != new.get(*record)).collect();
    changed.sort_unstable();
    changed.dedup();
    if changed.is_empty() {
        return Ok(());
    }
    let sources = changed.into_iter().filter_map(|record| image.container.source_map.records.get(record));
    Err(Error::Baked {
        device: device.kind().to_string(),
        references: sources.map(|s| format!("`host!({})` at {}", s.text, s.source)).collect(),
    })
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
