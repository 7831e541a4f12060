//! What the build script hands to its lowering process for one unit, and what comes back.
//!
//! LLVM ends the process on a fatal error, so everything that touches it runs in a child: the build script started again
//! with [`STAGE`](crate::env::STAGE) in its environment. Both directions are JSON files, so that a failed step can be
//! run again by hand.

use relocgpu_runtime::contract::manifest::{KernelFault, UnitName};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One unit, that is one compile of one target of the package, to be turned into one image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Which compile of which target.
    pub unit: UnitName,
    /// Bitcode of the unit's own crate.
    pub root: PathBuf,
    /// Bitcode of the crates it depends on, dependents before dependencies, without `root`.
    pub libraries: Vec<PathBuf>,
    /// The standard library's archives that carry bitcode, dependents before dependencies: `alloc`, `core`, `compiler_builtins`.
    pub std: Vec<PathBuf>,
    /// GPU architectures by rising number: 75 is `sm_75`.
    pub architectures: Vec<u32>,
    /// Target CPUs of the native code by rising level.
    pub cpu_levels: Vec<String>,
    /// Whether the PTX names source lines.
    pub line_info: bool,
    /// Whether the crate was compiled with debug assertions.
    pub debug_assertions: bool,
    /// Folder for the IR of each stage, made if it is absent.
    pub keep: Option<PathBuf>,
    /// Folder of this unit alone, already there: objects go into it.
    pub out_dir: PathBuf,
}

/// How the lowering process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// There is an image, or the unit has nothing for the device (`kernels` is 0, no objects).
    Built(Built),
    /// The user's kernels hold what a device cannot do.
    Faults(Vec<KernelFault>),
    /// The environment or relocgpu itself is at fault: the whole message.
    Failed(String),
}

/// A finished image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    /// Hash of the relocatable unit.
    pub unit_hash: [u8; 32],
    /// Object files of the image.
    pub objects: Vec<PathBuf>,
    /// Kernels in the image.
    pub kernels: usize,
    /// Those that are defined in the unit's own crate: its code then refers to the image's symbol. An image of foreign
    /// instances only is referred to by nothing and must be linked whole.
    pub own_kernels: usize,
    /// Whether lowering was skipped.
    pub reused: bool,
}
