//! Says of the usual 32-bit index that it does not wrap.
//!
//! ```text
//! %a = mul i32 %block_idx_x, %block_dim_x      →  %a = mul nuw i32 …
//! %i = add i32 %a, %thread_idx_x               →  %i = add nuw i32 …
//! ```
//!
//! True, since the CPU device takes less than 2³² threads in each dimension. Without it the index might start again in
//! the middle of a loop over threads, and the loop is not made for vectors.

use super::{STAGE, names};
use crate::error::Error;
use crate::llvm::{self, Value};
use crate::symbols::calls;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use relocgpu_runtime::contract::names::intrinsic::{BLOCK_DIM, BLOCK_IDX, THREAD_IDX};

/// Marks the indices of every function that runs threads, while the thread's index is still asked for by name.
pub(super) fn run(module: &Module, machine: &TargetMachine) -> Result<(), Error> {
    let Some(mark) = module.get_function(names::THIS_THREAD) else { return Ok(()) };
    for function in Value::from(mark).users().into_iter().filter_map(|call| call.function()) {
        // Rust leaves every value in memory.
        llvm::run_function_passes(function, "sroa,early-cse", machine).map_err(Error::llvm(STAGE, "simplification"))?;
        for sum in llvm::instructions(function).into_iter().filter(|i| i.opcode() == Some(LLVMOpcode::LLVMAdd)) {
            let Some((product, axis)) = either(sum, |a, b| Some((a, axis_of(b, &THREAD_IDX)?))) else { continue };
            let is_base = |a, b| (axis_of(a, &BLOCK_IDX)? == axis && axis_of(b, &BLOCK_DIM)? == axis).then_some(());
            if product.opcode() == Some(LLVMOpcode::LLVMMul) && either(product, is_base).is_some() {
                set_no_wrap(sum);
                set_no_wrap(product);
            }
        }
    }
    Ok(())
}

/// What `test` makes of the operands in one of their two orders.
fn either<'c, R>(instruction: Value<'c>, test: impl Fn(Value<'c>, Value<'c>) -> Option<R>) -> Option<R> {
    let operands = instruction.operands();
    let (a, b) = (*operands.first()?, *operands.get(1)?);
    test(a, b).or_else(|| test(b, a))
}

/// Which of three intrinsics a value is the result of.
fn axis_of(value: Value, names: &[&str; 3]) -> Option<usize> {
    names.iter().position(|name| calls(value, name))
}

fn set_no_wrap(instruction: Value) {
    instruction.as_instruction().into_iter().for_each(|i| _ = i.set_no_unsigned_wrap_flag(true));
}
