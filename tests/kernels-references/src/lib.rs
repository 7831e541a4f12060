//! Host references: words of every kind, tables of several element types, and when they are evaluated.

mod evaluation;
mod repetitions;
mod tables;
mod words;

use check::Check;

/// The checks of this crate.
pub fn checks() -> Vec<Check> {
    [words::checks(), tables::checks(), evaluation::checks(), repetitions::checks()].concat()
}
