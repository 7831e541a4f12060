//! What a [`Value`] says and does as an instruction.

use super::Value;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMInlineAsmDialect, LLVMOpcode};
use inkwell::values::FunctionValue;

impl<'c> Value<'c> {
    /// Opcode of an instruction or constant expression.
    pub(crate) fn opcode(self) -> Option<LLVMOpcode> {
        if self.is_instruction() {
            Some(ffi!(LLVMGetInstructionOpcode; self.raw()))
        } else if self.is_constant_expression() {
            Some(ffi!(LLVMGetConstOpcode; self.raw()))
        } else {
            None
        }
    }

    /// Makes a load neither volatile nor atomic: what it reads does not change while the code runs.
    pub(crate) fn make_plain_load(self) {
        assert!(self.is_load());
        ffi!(LLVMSetVolatile; self.raw(), 0);
        ffi!(LLVMSetOrdering; self.raw(), inkwell::llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic);
    }

    /// Replaces operand `index` of an instruction.
    pub(crate) fn set_operand(self, index: u32, value: Value<'c>) {
        assert!(self.is_instruction() && (index as i32) < ffi!(LLVMGetNumOperands; self.raw()));
        ffi!(LLVMSetOperand; self.raw(), index, value.raw());
    }

    /// Erases an instruction, of which this was the last handle. Remaining uses become poison.
    pub(crate) fn erase(self) {
        assert!(self.is_instruction());
        if self.is_used() {
            ffi!(LLVMReplaceAllUsesWith; self.raw(), LLVMGetPoison(self.type_ref()));
        }
        ffi!(LLVMInstructionEraseFromParent; self.raw());
    }

    /// Whether this is a call (not an invoke).
    pub(crate) fn is_call(self) -> bool {
        matches!(self.opcode(), Some(LLVMOpcode::LLVMCall)) && self.is_instruction()
    }

    /// What a call calls: a function, inline assembly or a pointer.
    pub(crate) fn called(self) -> Option<Value<'c>> {
        if self.is_call() { Self::wrap(ffi!(LLVMGetCalledValue; self.raw())) } else { None }
    }

    /// The function that a call calls directly.
    pub(crate) fn called_function(self) -> Option<FunctionValue<'c>> {
        self.called()?.as_function()
    }

    /// A call's arguments.
    pub(crate) fn arguments(self) -> Vec<Value<'c>> {
        assert!(self.is_call());
        let count = ffi!(LLVMGetNumArgOperands; self.raw());
        (0..count).filter_map(|i| Self::wrap(ffi!(LLVMGetOperand; self.raw(), i))).collect()
    }

    /// The function that holds an instruction.
    pub(crate) fn function(self) -> Option<FunctionValue<'c>> {
        if !self.is_instruction() {
            return None;
        }
        let block = ffi!(LLVMGetInstructionParent; self.raw());
        if block.is_null() { None } else { ffi!(FunctionValue::new; LLVMGetBasicBlockParent(block)) }
    }

    /// The block that holds an instruction.
    pub(crate) fn block(self) -> Option<BasicBlock<'c>> {
        if self.is_instruction() { ffi!(BasicBlock::new; LLVMGetInstructionParent(self.raw())) } else { None }
    }

    /// Template and constraints of inline assembly.
    pub(crate) fn as_asm(self) -> Option<(String, String)> {
        if ffi!(LLVMIsAInlineAsm; self.raw()).is_null() {
            return None;
        }
        let mut length = 0;
        let template = ffi!(LLVMGetInlineAsmAsmString; self.raw(), &mut length);
        let template = String::from_utf8_lossy(ffi!(std::slice::from_raw_parts; template.cast::<u8>(), length)).into_owned();
        let constraints = ffi!(LLVMGetInlineAsmConstraintString; self.raw(), &mut length);
        let constraints = String::from_utf8_lossy(ffi!(std::slice::from_raw_parts; constraints.cast::<u8>(), length)).into_owned();
        Some((template, constraints))
    }

    /// Whether this is a fence or another atomic instruction that orders nothing but its own thread.
    pub(crate) fn is_single_thread_fence(self) -> bool {
        matches!(self.opcode(), Some(LLVMOpcode::LLVMFence)) && ffi!(LLVMIsAtomicSingleThread; self.raw()) != 0
    }

    /// Ordering of a read-modify-write instruction.
    pub(crate) fn rmw_ordering(self) -> Option<LLVMAtomicOrdering> {
        matches!(self.opcode(), Some(LLVMOpcode::LLVMAtomicRMW)).then(|| ffi!(LLVMGetOrdering; self.raw()))
    }

    /// Makes a read-modify-write instruction relaxed.
    pub(crate) fn set_rmw_relaxed(self) {
        assert!(self.rmw_ordering().is_some());
        ffi!(LLVMSetOrdering; self.raw(), LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic);
    }

    /// Whether a load, store or other instruction is atomic.
    pub(crate) fn is_atomic(self) -> bool {
        self.is_instruction() && ffi!(LLVMIsAtomic; self.raw()) != 0
    }

    /// Whether this is a load instruction.
    pub(crate) fn is_load(self) -> bool {
        self.is_instruction() && matches!(self.opcode(), Some(LLVMOpcode::LLVMLoad))
    }

    /// Whether a load is volatile.
    pub(crate) fn is_volatile(self) -> bool {
        self.is_load() && ffi!(LLVMGetVolatile; self.raw()) != 0
    }

    /// Marks a load: the memory never changes while anything can see it.
    pub(crate) fn mark_invariant_load(self) {
        assert!(self.is_load());
        let name = "invariant.load";
        let module = ffi!(LLVMGetGlobalParent; LLVMGetBasicBlockParent(LLVMGetInstructionParent(self.raw())));
        let context = ffi!(LLVMGetModuleContext; module);
        let kind = ffi!(LLVMGetMDKindIDInContext; context, name.as_ptr().cast(), name.len() as u32);
        let empty = ffi!(LLVMMDNodeInContext2; context, std::ptr::null_mut(), 0);
        ffi!(LLVMSetMetadata; self.raw(), kind, LLVMMetadataAsValue(context, empty));
    }
}

/// Makes a call of inline assembly one of the target's own dialect: the host's would reach the text as a directive.
pub(crate) fn clear_asm_dialect(call: Value) {
    let Some(old) = call.called().filter(|called| called.as_asm().is_some()) else { return };
    let Some((template, constraints)) = old.as_asm() else { return };
    let raw = old.raw();
    let new = ffi!(
        LLVMGetInlineAsm;
        LLVMGetInlineAsmFunctionType(raw),
        template.as_ptr().cast(),
        template.len(),
        constraints.as_ptr().cast(),
        constraints.len(),
        LLVMGetInlineAsmHasSideEffects(raw),
        LLVMGetInlineAsmNeedsAlignedStack(raw),
        LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
        LLVMGetInlineAsmCanUnwind(raw)
    );
    if let Some(new) = Value::wrap(new) {
        call.set_operand(call.operands().len() as u32 - 1, new);
    }
}
