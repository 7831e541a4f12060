//! From the relocatable unit to PTX.
//!
//! One file for each concern. The order matters: memory spaces and barriers must be what they are before the first
//! optimisation, and reads of shared slices must be marked while their functions still have parameters.

mod atomics;
mod cycles;
mod emit;
mod entries;
mod hints;
mod intrinsics;
mod layout;
mod memory;
mod readonly;
mod shared;
mod slots;
mod target;

use crate::deliver;
use crate::error::{Error, Stage};
use crate::keep::Keep;
use crate::llvm;
use crate::relocate::Unit;
use crate::validate;
use inkwell::module::{Linkage, Module};
use relocgpu_runtime::contract::manifest::Site;
use relocgpu_runtime::contract::names::ptx;
use serde::{Deserialize, Serialize};

const STAGE: Stage = Stage::LowerPtx;

/// Simplifies until each kernel's own function shows its loads.
const SIMPLIFY: &str = "cgscc(inline),function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

/// PTX for one architecture and those after it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ptx {
    /// 75 is `sm_75`.
    pub(crate) arch: u32,
    /// PTX ISA version.
    pub(crate) isa: (u32, u32),
    /// The text.
    pub(crate) text: String,
}

/// Lowers a unit.
pub(crate) fn run(unit: &Unit, arch: u32, keep: Keep) -> Result<Ptx, Error> {
    let names = || unit.manifest.kernels.iter().map(|k| format!("`{}`", k.name)).collect::<Vec<_>>().join(", ");
    let refused = |what: &str| Error::llvm(STAGE, format!("{what} (sm_{arch}, kernels {})", names()));
    let target = target::Target::new(arch, &unit.manifest)?;
    let context = llvm::new_context();
    let module = llvm::load(&context, &unit.bitcode, "unit").map_err(refused("the unit"))?;
    deliver::run(&context, &module, unit, true)?;
    target.retarget(&module);
    shared::run(&module)?;
    slots::run(&module, &unit.manifest)?;
    let circles = cycles::run(&module)?;
    hints::run(&module);
    atomics::run(&module);
    memory::run(&module)?;
    intrinsics::run(&module)?;
    let bodies = readonly::isolate(&module, &unit.manifest);
    llvm::run_passes(&module, SIMPLIFY, &target.machine).map_err(refused("simplification"))?;
    readonly::mark(bodies);
    entries::run(&module, &unit.manifest)?;
    internalise(&module, unit, &circles);
    module.verify().map_err(|e| refused("the legalised module")(e.to_string()))?;
    keep.module(&format!("4-sm_{arch}.legal.ll"), &module)?;
    llvm::run_passes(&module, "default<O3>,globaldce", &target.machine).map_err(refused("optimisation"))?;
    keep.module(&format!("4-sm_{arch}.optimised.ll"), &module)?;
    layout::run(&module);
    let text = emit::run(&module, &target.machine).map_err(refused("the optimised module"))?;
    let text = cycles::join(text, &circles);
    keep.file(&format!("4-sm_{arch}.ptx"), || &text)?;
    validate::ptx(&text, &unit.manifest)?;
    Ok(Ptx { arch, isa: target.isa, text })
}

/// Only what the loader looks up can be seen.
fn internalise(module: &Module, unit: &Unit, circles: &[cycles::Circle]) {
    for function in llvm::functions(module).into_iter().filter(|f| f.count_basic_blocks() != 0) {
        let name = llvm::Value::from(function).name();
        if unit.manifest.kernels.iter().all(|kernel| kernel.entry != name) {
            function.set_linkage(Linkage::Internal);
        }
    }
    for global in llvm::globals(module).into_iter().filter(|g| g.get_initializer().is_some()) {
        let name = llvm::Value::from(global).name();
        let looked_up = [ptx::SLOTS, ptx::PANIC_CLAIM, ptx::PANIC_RECORD].contains(&name.as_str());
        let patched = || unit.manifest.records.iter().any(|record| record.site == Site::Interior && record.name == name);
        if !looked_up && !cycles::is_definition(circles, &name) && !patched() {
            global.set_linkage(Linkage::Internal);
        }
    }
}
