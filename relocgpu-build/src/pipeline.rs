//! From bitcode to an image: the stages that the lowering process runs for one unit.

use crate::job::{Built, Job, Outcome};
use crate::lower::cpu::CpuError;
use crate::lowered::{self, Lowered};
use crate::lowering::doing;
use crate::relocate::Unit;
use crate::stage_error::StageError;
use crate::{embed, link, llvm, lower, normalise, relocate};
use relocgpu_runtime::contract::image::PtxEntry;
use relocgpu_runtime::contract::manifest::KernelFault;
use std::path::Path;

/// Runs every stage for one unit.
pub(crate) fn run(job: Job) -> Outcome {
    stages(&job).unwrap_or_else(|error| Outcome::Failed(error.to_string()))
}

/// link → normalise → relocate → lower → embed.
fn stages(job: &Job) -> Result<Outcome, StageError> {
    let context = llvm::new_context();
    doing(job, "linking the kernels' bitcode");
    let Some(linked) = link::run(&context, job)? else {
        return Ok(Outcome::Built(Built { unit_hash: [0; 32], objects: Vec::new(), kernels: 0, own_kernels: 0, reused: false }));
    };
    keep(job, "1-linked.ll", || linked.module.print_to_string().to_string().into())?;
    doing(job, "normalising the kernels");
    let faults = normalise::run(&linked)?;
    if !faults.is_empty() {
        return Ok(Outcome::Faults(faults));
    }
    keep(job, "2-normalised.ll", || linked.module.print_to_string().to_string().into())?;
    doing(job, "recording host references");
    let unit = relocate::run(&linked, job)?;
    keep(job, "3-unit.ll", || linked.module.print_to_string().to_string().into())?;
    keep(job, "3-unit.bc", || unit.bitcode.clone())?;
    let (lowered, reused) = match lowered::load(&unit, job) {
        Some(lowered) => (lowered, true),
        None => match lower(&unit, job)? {
            Ok(lowered) => (lowered, false),
            Err(faults) => return Ok(Outcome::Faults(faults)),
        },
    };
    doing(job, "writing the image");
    let objects = embed::run(&unit, lowered.ptx(), &lowered.native, &job.out_dir)?;
    if !reused {
        lowered.store(job);
    }
    let kernels = unit.manifest.kernels.len();
    Ok(Outcome::Built(Built { unit_hash: unit.hash, objects, kernels, own_kernels: own_kernels(&unit), reused }))
}

/// Lowers for every target; the inner `Err` holds faults of the user's kernels.
fn lower(unit: &Unit, job: &Job) -> Result<Result<Lowered, Vec<KernelFault>>, StageError> {
    let mut ptx = Vec::with_capacity(job.architectures.len());
    for arch in &job.architectures {
        doing(job, &format!("lowering {} to PTX for sm_{arch}", kernel_names(unit)));
        let made = lower::nvptx::run(unit, *arch, &mut |name, text| keep(job, &format!("4-{name}"), || text().into()))?;
        ptx.push(PtxEntry { arch: made.arch, isa: made.isa, text: made.text.into() });
    }
    doing(job, &format!("lowering {} to native code", kernel_names(unit)));
    let native = match lower::cpu::run(&unit.bitcode, &unit.manifest, &unit.source_map, &job.cpu_levels) {
        Ok(native) => native,
        Err(CpuError::Faults(faults)) => return Ok(Err(faults)),
        Err(CpuError::Internal(message)) => return Err(StageError::unit("lower", message)),
    };
    for level in &native.levels {
        keep(job, &format!("4-{}.o", level.name), || level.object.clone())?;
    }
    Ok(Ok(Lowered::new(unit, job, ptx, native)))
}

/// For messages: the kernels that are being lowered.
fn kernel_names(unit: &Unit) -> String {
    unit.manifest.kernels.iter().map(|kernel| format!("`{}`", kernel.name)).collect::<Vec<_>>().join(", ")
}

/// Kernels that the unit's own crate defines.
fn own_kernels(unit: &Unit) -> usize {
    let own = format!("{}::", unit.manifest.unit.crate_name);
    unit.manifest.kernels.iter().filter(|kernel| kernel.name.starts_with(&own)).count()
}

/// Writes an intermediate for whoever asked to see them.
fn keep(job: &Job, name: &str, bytes: impl FnOnce() -> Vec<u8>) -> Result<(), StageError> {
    let Some(folder) = &job.keep else { return Ok(()) };
    let write = |path: &Path| std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, bytes()));
    let path = folder.join(name);
    write(&path).map_err(|source| StageError::File { path, source })
}
