//! From the relocatable unit to code, once for each kind of target.

pub(crate) mod cpu;
pub(crate) mod nvptx;
