//! The device library's reporter must not report on itself: that would be a recursion without end.
//!
//! ```llvm
//! define void @__relocgpu_store_record(…) { … call void @panic_bounds_check(…) … }     ; a debug build's checks
//! define void @__relocgpu_store_record(…) { … call void @llvm.trap() … }               ; all that it calls inlined before
//! ```

use super::STAGE;
use crate::error::Error;
use crate::link::panics;
use crate::llvm::{self, Value};
use crate::symbols::PANIC_INTERFACE;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use inkwell::values::FunctionValue;

/// Rounds of inlining; the library's own calls are not nested as deep.
const ROUNDS: u32 = 16;

/// Runs the pass.
pub(super) fn run<'c>(module: &Module<'c>, machine: &TargetMachine) -> Result<(), Error> {
    let reporters = PANIC_INTERFACE.map(|name| module.get_function(name).filter(|f| f.count_basic_blocks() != 0));
    let reporters: Vec<FunctionValue<'c>> = reporters.into_iter().flatten().collect();
    for _ in 0..ROUNDS {
        let mut any = false;
        for call in reporters.iter().flat_map(|f| llvm::instructions(*f)) {
            if call.called_function().is_some_and(|f| f.count_basic_blocks() != 0 && !reporters.contains(&f) && !panics::is_entry_point(f))
            {
                llvm::add_call_attribute(call, "alwaysinline");
                any = true;
            }
        }
        if !any {
            break;
        }
        llvm::run_passes(module, "always-inline", machine).map_err(Error::llvm(STAGE, "always-inline"))?;
    }
    let trap = llvm::intrinsic(module, "llvm.trap", &[]);
    for call in reporters.iter().flat_map(|f| llvm::instructions(*f)) {
        if call.called_function().is_some_and(panics::is_entry_point) {
            llvm::rewrite::call_before(call, trap, &[]);
            call.erase();
        }
    }
    if !Value::from(trap).is_used() {
        llvm::delete_function(trap);
    }
    Ok(())
}
