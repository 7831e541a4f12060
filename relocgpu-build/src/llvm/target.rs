//! Target machines.

use inkwell::OptimizationLevel;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};

/// A machine for a triple, target CPU and features; position-independent code.
pub(crate) fn machine(triple: &str, cpu: &str, features: &str) -> Result<TargetMachine, String> {
    let config = InitializationConfig::default();
    if triple.starts_with("nvptx") {
        Target::initialize_nvptx(&config);
    } else {
        Target::initialize_x86(&config);
    }
    let triple = TargetTriple::create(triple);
    let target = Target::from_triple(&triple).map_err(|e| e.to_string())?;
    target
        .create_target_machine(&triple, cpu, features, OptimizationLevel::Aggressive, RelocMode::PIC, CodeModel::Default)
        .ok_or_else(|| format!("LLVM has no machine for {triple} with CPU `{cpu}`"))
}

/// A machine for target-neutral passes on a module that still has its host's triple.
pub(crate) fn host_machine() -> Result<TargetMachine, String> {
    Target::initialize_x86(&InitializationConfig::default());
    let triple = TargetMachine::get_default_triple();
    machine(&triple.as_str().to_string_lossy(), "", "")
}
