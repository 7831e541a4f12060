//! The build-time half of relocgpu: turns a package's kernels into images, from its build script.

mod env;
mod job;
mod pipeline;
