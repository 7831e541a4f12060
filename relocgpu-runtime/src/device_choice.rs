//! Which device a program asks for.

/// Environment variable that says which device [`Device::best`](crate::Device::best) returns.
pub(crate) const VARIABLE: &str = "RELOCGPU_DEVICE";
