//! Where threads are, what they write, and what is passed to them.

mod buffers;
mod grids;
mod parameters;
mod spaces;

use check::Check;

/// The checks of this crate.
pub fn checks() -> Vec<Check> {
    [grids::checks(), spaces::checks(), parameters::checks(), buffers::checks()].concat()
}
