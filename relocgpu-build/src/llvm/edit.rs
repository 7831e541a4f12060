//! Edits of a function's blocks and instructions.

use super::Value;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::*;
use inkwell::values::FunctionValue;

/// The blocks that a block's end may jump to.
pub(crate) fn successors<'c>(block: BasicBlock<'c>) -> Vec<BasicBlock<'c>> {
    let Some(end) = block.get_terminator() else { return Vec::new() };
    let end = Value::from(end).raw();
    let count = ffi!(LLVMGetNumSuccessors; end);
    (0..count).filter_map(|i| ffi!(BasicBlock::new; LLVMGetSuccessor(end, i))).collect()
}

/// Splits a block behind an instruction. The first part, which is returned, takes the place of the block for all that
/// jump to it; the rest keeps its identity for what it jumps to, and has no phi.
pub(crate) fn split_after<'c>(instruction: Value<'c>) -> Option<BasicBlock<'c>> {
    let rest = instruction.block()?;
    let function = rest.get_parent()?;
    let context = ffi!(LLVMGetTypeContext; Value::from(function).type_ref());
    let first = ffi!(LLVMInsertBasicBlockInContext; context, rest.as_mut_ptr(), c"".as_ptr());
    for block in function.get_basic_blocks() {
        let Some(end) = block.get_terminator() else { continue };
        let end = Value::from(end).raw();
        for i in 0..ffi!(LLVMGetNumSuccessors; end) {
            if ffi!(LLVMGetSuccessor; end, i) == rest.as_mut_ptr() {
                ffi!(LLVMSetSuccessor; end, i, first);
            }
        }
    }
    let builder = ffi!(LLVMCreateBuilderInContext; context);
    ffi!(LLVMPositionBuilderAtEnd; builder, first);
    loop {
        let moved = ffi!(LLVMGetFirstInstruction; rest.as_mut_ptr());
        ffi!(LLVMInstructionRemoveFromParent; moved);
        ffi!(LLVMInsertIntoBuilder; builder, moved);
        if moved == instruction.raw() {
            break;
        }
    }
    ffi!(LLVMBuildBr; builder, rest.as_mut_ptr());
    ffi!(LLVMDisposeBuilder; builder);
    ffi!(BasicBlock::new; first)
}

/// A new first block of a function; what jumped to the old one still does.
pub(crate) fn prepend_block<'c>(function: FunctionValue<'c>) -> Option<BasicBlock<'c>> {
    let old = function.get_first_basic_block()?;
    let context = ffi!(LLVMGetTypeContext; Value::from(function).type_ref());
    ffi!(BasicBlock::new; LLVMInsertBasicBlockInContext(context, old.as_mut_ptr(), c"".as_ptr()))
}

/// Moves an instruction to the end of a block that has no terminator yet.
pub(crate) fn move_to_end(instruction: Value, block: BasicBlock) {
    assert!(instruction.is_instruction() && block.get_terminator().is_none());
    let builder = ffi!(LLVMCreateBuilderInContext; LLVMGetTypeContext(instruction.type_ref()));
    ffi!(LLVMInstructionRemoveFromParent; instruction.raw());
    ffi!(LLVMPositionBuilderAtEnd; builder, block.as_mut_ptr());
    ffi!(LLVMInsertIntoBuilder; builder, instruction.raw());
    ffi!(LLVMDisposeBuilder; builder);
}

/// A copy of an instruction before another one.
pub(crate) fn copy_before<'c>(instruction: Value<'c>, at: Value<'c>) -> Value<'c> {
    assert!(instruction.is_instruction() && at.is_instruction());
    let copy = ffi!(LLVMInstructionClone; instruction.raw());
    let builder = ffi!(LLVMCreateBuilderInContext; LLVMGetTypeContext(instruction.type_ref()));
    ffi!(LLVMPositionBuilderBefore; builder, at.raw());
    ffi!(LLVMInsertIntoBuilder; builder, copy);
    ffi!(LLVMDisposeBuilder; builder);
    // A clone is never null.
    Value::wrap(copy).unwrap_or(instruction)
}

/// For each operand of an instruction: the block that it is used in, which for a phi is the one it comes from.
pub(crate) fn uses_by_block<'c>(user: Value<'c>) -> Vec<(u32, Value<'c>, BasicBlock<'c>)> {
    let Some(own) = user.block() else { return Vec::new() };
    let is_phi = !ffi!(LLVMIsAPHINode; user.raw()).is_null();
    let block = |i: u32| if is_phi { ffi!(BasicBlock::new; LLVMGetIncomingBlock(user.raw(), i)).unwrap_or(own) } else { own };
    user.operands().into_iter().enumerate().map(|(i, operand)| (i as u32, operand, block(i as u32))).collect()
}

/// Where code that computes an operand for `user` goes: before it, or before the end of the block that a phi's comes from.
pub(crate) fn before_use<'c>(user: Value<'c>, block: BasicBlock<'c>) -> Option<Value<'c>> {
    if user.block() == Some(block) && ffi!(LLVMIsAPHINode; user.raw()).is_null() {
        return Some(user);
    }
    block.get_terminator().map(Value::from)
}

/// The first instruction behind `instruction`, and behind all phis of its block if it is one.
pub(crate) fn after<'c>(instruction: Value<'c>) -> Option<Value<'c>> {
    let mut next = ffi!(LLVMGetNextInstruction; instruction.raw());
    while !next.is_null() && !ffi!(LLVMIsAPHINode; next).is_null() {
        next = ffi!(LLVMGetNextInstruction; next);
    }
    Value::wrap(next)
}

/// The type that an `alloca` makes room for, if it makes room for one value of it.
pub(crate) fn allocated_type<'c>(alloca: Value<'c>) -> Option<inkwell::types::AnyTypeEnum<'c>> {
    let one = alloca.operands().first().and_then(|count| count.as_u64()) == Some(1);
    one.then(|| ffi!(inkwell::types::AnyTypeEnum::new; LLVMGetAllocatedType(alloca.raw())))
}

/// The alignment of an `alloca`, load or store.
pub(crate) fn alignment_of(instruction: Value) -> u64 {
    u64::from(ffi!(LLVMGetAlignment; instruction.raw()))
}
