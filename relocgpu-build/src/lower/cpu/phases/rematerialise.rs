//! What follows from arguments and constants in a few steps is computed again behind a barrier.

use super::Splitter;
use crate::llvm::Value;
use crate::llvm::edit::copy_before;
use crate::lower::cpu::intrinsics::PURE;
use crate::symbols::calls;
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::HashMap;

/// Instructions that are computed again rather than kept.
const MAX_REMATERIALISED: usize = 16;

impl<'c> Splitter<'c> {
    /// Computes a value once more, if it follows from what every phase has.
    pub(super) fn rematerialise(&self, made: Value<'c>, at: Value<'c>) -> Option<Value<'c>> {
        let mut needed = Vec::new();
        self.collect(made, &mut needed)?;
        let mut copies: HashMap<Value<'c>, Value<'c>> = HashMap::new();
        for original in needed {
            let copy = copy_before(original, at);
            for (i, operand) in original.operands().into_iter().enumerate() {
                if let Some(new) = copies.get(&operand) {
                    copy.set_operand(i as u32, *new);
                }
            }
            copies.insert(original, copy);
        }
        copies.get(&made).copied()
    }

    /// What must be computed for `value`, operands first.
    fn collect(&self, value: Value<'c>, needed: &mut Vec<Value<'c>>) -> Option<()> {
        use LLVMOpcode::*;
        if !value.is_instruction() || value.block() == Some(self.entry) || needed.contains(&value) {
            return Some(());
        }
        let pure = match value.opcode()? {
            LLVMAdd | LLVMSub | LLVMMul | LLVMAnd | LLVMOr | LLVMXor | LLVMShl | LLVMLShr | LLVMAShr | LLVMZExt | LLVMSExt | LLVMTrunc
            | LLVMICmp | LLVMSelect | LLVMGetElementPtr => true,
            LLVMCall => PURE.iter().any(|name| calls(value, name)),
            // A slot: constant while a block runs.
            LLVMLoad => value.operands()[0].is_constant(),
            _ => false,
        };
        pure.then_some(())?;
        for operand in value.operands().into_iter().filter(|o| o.is_instruction()) {
            self.collect(operand, needed)?;
        }
        needed.push(value);
        (needed.len() <= MAX_REMATERIALISED).then_some(())
    }
}
