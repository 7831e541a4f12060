//! The image: what the embed stage writes into an object file and the loader finds in memory.

use super::manifest::{Manifest, SourceMap};
#[cfg(not(relocgpu_device))]
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// First eight bytes of a container.
pub const CONTAINER_MAGIC: [u8; 8] = *b"RELOCGPU";
/// Bytes before a container's body: magic, schema (u32, little endian), [`checksum`] of the body (u32), length of the body (u64).
pub const CONTAINER_HEADER: usize = 24;
/// Containers start at multiples of this in their section.
pub const CONTAINER_ALIGN: usize = 16;

/// Body of a container, encoded by postcard.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct Container<'a> {
    /// SHA-256 of the relocatable unit: device module and manifest.
    pub unit_hash: [u8; 32],
    /// What the image holds.
    pub manifest: Manifest,
    /// Where it comes from.
    pub source_map: SourceMap,
    /// PTX by rising architecture.
    #[cfg_attr(not(relocgpu_device), serde(borrow))]
    pub ptx: Vec<PtxEntry<'a>>,
    /// Target CPUs of the native code by rising level (`x86-64`, `x86-64-v3`, `x86-64-v4`); empty when there is none.
    pub cpu_levels: Vec<String>,
}

/// The image's code for one GPU architecture and those after it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct PtxEntry<'a> {
    /// Compute capability times ten, as in `sm_75`.
    pub arch: u32,
    /// PTX ISA version: major and minor.
    pub isa: (u32, u32),
    /// The PTX text, without a trailing NUL.
    #[cfg_attr(not(relocgpu_device), serde(borrow))]
    pub text: Cow<'a, str>,
    /// Number of a record and the byte offset in the text of sixteen hex digits that its word replaces, by rising offset.
    pub baked: Vec<(u32, u64)>,
}

/// Encodes a container with its header.
#[cfg(not(relocgpu_device))]
pub fn encode(container: &Container) -> Vec<u8> {
    let body = postcard::to_allocvec(container).expect("a container holds nothing that postcard cannot encode");
    let mut bytes = Vec::with_capacity(CONTAINER_HEADER + body.len());
    bytes.extend(CONTAINER_MAGIC);
    bytes.extend(super::SCHEMA.to_le_bytes());
    bytes.extend(checksum(&body).to_le_bytes());
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// Why bytes are not a container that this version can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The first bytes are not [`CONTAINER_MAGIC`].
    NotAnImage,
    /// Made under another [`SCHEMA`](super::SCHEMA): this one.
    Schema(u32),
    /// Shorter than its header says, with another checksum, or not decodable.
    Damaged,
}

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::NotAnImage => f.write_str("not a relocgpu image"),
            Self::Schema(theirs) => write!(
                f,
                "made for schema {theirs}, this program reads {}; use the same version of relocgpu-build and relocgpu-runtime",
                super::SCHEMA
            ),
            Self::Damaged => f.write_str("damaged relocgpu image; build it again"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// How many bytes the container at the start of `bytes` takes by its header, whatever its schema and whether or not
/// they are there.
pub fn extent(bytes: &[u8]) -> Option<u64> {
    let header = bytes.get(..CONTAINER_HEADER).filter(|header| header[..8] == CONTAINER_MAGIC)?;
    let length = u64::from_le_bytes(header[16..24].try_into().expect("eight bytes"));
    length.checked_add(CONTAINER_HEADER as u64)
}

/// Finds damage, no malice: each step is one to one, so one changed word changes the state for good.
pub fn checksum(body: &[u8]) -> u32 {
    let state = body.chunks(8).fold(body.len() as u64, |state, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (state ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    (state ^ (state >> 32)) as u32
}

/// Reads the container at the start of `bytes`; also returns how many bytes it takes.
pub fn decode(bytes: &[u8]) -> Result<(Container<'_>, usize), DecodeError> {
    let header = bytes.get(..CONTAINER_HEADER).ok_or(DecodeError::NotAnImage)?;
    if header[..8] != CONTAINER_MAGIC {
        return Err(DecodeError::NotAnImage);
    }
    let schema = u32::from_le_bytes(header[8..12].try_into().expect("four bytes"));
    if schema != super::SCHEMA {
        return Err(DecodeError::Schema(schema));
    }
    let end = extent(bytes).and_then(|n| usize::try_from(n).ok()).ok_or(DecodeError::Damaged)?;
    let body = bytes.get(CONTAINER_HEADER..end).ok_or(DecodeError::Damaged)?;
    if header[12..16] != checksum(body).to_le_bytes() {
        return Err(DecodeError::Damaged);
    }
    decode_body(body).map(|container| (container, end)).ok_or(DecodeError::Damaged)
}

#[cfg(not(relocgpu_device))]
fn decode_body(body: &[u8]) -> Option<Container<'_>> {
    postcard::from_bytes(body).ok()
}

/// Device code reads no images, so the device pass does without the crates that would.
#[cfg(relocgpu_device)]
fn decode_body(_body: &[u8]) -> Option<Container<'_>> {
    None
}

/// The native half of an image, a hidden constant of the object that the embed stage writes. Its symbol is
/// [`image_symbol`](super::names::image_symbol), and the index section holds its address.
#[repr(C)]
#[derive(Debug)]
pub struct RawImage {
    /// [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Unused, zero.
    pub reserved: u32,
    /// The container, header included.
    pub container: *const u8,
    /// Its bytes.
    pub container_len: usize,
    /// One word for each record of the manifest, filled by the program loader: see [`Target`](super::manifest::Target).
    pub host_table: *const *const (),
    /// Words in the host table.
    pub host_table_len: usize,
    /// Native code, or null if the image has none.
    pub cpu: *const super::cpu::CpuTable,
}

// SAFETY: an image is a constant made by the linker; nothing writes to it or to what it points at, but the slots of
// its CPU table, which only the CPU device's loader writes.
unsafe impl Sync for RawImage {}

/// Evaluates a `host!` expression to its word.
pub type ValueThunk = unsafe extern "C-unwind" fn() -> u64;

/// Evaluates a `host!(|device| …)` expression; `device` is a [`Device`](crate::Device).
pub type DeviceValueThunk = unsafe extern "C-unwind" fn(device: *const ()) -> u64;

/// Evaluates a table's expression: the elements stay where they are for the life of the process.
pub type TableThunk = unsafe extern "C-unwind" fn() -> RawTable;

/// Host memory of a table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawTable {
    /// First element; dangling but aligned if `len` is 0.
    pub data: *const u8,
    /// Number of elements.
    pub len: usize,
    /// Bytes of one element.
    pub element_size: usize,
    /// Alignment of one element.
    pub element_align: usize,
}

/// Makes the storage of a mapped static: the same for each call, and for the life of the process.
pub type MappedThunk = unsafe extern "C-unwind" fn() -> RawMapped;

/// Host memory that devices see: whole pages of its own.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawMapped {
    /// First byte, at the start of a page.
    pub data: *mut u8,
    /// Bytes, whole pages.
    pub bytes: usize,
}

/// Evaluates the initial value of a device static: constant bytes, for the life of the process.
pub type StaticThunk = unsafe extern "C-unwind" fn() -> RawStatic;

/// Initial value of a device static.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawStatic {
    /// Its bytes; dangling if there are none.
    pub data: *const u8,
    /// Their number.
    pub bytes: usize,
    /// Alignment.
    pub align: usize,
}
