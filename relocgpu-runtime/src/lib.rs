//! The run-time half of relocgpu.

pub mod contract;
