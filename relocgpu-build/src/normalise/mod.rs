//! Normalise: from the host's IR to IR that any target can be lowered from.
//!
//! One file for each concern; each shows its IR before and after.

mod attributes;
mod convergence;
mod reporter;
mod unsupported;

use crate::error::{Error, Stage, Stopped};
use crate::link::{Linked, LinkedKernel};
use crate::{llvm, step};
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

const STAGE: Stage = Stage::Normalise;

/// A module without host-isms, whose references are still declarations.
pub(crate) struct Normalised<'c> {
    /// The module.
    pub(crate) module: Module<'c>,
    /// Kernel instances, sorted by name.
    pub(crate) kernels: Vec<LinkedKernel<'c>>,
    /// Runs target-neutral passes.
    pub(crate) machine: TargetMachine,
}

/// Normalises a linked module, or finds all that its kernels hold and a device cannot do.
pub(crate) fn run(linked: Linked<'_>) -> Result<Normalised<'_>, Stopped> {
    step::begin("normalising the kernels");
    let Linked { module, kernels, machine } = linked;
    attributes::run(&module, &kernels);
    convergence::run(&module);
    reporter::run(&module, &machine)?;
    // Drops what only unwinding reached, which must not count as a fault.
    for pipeline in ["function(simplifycfg)", "globaldce"] {
        llvm::run_passes(&module, pipeline, &machine).map_err(Error::llvm(STAGE, pipeline))?;
    }
    module.verify().map_err(|e| Error::llvm(STAGE, "the normalised module")(e.to_string()))?;
    let faults = unsupported::run(&module, &kernels);
    if faults.is_empty() { Ok(Normalised { module, kernels, machine }) } else { Err(Stopped::Faults(faults)) }
}
