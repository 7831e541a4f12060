//! What kernels call.

pub mod block;
pub mod disjoint;
pub(crate) mod intrinsic;
#[cfg(relocgpu_device)]
mod math;
#[cfg(relocgpu_device)]
mod panic;
mod refused;
pub mod shared;
pub mod thread;
