//! Lower: from the relocatable unit to code, once for each target. All targets start from the same unit.

pub(crate) mod cpu;
pub(crate) mod nvptx;

use crate::error::Stopped;
use crate::job::Job;
use crate::keep::Keep;
use crate::relocate::Unit;
use crate::step;
use serde::{Deserialize, Serialize};
use std::thread::{self, ScopedJoinHandle};

/// All code of one unit.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Code {
    /// By rising architecture.
    pub(crate) ptx: Vec<nvptx::Ptx>,
    /// By rising level.
    pub(crate) native: cpu::Native,
}

/// Lowers a unit for every target of a job, all at once: each in a thread, with an LLVM context of its own.
pub(crate) fn run(unit: &Unit, job: &Job, keep: Keep) -> Result<Code, Stopped> {
    let kernels = unit.manifest.kernels.iter().map(|kernel| format!("`{}`", kernel.name)).collect::<Vec<_>>().join(", ");
    let architectures = job.architectures.iter().map(|arch| format!(", to PTX for sm_{arch}")).collect::<String>();
    step::begin(format!("lowering {kernels} to native code{architectures}"));
    let (ptx, native) = thread::scope(|scope| {
        let native = scope.spawn(|| cpu::run(unit, &job.cpu_levels));
        let ptx: Vec<_> = job.architectures.iter().map(|arch| scope.spawn(|| nvptx::run(unit, *arch, keep))).collect();
        (ptx.into_iter().map(joined).collect::<Result<Vec<_>, _>>(), joined(native))
    });
    let (ptx, native) = (ptx?, native?);
    for level in &native.levels {
        keep.file(&format!("4-{}.o", level.name), || &level.object)?;
    }
    Ok(Code { ptx, native })
}

/// What a thread returns; its panic goes on in this one.
fn joined<T>(thread: ScopedJoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
