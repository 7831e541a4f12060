//! core's atomics of 32 and 64 bits, with their orderings.

mod operations;
mod protocols;

use check::Check;

/// The checks of this crate.
pub fn checks() -> Vec<Check> {
    [operations::checks(), protocols::checks()].concat()
}
