//! Normalise: from the host's IR to IR that any target can be lowered from.
//!
//! One file for each concern; each shows its IR before and after.

pub(crate) mod attributes;
pub(crate) mod convergence;
pub(crate) mod formatters;
pub(crate) mod libcalls;
pub(crate) mod panics;
pub(crate) mod reach;
mod reporter;
pub(crate) mod unsupported;

use crate::link::Linked;
use crate::llvm;
use crate::stage_error::StageError;
use relocgpu_runtime::contract::manifest::KernelFault;

const STAGE: &str = "normalise";

/// Normalises in place. The faults are the user's: all that the kernels hold.
pub(crate) fn run(linked: &Linked) -> Result<Vec<KernelFault>, StageError> {
    let module = &linked.module;
    let kernels: Vec<_> = linked.kernels.iter().map(|kernel| kernel.function).collect();
    attributes::run(module, &kernels);
    convergence::run(module);
    libcalls::keep_apart(module);
    panics::run(module);
    reporter::run(module, &linked.machine)?;
    // Drops what only unwinding reached, which must not count as a fault.
    for pipeline in ["function(simplifycfg)", "globaldce"] {
        llvm::run_passes(module, pipeline, &linked.machine).map_err(StageError::llvm(STAGE, pipeline))?;
    }
    module.verify().map_err(|e| StageError::Llvm { stage: STAGE, what: "the normalised module".into(), message: e.to_string() })?;
    Ok(unsupported::run(module, &linked.kernels))
}
