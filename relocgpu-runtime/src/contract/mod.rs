//! What the build and the running program agree on: names, the manifest, the image, layouts, the CPU calling convention.
//!
//! Every name and every format has its one home here. `relocgpu-build` uses this crate with `default-features = false`
//! and sees this module alone. A change to anything that is stored or that crosses from device code to the host
//! raises [`SCHEMA`]; a test holds each version to its text in `stored/`. The device pass stores and reads nothing, and
//! does without the crates for it.

pub mod cpu;
pub mod image;
pub mod layout;
pub mod manifest;
pub mod names;
pub mod panic;
#[cfg(test)]
mod stored;

/// Version of everything in this module. An image made under another version is refused at load.
pub const SCHEMA: u32 = 2;
