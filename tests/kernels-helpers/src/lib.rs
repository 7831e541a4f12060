//! Kernels that call ordinary functions: of this crate, of a path dependency, of registry dependencies, of std.

mod dependencies;
mod own;
mod standard;

use check::Check;

/// The checks of this crate.
pub fn checks() -> Vec<Check> {
    [own::checks(), dependencies::checks(), standard::checks()].concat()
}
