//! Everything is `convergent`: no pass may copy a barrier, or move one into a branch.
//!
//! ```llvm
//! define void @f(ptr %g) { call void %g() … }                            ; before
//! define void @f(ptr %g) convergent { call void %g() convergent … }      ; after
//! ```
//! Marking only the functions that hold barriers is not enough: a helper that is inlined later is duplicated before
//! anybody sees what is in it, and so is a call through a pointer. LLVM takes the mark off again where it can show
//! that nothing needs it.

use crate::llvm::{self, Place};
use inkwell::module::Module;

/// Runs the pass; before any optimisation.
pub(super) fn run(module: &Module) {
    for function in llvm::functions(module) {
        if function.get_intrinsic_id() != 0 {
            continue;
        }
        llvm::add_attribute(function, Place::Function, "convergent");
        for call in llvm::instructions(function).into_iter().filter(|i| i.is_call()) {
            if call.called_function().is_none() {
                llvm::add_call_attribute(call, "convergent");
            }
        }
    }
}
