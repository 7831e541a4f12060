//! The build-time half of relocgpu: turns a package's kernels into images, from its build script.

mod env;
#[doc(hidden)]
pub mod inspect;
mod job;
mod llvm;
mod pipeline;
mod relocate;
