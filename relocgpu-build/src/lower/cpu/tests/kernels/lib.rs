//! Kernels as the macros and the earlier stages leave them, for the tests of this folder. Compiled by rustc itself.
#![no_std]

mod apart;
mod device;
mod together;
