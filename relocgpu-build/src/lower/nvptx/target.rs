//! Architecture, PTX ISA version, triple.

use super::STAGE;
use crate::error::Error;
use crate::llvm;
use inkwell::module::Module;
use inkwell::targets::{TargetMachine, TargetTriple};
use relocgpu_runtime::contract::manifest::Manifest;

const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// Each architecture with the first PTX ISA version that knows it.
const ARCHITECTURES: [(u32, u32); 15] = [
    (70, 60),
    (72, 61),
    (75, 63),
    (80, 70),
    (86, 71),
    (87, 74),
    (88, 90),
    (89, 78),
    (90, 78),
    (100, 86),
    (101, 86),
    (103, 88),
    (110, 90),
    (120, 87),
    (121, 88),
];

/// Parameters beyond this many bytes need [`LARGE_PARAMETERS_ISA`].
const SMALL_PARAMETERS: u64 = 4352;
const LARGE_PARAMETERS_ISA: u32 = 81;

/// What is lowered for.
pub(super) struct Target {
    /// Optimises and emits.
    pub(super) machine: TargetMachine,
    /// PTX ISA version: the lowest that the architecture and the kernels allow.
    pub(super) isa: (u32, u32),
}

impl Target {
    pub(super) fn new(arch: u32, manifest: &Manifest) -> Result<Self, Error> {
        let Some((_, first)) = ARCHITECTURES.iter().find(|(known, _)| *known == arch) else {
            let known: Vec<_> = ARCHITECTURES.iter().map(|(arch, _)| format!("sm_{arch}")).collect();
            let what = format!("no such architecture: sm_{arch}; known are {}", known.join(", "));
            return Err(Error::Refused { stage: STAGE, what, help: "name one of these to `Builder::arch`" });
        };
        let large = manifest.kernels.iter().any(|kernel| kernel.block().0 > SMALL_PARAMETERS);
        let isa = if large { (*first).max(LARGE_PARAMETERS_ISA) } else { *first };
        let machine = llvm::machine(TRIPLE, &format!("sm_{arch}"), &format!("+ptx{isa}"))
            .map_err(Error::llvm(STAGE, format!("the target sm_{arch}")))?;
        Ok(Self { machine, isa: (isa / 10, isa % 10) })
    }

    /// Makes a host module one of this target.
    pub(super) fn retarget(&self, module: &Module) {
        module.set_triple(&TargetTriple::create(TRIPLE));
        module.set_data_layout(&self.machine.get_target_data().get_data_layout());
    }
}
