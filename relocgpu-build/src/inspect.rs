//! What `relocgpu inspect` shows: the images in a finished file, read without running anything of it.
//!
//! A file is an executable, a library, an object, or an archive of objects. In each, the section `.relocgpu` holds one
//! container after another; it has no pointers, so it reads the same in an object, after linking and after stripping.
//! Files may be damaged or made to harm: everything is bounds-checked, nothing is read twice for one image, and what
//! cannot be read becomes a [`Fault`] beside the images that can.

mod extract;
mod json;
mod layout;
mod scan;
mod text;

pub use extract::{Extracted, extract};
pub use json::json;
pub use layout::layout;
pub use text::text;

use object::read::ReadCache;
use relocgpu_runtime::contract::image::Container;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

/// Why there is nothing to show or to write.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// The file could not be opened or read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder, a pipe, a device.
    #[error("`{}` is not a regular file; name an executable, a library, an object or an archive", .0.display())]
    NotAFile(PathBuf),
    /// A file or folder could not be written.
    #[error("cannot write `{}`: {source}; choose another folder for `--extract`", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The report could not be printed.
    #[error("cannot print the report: {0}")]
    Print(#[source] std::io::Error),
}

/// A file opened for reading, of which only the needed parts are read.
#[derive(Debug)]
pub struct Input<S: Read + Seek> {
    cache: ReadCache<S>,
    length: u64,
    name: String,
}

impl Input<File> {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, InspectError> {
        let failed = |source| InspectError::Read { path: path.to_owned(), source };
        // Asked before opening, which would wait for the other end of a pipe.
        if !std::fs::metadata(path).map_err(failed)?.is_file() {
            return Err(InspectError::NotAFile(path.to_owned()));
        }
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Self::new(File::open(path).map_err(failed)?, name).map_err(failed)
    }
}

impl<S: Read + Seek> Input<S> {
    /// Takes bytes that are no file on disk, under a name for messages.
    pub fn new(mut source: S, name: impl Into<String>) -> std::io::Result<Self> {
        let length = source.seek(std::io::SeekFrom::End(0))?;
        Ok(Self { cache: ReadCache::new(source), length, name: name.into() })
    }

    /// Finds and decodes every image.
    pub fn contents(&self) -> Contents<'_> {
        let mut contents = scan::run(self);
        name_images(&mut contents.images);
        contents
    }
}

/// What a file holds.
#[derive(Debug, Default)]
pub struct Contents<'a> {
    /// The images, in the order of the file.
    pub images: Vec<Image<'a>>,
    /// What could not be read.
    pub faults: Vec<Fault>,
}

/// One image of a file.
#[derive(Debug)]
pub struct Image<'a> {
    /// Package and target name, `photo-photo`; made unique in its file.
    pub name: String,
    /// The archive member that holds it; `None` if the file itself does.
    pub member: Option<String>,
    /// The decoded container.
    pub container: Container<'a>,
    /// The objects that hold its native code, where the file still has them as objects.
    pub objects: Vec<Object<'a>>,
}

/// An object file inside the inspected file.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    /// Its file name.
    pub name: String,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// A part of a file that cannot be read: where, what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names images by package and target. Those that share a name get the target's kind, then the start of the hash, then a number.
fn name_images(images: &mut [Image]) {
    type Part = fn(&Image) -> String;
    let kind: Part = |image| {
        let unit = &image.container.manifest.unit;
        format!("-{}{}", unit.kind, if unit.test { "-test" } else { "" })
    };
    let hash: Part = |image| format!("-{}", &hex(&image.container.unit_hash)[..8]);
    for image in images.iter_mut() {
        let unit = &image.container.manifest.unit;
        image.name = file_name(&format!("{}-{}", unit.package, unit.crate_name));
    }
    for part in [kind, hash] {
        for index in shared_names(images) {
            let more = part(&images[index]);
            images[index].name = file_name(&format!("{}{more}", images[index].name));
        }
    }
    for (number, index) in shared_names(images).into_iter().enumerate() {
        images[index].name.push_str(&format!("-{}", number + 1));
    }
}

fn shared_names(images: &[Image]) -> Vec<usize> {
    let mut seen = std::collections::HashMap::<&str, Vec<usize>>::new();
    for (index, image) in images.iter().enumerate() {
        seen.entry(&image.name).or_default().push(index);
    }
    let mut shared: Vec<usize> = seen.into_values().filter(|indices| indices.len() > 1).flatten().collect();
    shared.sort_unstable();
    shared
}

/// A name that stays inside the folder it is written to, whatever the file says.
fn file_name(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).take(100).collect();
    match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => name,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
