//! Tells each function which thread runs it, once the bodies are inlined.
//!
//! In the function that holds the mark, the thread's index is the loops' counters:
//!
//! ```text
//! call void @relocgpu_this_thread(i32 %tx, i32 %ty, i32 %tz)
//! %i = call i32 @__relocgpu_thread_idx_x()                        →  %i is %tx
//! call void @deep(ptr %p)    ; not inlined, asks for the index    →  call void @__relocgpu_store_thread(i32 %tx, …) before it
//! ```
//!
//! Panics are such calls: the stores stand in blocks that are hardly ever run, which costs the loop nothing.

use super::inline::{CallGraph, is_address_taken};
use super::{intrinsics, names};
use crate::llvm::rewrite::{call_before, jump_instead};
use crate::llvm::{self, Value};
use crate::symbols::calls;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use relocgpu_runtime::contract::names::intrinsic::{THREAD_END, THREAD_IDX};

/// Settles the thread's index everywhere, and what ends a thread that was not resumed.
pub(super) fn run(module: &Module) {
    let Some(mark) = module.get_function(names::THIS_THREAD) else { return };
    let asked: Vec<_> = THREAD_IDX.iter().filter_map(|name| module.get_function(name)).collect();
    let asking = CallGraph::of(module).reaching(asked.iter().copied());
    let through_pointers = asking.iter().any(|f| f.count_basic_blocks() > 0 && is_address_taken(*f));
    for call in Value::from(mark).users() {
        let Some(function) = call.function() else { continue };
        let thread = call.arguments();
        for instruction in llvm::instructions(function).into_iter().filter(|i| i.is_call() && *i != call) {
            match instruction.called_function() {
                Some(callee) if callee.count_basic_blocks() == 0 => {
                    if let Some(axis) = THREAD_IDX.iter().position(|name| *name == Value::from(callee).name()) {
                        instruction.replace_uses(thread[axis]);
                        instruction.erase();
                    }
                }
                Some(callee) if asking.contains(&callee) => call_before(instruction, store_thread(module), &thread),
                None if through_pointers && instruction.called().is_some_and(|c| c.as_asm().is_none()) => {
                    call_before(instruction, store_thread(module), &thread)
                }
                _ => {}
            }
        }
        call.erase();
        end_threads(function);
    }
}

/// The intrinsic that stores the index, which gets its body with the others.
fn store_thread<'c>(module: &Module<'c>) -> FunctionValue<'c> {
    module.get_function(intrinsics::STORE_THREAD).unwrap_or_else(|| {
        let context = module.get_context();
        let index = context.i32_type().into();
        module.add_function(intrinsics::STORE_THREAD, context.void_type().fn_type(&[index, index, index], false), None)
    })
}

/// In a coroutine, `thread_end` leaves by the way of a suspended thread, to the block with `coro.end`.
fn end_threads(function: FunctionValue) {
    let instructions = llvm::instructions(function);
    let calling = |name: &str| instructions.iter().copied().filter(|i| calls(*i, name)).collect::<Vec<_>>();
    let Some(way_out) = calling("llvm.coro.end").first().and_then(|end| end.block()) else { return };
    calling(THREAD_END).into_iter().for_each(|end| jump_instead(end, way_out));
}
