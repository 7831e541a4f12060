//! From bitcode to an image, for one unit: what the lowering process does.
//!
//! ```text
//! Job ─link─► Linked ─normalise─► Normalised ─relocate─► Unit ─lower─► Code ─embed─► Image
//! ```
//! Each arrow is a file, or a folder with a file for each concern, and takes what stands before it by value.

use crate::error::{Error, Stopped};
use crate::job::{Image, Job, Lowered, Outcome};
use crate::keep::Keep;
use crate::{cache, embed, link, llvm, lower, normalise, relocate};

/// Runs every stage for one unit.
pub(crate) fn run(job: &Job) -> Result<Outcome, Error> {
    match stages(job) {
        Ok(Some((image, lowered))) => Ok(Outcome::Built(image, lowered)),
        Ok(None) => Ok(Outcome::Nothing),
        Err(Stopped::Faults(faults)) => Ok(Outcome::Faults(faults)),
        Err(Stopped::Failed(error)) => Err(error),
    }
}

/// The flow; `None` if the unit holds no kernel.
fn stages(job: &Job) -> Result<Option<(Image, Lowered)>, Stopped> {
    let keep = Keep::in_folder(job.keep.as_deref());
    let context = llvm::new_context();
    let Some(linked) = link::run(&context, job)? else { return Ok(None) };
    keep.module("1-linked.ll", &linked.module)?;
    let normalised = normalise::run(linked)?;
    keep.module("2-normalised.ll", &normalised.module)?;
    let unit = relocate::run(normalised, job)?;
    keep.file("3-unit.ll", || unit.text())?;
    keep.file("3-unit.bc", || &unit.bitcode)?;
    let (code, lowered) = cache::code(&unit, job, || lower::run(&unit, job, keep))?;
    Ok(Some((embed::run(unit, code, &job.out_dir)?, lowered)))
}
