//! Checks at the seams between stages: what would otherwise fail late, or not at all.

use crate::stage_error::StageError;
use relocgpu_runtime::contract::manifest::Manifest;
use relocgpu_runtime::contract::names::ptx as symbols;

/// What PTX may leave to others.
const EXTERN: [&str; 2] = [".extern .shared", ".extern .func (.param .b32 func_retval0) vprintf"];

/// Checks finished PTX: ptxas only warns about an unresolved variable, and defines it as zero.
pub(crate) fn ptx(text: &str, manifest: &Manifest) -> Result<(), StageError> {
    let stage = "validating PTX";
    let mut lines = text.lines().map(str::trim_start).peekable();
    while let Some(line) = lines.next() {
        let declaration = format!("{line} {}", lines.peek().unwrap_or(&"").trim());
        if line.starts_with(".extern") && !EXTERN.iter().any(|allowed| line.starts_with(allowed)) {
            return Err(StageError::unit(stage, format!("the PTX refers to something that nothing defines: {declaration}")));
        }
    }
    for kernel in &manifest.kernels {
        if !text.contains(&format!(".entry {}(", kernel.entry)) {
            return Err(StageError::unit(stage, format!("kernel `{}` has no entry in the PTX", kernel.name)));
        }
    }
    if manifest.slots().next().is_some() && !text.contains(symbols::SLOTS) {
        return Err(StageError::unit(stage, format!("`{}` is not in the PTX", symbols::SLOTS)));
    }
    Ok(())
}
