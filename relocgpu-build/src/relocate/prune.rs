//! What is left after optimisation: which references are read, and which kernels can panic.
//!
//! ```llvm
//! @"relocgpu\1Fvalue\1F…" = external global i64          ; before: read in a branch that is never taken
//! @relocgpu.dead = internal constant i64 0               ; after
//! ```
//! Optimising the unit itself would decide for every target at once, so a copy is optimised. A reference that is gone
//! from it is replaced in the unit by a constant: no run reads it, hence any value will do, and it is never evaluated.

use super::STAGE;
use crate::error::Error;
use crate::llvm::{self, Value};
use crate::reach::References;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetMachine;
use inkwell::values::FunctionValue;
use relocgpu_runtime::contract::names::{Reference, intrinsic};
use std::collections::HashSet;

/// What shows code to be dead: a fraction of a whole optimisation, whose loops and vectors would not matter here.
const PIPELINE: &str = "ipsccp,cgscc(inline,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)),\
                        function(correlated-propagation,sccp,instcombine<no-verify-fixpoint>,simplifycfg,gvn,adce),globaldce";

/// What an optimised copy shows.
pub(super) struct Left {
    /// Names of globals that are used.
    globals: HashSet<String>,
    /// Names of external functions that reach the reporter.
    panicking: HashSet<String>,
}

impl Left {
    /// Optimises a copy.
    pub(super) fn find(module: &Module, machine: &TargetMachine) -> Result<Self, Error> {
        let context = llvm::new_context();
        let copy = llvm::load(&context, &llvm::write_bitcode(module), "copy").map_err(Error::llvm(STAGE, "a copy of the unit"))?;
        llvm::run_passes(&copy, PIPELINE, machine).map_err(Error::llvm(STAGE, "a copy of the unit"))?;
        let references = References::new(&copy);
        let name = |function: &FunctionValue| Value::from(*function).name();
        let functions = llvm::functions(&copy);
        let mut panicking = HashSet::new();
        // Kernels are the external ones.
        for function in functions.iter().filter(|f| f.count_basic_blocks() != 0 && f.get_linkage() == Linkage::External) {
            if references.from(*function).order.iter().any(|reached| name(reached) == intrinsic::REPORT) {
                panicking.insert(name(function));
            }
        }
        let globals = llvm::globals(&copy).into_iter().map(Value::from).filter(|global| global.is_used()).map(Value::name).collect();
        Ok(Self { globals, panicking })
    }

    /// Whether the kernel can panic.
    pub(super) fn panics(&self, kernel: Value) -> bool {
        self.panicking.contains(&kernel.name())
    }

    /// Drops the references that are not read.
    pub(super) fn prune(&self, module: &Module) {
        for global in llvm::globals(module) {
            let name = Value::from(global).name();
            let Some(reference) = Reference::parse(&name).filter(|_| !self.globals.contains(&name)) else { continue };
            if reference.kind == Reference::ITEM {
                Value::from(global).replace_uses(global.as_pointer_value().get_type().const_null().into());
                llvm::delete_global(global);
                continue;
            }
            let word = module.get_context().i64_type();
            let dead = module.add_global(word, None, "relocgpu.dead");
            dead.set_initializer(&word.const_zero());
            dead.set_constant(true);
            dead.set_linkage(Linkage::Internal);
            Value::from(global).replace_uses(dead.into());
            llvm::delete_global(global);
        }
    }
}
