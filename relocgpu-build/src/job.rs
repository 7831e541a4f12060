//! What the build script hands to its lowering process for one unit, and what comes back: both JSON files, so that a
//! failed step can be run again by hand.

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
    /// All that `rustc -vV` says: its LLVM is the one that lowers.
    pub compiler: String,
    /// GPU architectures by rising number: 75 is `sm_75`.
    pub architectures: Vec<u32>,
    /// Target CPUs of the native code by rising level.
    pub cpu_levels: Vec<String>,
    /// Whether the PTX names source lines.
    pub line_info: bool,
    /// Where the words of host references live, for kernels that do not say so themselves.
    pub delivery: Delivery,
    /// Folder of the code that earlier builds have lowered.
    pub cache: PathBuf,
    /// Folder for the IR of each stage, made if it is absent.
    pub keep: Option<PathBuf>,
    /// Folder of this unit alone, already there: objects go into it.
    pub out_dir: PathBuf,
}

/// Where the words of host references live, once they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delivery {
    /// In the module, which is written when it is loaded.
    #[default]
    Patch,
    /// In each launch, behind the kernel's parameters.
    Table,
    /// In the GPU's code: the driver's compiler folds them. Values only, no addresses; the CPU's code is patched.
    Bake,
}

/// What a job came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The unit has nothing for the device.
    Nothing,
    /// There is an image.
    Built(Image, Lowered),
    /// The user's kernels hold what a device cannot do.
    Faults(Vec<KernelFault>),
}

impl Outcome {
    /// Whether the files that it names are still there.
    pub fn is_there(&self) -> bool {
        match self {
            Self::Built(image, _) => image.objects.iter().all(|object| object.exists()),
            Self::Nothing | Self::Faults(_) => true,
        }
    }
}

/// A finished image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its object files.
    pub objects: Vec<PathBuf>,
    /// Whether the unit's own crate defines all of its kernels: whoever launches them refers to the image's symbol. Nothing
    /// does for instances of other crates' kernels, so an image with any of those must be linked whole.
    pub is_referred_to: bool,
}

/// An image's code in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lowered {
    /// Hex digits of a hash of all that it follows from.
    pub key: String,
    /// How it was come by.
    pub origin: Origin,
}

/// How an image's code was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// The unit was lowered.
    Made,
    /// An earlier build had lowered it.
    Cache,
    /// The image itself is still there.
    Image,
}
