//! What the lowering process is at, told before each step: LLVM may end the process, and then nothing else can.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

struct Step {
    what: String,
    /// Where the parent process reads it.
    file: Option<PathBuf>,
}

static STEP: Mutex<Step> = Mutex::new(Step { what: String::new(), file: None });

/// Names the step that begins, and the kernels that it is about where it is about some.
pub(crate) fn begin(what: impl Into<String>) {
    let mut step = STEP.lock().unwrap_or_else(PoisonError::into_inner);
    step.what = what.into();
    if let Some(file) = &step.file {
        // Only a report would miss it.
        let _ = std::fs::write(file, &step.what);
    }
}

/// Tells the steps from here on to a file.
pub(crate) fn tell(file: PathBuf) {
    STEP.lock().unwrap_or_else(PoisonError::into_inner).file = Some(file);
}

/// The last step that has begun.
pub(crate) fn current() -> String {
    STEP.lock().unwrap_or_else(PoisonError::into_inner).what.clone()
}
