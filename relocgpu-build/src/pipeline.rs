//! From bitcode to an image: the stages that the lowering process runs for one unit.

use crate::job::{Job, Outcome};

/// Runs every stage for one unit.
pub(crate) fn run(job: Job) -> Outcome {
    // Filled by the stages as they arrive: link, normalise, relocate, lower, embed.
    Outcome::Failed(format!("no stage lowers `{}` yet", job.unit.crate_name))
}
