//! The checks of all kernel crates under `tests/kernels-*`, for whoever runs them on a device.

use check::Check;

/// Every kernel crate's theme and its checks.
pub fn themes() -> Vec<(&'static str, Vec<Check>)> {
    vec![
        ("atomics", kernels_atomics::checks()),
        ("generics", kernels_generics::checks()),
        ("helpers", kernels_helpers::checks()),
        ("indices", kernels_indices::checks()),
        ("instances", kernels_instances::checks()),
        ("numbers", kernels_numbers::checks()),
        ("panics", kernels_panics::checks()),
        ("references", kernels_references::checks()),
        ("shared", kernels_shared::checks()),
    ]
}
