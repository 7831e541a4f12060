//! What stops a stage that is not the user's kernels' fault: the environment, LLVM, or relocgpu itself.

use std::path::PathBuf;

/// Where a stage stopped, and why.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// LLVM refused something.
    #[error("{stage}: LLVM refused {what}: {message}")]
    Llvm {
        /// The stage.
        stage: &'static str,
        /// File, kernel or pass that it was about.
        what: String,
        /// What LLVM said.
        message: String,
    },
    /// The unit is not what a stage relies on.
    #[error("{stage}: {message}")]
    Unit {
        /// The stage.
        stage: &'static str,
        /// What, and what to do.
        message: String,
    },
}

impl StageError {
    /// [`Self::Llvm`], for `map_err`.
    pub(crate) fn llvm(stage: &'static str, what: impl Into<String>) -> impl FnOnce(String) -> Self {
        let what = what.into();
        move |message| Self::Llvm { stage, what, message }
    }

    /// [`Self::Unit`].
    pub(crate) fn unit(stage: &'static str, message: impl Into<String>) -> Self {
        Self::Unit { stage, message: message.into() }
    }
}
