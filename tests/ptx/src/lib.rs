//! Reads PTX as text: modules and their entries; and the report on the program that holds it.

mod module;
pub mod report;

pub use module::Module;

/// The PTX of every image that the kernel crates of `tests/kernels-*` left in this program.
///
/// # Errors
/// If an image cannot be read.
pub fn linked() -> relocgpu_runtime::Result<Vec<Module>> {
    // What keeps the kernel crates, and with them their images, in this program.
    assert!(!end_to_end::themes().is_empty());
    let images = relocgpu_runtime::images()?;
    Ok(images.into_iter().flat_map(|image| image.ptx.into_iter().map(move |(arch, text)| Module::new(&image.name, arch, text))).collect())
}
