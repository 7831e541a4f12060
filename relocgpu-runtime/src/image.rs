//! The images of this executable or library.
//!
//! They are found in memory through the index section, whose bounds the linker defines; the file is never read, so it
//! works in a library that another program has loaded.

mod check;

use crate::contract::image::{Container, DecodeError, RawImage, decode};
use crate::error::{Error, Result};
use std::sync::OnceLock;

/// A decoded image.
pub(crate) struct Image {
    /// What the linker put together.
    pub raw: &'static RawImage,
    /// What the container says.
    pub container: Container<'static>,
}

// SAFETY: `RawImage` is `Sync` and never written; the rest is ordinary data.
unsafe impl Send for Image {}

impl Image {
    /// Decodes one image.
    ///
    /// # Safety
    /// The pointers of `raw` are valid for its lengths and for the life of the process.
    pub unsafe fn read(raw: &'static RawImage) -> Result<Self> {
        let damaged = |reason: String| Error::BadImage { image: format!("at {raw:p}"), reason };
        // First: the fields behind it are those of this schema only.
        if raw.schema != crate::contract::SCHEMA {
            return Err(damaged(DecodeError::Schema(raw.schema).to_string()));
        }
        // SAFETY: the caller's promise.
        let bytes = unsafe { std::slice::from_raw_parts(raw.container, raw.container_len) };
        let (container, _) = decode(bytes).map_err(|e| damaged(e.to_string()))?;
        // SAFETY: null or a constant, the caller's promise.
        let wrong = check::run(&container, raw.host_table_len, unsafe { raw.cpu.as_ref() });
        if !wrong.is_empty() {
            return Err(damaged(format!("{}; build it again", wrong.join("; "))));
        }
        Ok(Self { raw, container })
    }

    /// The word of the host table for record number `record`.
    pub fn host_word(&self, record: usize) -> *const () {
        assert!(record < self.raw.host_table_len);
        // SAFETY: below the table's length.
        unsafe { *self.raw.host_table.add(record) }
    }

    /// Whether the words of the host table are there. They are weak in an image with instances of other packages' kernels,
    /// which the build links into each test and example of its package, not only where it belongs.
    pub fn is_complete(&self) -> bool {
        (0..self.raw.host_table_len).all(|record| !self.host_word(record).is_null())
    }

    /// What messages call the image: `photo 0.1.0 (lib photo)`.
    pub fn name(&self) -> String {
        let unit = &self.container.manifest.unit;
        let test = if unit.test { ", test" } else { "" };
        format!("{} {} ({} {}{test})", unit.package, unit.version, unit.kind, unit.crate_name)
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Image({})", self.name())
    }
}

/// Every image of this executable or library, decoded once per process; those that cannot be read are errors.
pub(crate) fn all() -> &'static [Result<Image>] {
    static IMAGES: OnceLock<Vec<Result<Image>>> = OnceLock::new();
    // SAFETY: the embed stage writes the index words, and the addresses in what they point at are the linker's.
    IMAGES.get_or_init(|| index().into_iter().map(|raw| unsafe { Image::read(raw) }).collect())
}

/// The images that could be read and belong here.
pub(crate) fn readable() -> impl Iterator<Item = &'static Image> {
    all().iter().filter_map(|image| image.as_ref().ok()).filter(|image| image.is_complete())
}

/// The decoded form of a linked image.
pub(crate) fn of(raw: &'static RawImage) -> Result<&'static Image> {
    if let Some(image) = all().iter().filter_map(|image| image.as_ref().ok()).find(|image| std::ptr::eq(image.raw, raw)) {
        return Ok(image);
    }
    let unreadable = all().iter().find_map(|image| image.as_ref().err());
    Err(unreadable.cloned().unwrap_or_else(|| Error::BadImage {
        image: format!("at {raw:p}"),
        reason: format!("the linker dropped it from section `{}`; keep that section", crate::contract::names::INDEX_SECTION),
    }))
}

#[cfg(relocgpu_device)]
fn index() -> Vec<&'static RawImage> {
    Vec::new()
}

/// The words between the bounds of the index section.
#[cfg(not(relocgpu_device))]
fn index() -> Vec<&'static RawImage> {
    use std::sync::atomic::{AtomicPtr, Ordering};

    type Word = AtomicPtr<RawImage>;

    // A word of our own, so that the section and its bounds exist in a program without images too. Atomic, hence in
    // writable data like the words of the images, which the program loader relocates: one section, one set of flags.
    #[used]
    #[unsafe(link_section = "relocgpu_images")]
    static ANCHOR: Word = AtomicPtr::new(std::ptr::null_mut());

    // Keeps the section through `--gc-sections`.
    std::hint::black_box(&ANCHOR);
    let (start, stop) = bounds();
    let (start, words) = (start.cast::<Word>(), (stop.addr() - start.addr()) / size_of::<Word>());
    // SAFETY: between its bounds the section holds words: ours, null, and one for each image.
    let words = (0..words).map(|i| unsafe { (*start.add(i)).load(Ordering::Relaxed) });
    // SAFETY: each word is null or the address of a constant `RawImage`.
    words.filter_map(|raw| unsafe { raw.cast_const().as_ref() }).collect()
}

/// Address of the index section's first byte, and of the byte after its last.
///
/// The linker defines both symbols. Only assembly can say that they are hidden, which keeps them out of a library's
/// dynamic table: there another library's could stand in for them.
#[cfg(not(relocgpu_device))]
fn bounds() -> (*const u8, *const u8) {
    let (start, stop): (*const u8, *const u8);
    // SAFETY: computes two addresses.
    unsafe {
        std::arch::asm!(
            ".hidden __start_relocgpu_images",
            ".hidden __stop_relocgpu_images",
            "lea {start}, [rip + __start_relocgpu_images]",
            "lea {stop}, [rip + __stop_relocgpu_images]",
            start = out(reg) start,
            stop = out(reg) stop,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    (start, stop)
}

#[cfg(test)]
mod tests;
