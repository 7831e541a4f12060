//! cudarc as relocgpu-runtime's feature `cudarc` has it in its interface. Programs depend on cudarc itself.
//!
//! The host needs cudarc always, the device pass only with that feature. Cargo has no dependency that depends on both a
//! feature and a `cfg`, and does not let a package name one crate twice: hence this second name.

pub use cudarc::driver;
