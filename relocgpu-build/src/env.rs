//! Environment variables.
/// Set to `lower` in the lowering process.
pub(crate) const STAGE: &str = "RELOCGPU_STAGE";
