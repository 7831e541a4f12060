//! A module for each kind of host reference: what it refers to, a kernel that does so, and what comes of it.

pub mod bound;
pub mod deliveries;
pub mod device_static;
pub mod device_value;
pub mod function;
pub mod item;
pub mod mapped;
pub mod pointer;
pub mod symbol;
pub mod table;
pub mod value;
