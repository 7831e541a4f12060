//! Orderings of read-modify-write operations.
//!
//! ```llvm
//! %old = atomicrmw add ptr %p, i32 1 acq_rel
//! fence release                                      ; NVPTX drops the ordering of the operation, silently,
//! %old = atomicrmw add ptr %p, i32 1 monotonic       ; and PTX's default is relaxed
//! fence acquire
//! ```
//! Loads, stores, fences and compare-exchange keep theirs.

use crate::llvm;
use inkwell::AtomicOrdering;
use inkwell::llvm_sys::LLVMAtomicOrdering::*;
use inkwell::module::Module;

/// Runs the pass.
pub(super) fn run(module: &Module) {
    let builder = module.get_context().create_builder();
    for function in llvm::functions(module) {
        for instruction in llvm::instructions(function) {
            let (before, after) = match instruction.rmw_ordering() {
                Some(LLVMAtomicOrderingAcquire) => (None, Some(AtomicOrdering::Acquire)),
                Some(LLVMAtomicOrderingRelease) => (Some(AtomicOrdering::Release), None),
                Some(LLVMAtomicOrderingAcquireRelease) => (Some(AtomicOrdering::Release), Some(AtomicOrdering::Acquire)),
                Some(LLVMAtomicOrderingSequentiallyConsistent) => {
                    (Some(AtomicOrdering::SequentiallyConsistent), Some(AtomicOrdering::Acquire))
                }
                _ => continue,
            };
            let Some(at) = instruction.as_instruction() else { continue };
            let fence = |ordering: Option<AtomicOrdering>| {
                let fence = ordering.map(|ordering| builder.build_fence(ordering, false, ""));
                debug_assert!(fence.is_none_or(|built| built.is_ok()));
            };
            builder.position_before(&at);
            fence(before);
            if let Some(next) = at.get_next_instruction() {
                builder.position_before(&next);
                fence(after);
            }
            instruction.set_rmw_relaxed();
        }
    }
}
