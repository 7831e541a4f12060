//! The run-time half of relocgpu.

pub mod contract;

#[cfg(feature = "host")]
mod backend;
#[cfg(feature = "host")]
mod device_choice;
#[cfg(feature = "host")]
mod error;
#[cfg(feature = "host")]
mod grid;
#[cfg(feature = "host")]
mod image;
#[cfg(feature = "host")]
mod panic_text;
