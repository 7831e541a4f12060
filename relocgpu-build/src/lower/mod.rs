//! Lower: from the relocatable unit to code, once for each target. All targets start from the same unit.

pub(crate) mod cpu;
pub(crate) mod nvptx;

use crate::error::Stopped;
use crate::job::Job;
use crate::keep::Keep;
use crate::relocate::Unit;
use crate::step;
use serde::{Deserialize, Serialize};

/// All code of one unit.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Code {
    /// By rising architecture.
    pub(crate) ptx: Vec<nvptx::Ptx>,
    /// By rising level.
    pub(crate) native: cpu::Native,
}

/// Lowers a unit for every target of a job.
pub(crate) fn run(unit: &Unit, job: &Job, keep: Keep) -> Result<Code, Stopped> {
    let kernels = unit.manifest.kernels.iter().map(|kernel| format!("`{}`", kernel.name)).collect::<Vec<_>>().join(", ");
    let mut ptx = Vec::with_capacity(job.architectures.len());
    for arch in &job.architectures {
        step::begin(format!("lowering {kernels} to PTX for sm_{arch}"));
        ptx.push(nvptx::run(unit, *arch, keep)?);
    }
    step::begin(format!("lowering {kernels} to native code"));
    let native = cpu::run(unit, &job.cpu_levels)?;
    for level in &native.levels {
        keep.file(&format!("4-{}.o", level.name), || &level.object)?;
    }
    Ok(Code { ptx, native })
}
