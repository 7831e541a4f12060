//! In progress.

/// The checks of this crate.
pub fn checks() -> Vec<check::Check> {
    Vec::new()
}
