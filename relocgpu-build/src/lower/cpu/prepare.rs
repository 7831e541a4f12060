//! Makes a unit's module the host's again: nothing external but the entries, and no attribute that steers another target.
//!
//! ```llvm
//! define void @f() convergent noinline nounwind { … }      ; before
//! define internal void @f() nounwind { … }                 ; after
//! ```

use crate::llvm::{self, Value};
use crate::symbols::MEMORY;
use inkwell::module::{Linkage, Module};
use std::collections::HashSet;

/// Attributes of functions and calls that say what the code does; all others (`convergent`, `noinline`, features of
/// the CPU that rustc aimed at) say how to compile it, and are dropped.
const KEPT: [&str; 9] = ["noreturn", "cold", "nounwind", "willreturn", "nofree", "nosync", "memory", "speculatable", "uwtable"];

/// Prepares the module; `entries` stay external.
pub(super) fn run(module: &Module, entries: &HashSet<&str>) {
    for function in llvm::functions(module) {
        let name = Value::from(function).name();
        if name.starts_with("llvm.") {
            continue;
        }
        llvm::clear_function_attributes(function, &KEPT);
        if function.count_basic_blocks() == 0 {
            continue;
        }
        llvm::clear_personality(function);
        for call in llvm::instructions(function).into_iter().filter(|i| i.is_call()) {
            llvm::clear_call_attributes(call, &KEPT);
        }
        if MEMORY.contains(&name.as_str()) {
            // The host's C library has it in its best form, and a body of the unit's own would, once LLVM recognises it
            // as that function, call itself.
            let declaration = module.add_function("", function.get_type(), Some(Linkage::External));
            Value::from(function).replace_uses(declaration.into());
            llvm::delete_function(function);
            Value::from(declaration).set_name(&name);
        } else if !entries.contains(name.as_str()) {
            function.set_linkage(Linkage::Internal);
        }
    }
    for global in llvm::globals(module) {
        let name = Value::from(global).name();
        if name.starts_with("llvm.") {
            // They keep alive what the link stage has chosen already.
            llvm::delete_global(global);
        } else if !global.is_declaration() {
            global.set_linkage(Linkage::Internal);
        }
    }
}
