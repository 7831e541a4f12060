//! What only hints to the host's compiler or CPU is dropped.
//!
//! | instruction | why |
//! |---|---|
//! | `fence syncscope("singlethread")` | `compiler_fence`: the back-end ends the process on it |
//! | `llvm.x86.sse2.pause` | `spin_loop` |
//! | empty inline assembly of the host's dialect | `black_box`: made anew without the dialect |

use crate::llvm;
use crate::symbols::{PAUSE, calls};
use inkwell::module::Module;

/// Runs the pass.
pub(super) fn run(module: &Module) {
    for function in llvm::functions(module) {
        for instruction in llvm::instructions(function) {
            if calls(instruction, PAUSE) || instruction.is_single_thread_fence() {
                instruction.erase();
            } else if instruction.called().is_some_and(|called| called.as_asm().is_some()) {
                llvm::clear_asm_dialect(instruction);
            }
        }
    }
}
