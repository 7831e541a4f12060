//! Records that nothing reads in the end are dropped, and never evaluated.
//!
//! What is dead shows only after optimisation, and optimising the unit itself would decide for every target at once.
//! So a copy is optimised, and a reference that is gone from it is replaced here by a constant: no run reads it, hence
//! any value will do.

use super::STAGE;
use crate::llvm::{self, Value};
use crate::stage_error::StageError;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetMachine;
use relocgpu_runtime::contract::names::Reference;
use std::collections::HashSet;

/// What shows code to be dead: a fraction of a whole optimisation, whose loops and vectors would not matter here.
const PIPELINE: &str = "ipsccp,cgscc(inline,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)),\
                        function(correlated-propagation,sccp,instcombine<no-verify-fixpoint>,simplifycfg,gvn,adce),globaldce";

/// Runs the pass.
pub(super) fn run(module: &Module, machine: &TargetMachine) -> Result<(), StageError> {
    let references: Vec<_> = llvm::globals(module).into_iter().filter(|g| Reference::parse(&Value::from(*g).name()).is_some()).collect();
    if references.is_empty() {
        return Ok(());
    }
    let alive = alive(module, machine)?;
    for global in references.into_iter().filter(|global| !alive.contains(&Value::from(*global).name())) {
        let word = module.get_context().i64_type();
        let dead = module.add_global(word, None, "relocgpu.dead");
        dead.set_initializer(&word.const_zero());
        dead.set_constant(true);
        dead.set_linkage(Linkage::Internal);
        Value::from(global).replace_uses(dead.into());
        llvm::delete_global(global);
    }
    Ok(())
}

/// Names of the globals that an optimised copy still uses.
fn alive(module: &Module, machine: &TargetMachine) -> Result<HashSet<String>, StageError> {
    let context = llvm::new_context();
    let copy = llvm::load(&context, &llvm::write_bitcode(module), "copy").map_err(StageError::llvm(STAGE, "a copy of the unit"))?;
    llvm::run_passes(&copy, PIPELINE, machine).map_err(StageError::llvm(STAGE, "a copy of the unit"))?;
    Ok(llvm::globals(&copy).into_iter().map(Value::from).filter(|global| global.is_used()).map(Value::name).collect())
}
