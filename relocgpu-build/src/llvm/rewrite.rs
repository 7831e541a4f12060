//! Constants made into code: what has another value in each call cannot stay a link-time constant.

use super::Value;
use inkwell::builder::{Builder, BuilderError};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMBuilderRef;
use inkwell::llvm_sys::{LLVMInlineAsmDialect, LLVMOpcode, LLVMTypeKind};
use inkwell::values::{AsValueRef, FunctionValue, GlobalValue, IntValue, PointerValue};

/// Replaces each use of a global in code by an instruction: `make` gives a function's own, near its start.
///
/// Constants on the way are rebuilt as instructions behind it. What holds the address in an initialiser cannot be
/// replaced and is the error, printed.
pub(crate) fn replace_by_code<'c>(global: GlobalValue<'c>, make: &mut dyn FnMut(FunctionValue<'c>) -> Value<'c>) -> Result<(), String> {
    match replace_in_code(global, make)? {
        None => Ok(()),
        Some(initialiser) => Err(format!("{initialiser:?}")),
    }
}

/// Does as [`replace_by_code`], but leaves initialisers as they are; returns the first of what they are part of.
pub(crate) fn replace_in_code<'c>(
    global: GlobalValue<'c>,
    make: &mut dyn FnMut(FunctionValue<'c>) -> Value<'c>,
) -> Result<Option<Value<'c>>, String> {
    let context = ffi!(LLVMGetTypeContext; LLVMTypeOf(global.as_value_ref()));
    let builder = ffi!(LLVMCreateBuilderInContext; context);
    let result = replace_uses(builder, global.into(), &mut |function| Ok(make(function)));
    ffi!(LLVMDisposeBuilder; builder);
    if matches!(result, Ok(None)) {
        // Expressions that nothing uses any more still use the global.
        let nothing = ffi!(PointerValue::new; LLVMConstNull(LLVMTypeOf(global.as_value_ref())));
        Value::from(global).replace_uses(nothing.into());
    }
    result
}

/// Makes the instruction that stands for a constant in the function that is its argument.
type MakeIn<'a, 'c> = &'a mut dyn FnMut(FunctionValue<'c>) -> Result<Value<'c>, String>;

fn replace_uses<'c>(builder: LLVMBuilderRef, constant: Value<'c>, make: MakeIn<'_, 'c>) -> Result<Option<Value<'c>>, String> {
    let mut left = None;
    let mut users = constant.users();
    let mut seen = std::collections::HashSet::new();
    users.retain(|user| seen.insert(*user));
    for user in users {
        if let Some(function) = user.function() {
            let value = make(function)?;
            let operands = user.operands().into_iter().enumerate().filter(|(_, operand)| *operand == constant);
            operands.for_each(|(i, _)| user.set_operand(i as u32, value));
        } else if user.is_global_value() {
            left = left.or(Some(user));
        } else {
            let mut made: Vec<(FunctionValue<'c>, Value<'c>)> = Vec::new();
            let inner = replace_uses(builder, user, &mut |function| {
                if let Some((_, value)) = made.iter().find(|(f, _)| *f == function) {
                    return Ok(*value);
                }
                let value = rebuild(builder, user, constant, make(function)?)?;
                made.push((function, value));
                Ok(value)
            })?;
            left = left.or(inner);
        }
    }
    Ok(left)
}

/// Builds a constant expression or aggregate as instructions behind `operand`, which takes the place of `constant` in it.
fn rebuild<'c>(builder: LLVMBuilderRef, expression: Value<'c>, constant: Value<'c>, operand: Value<'c>) -> Result<Value<'c>, String> {
    let behind = match operand.parameter_of() {
        Some(function) => ffi!(LLVMGetFirstInstruction; LLVMGetEntryBasicBlock(function.as_value_ref())),
        None => ffi!(LLVMGetNextInstruction; operand.raw()),
    };
    ffi!(LLVMPositionBuilderBefore; builder, behind);
    let operands: Vec<_> =
        expression.operands().into_iter().map(|value| if value == constant { operand.raw() } else { value.raw() }).collect();
    let (ty, name) = (expression.type_ref(), c"".as_ptr());
    if matches!(ffi!(LLVMGetTypeKind; ty), LLVMTypeKind::LLVMStructTypeKind | LLVMTypeKind::LLVMArrayTypeKind) {
        let parts = operands.iter().zip(0..);
        let built = parts.fold(ffi!(LLVMGetPoison; ty), |whole, (part, i)| ffi!(LLVMBuildInsertValue; builder, whole, *part, i, name));
        return Value::wrap(built).ok_or_else(|| format!("{expression:?}"));
    }
    if matches!(ffi!(LLVMGetTypeKind; ty), LLVMTypeKind::LLVMVectorTypeKind) && expression.opcode().is_none() {
        let number = |i: u64| ffi!(LLVMConstInt; LLVMInt64TypeInContext(LLVMGetTypeContext(ty)), i, 0);
        let parts = operands.iter().zip(0..);
        let built =
            parts.fold(ffi!(LLVMGetPoison; ty), |whole, (part, i)| ffi!(LLVMBuildInsertElement; builder, whole, *part, number(i), name));
        return Value::wrap(built).ok_or_else(|| format!("{expression:?}"));
    }
    let built = match (expression.opcode(), &operands[..]) {
        (Some(LLVMOpcode::LLVMGetElementPtr), [base, indices @ ..]) => {
            let mut indices = indices.to_vec();
            let source = ffi!(LLVMGetGEPSourceElementType; expression.raw());
            ffi!(LLVMBuildGEP2; builder, source, *base, indices.as_mut_ptr(), indices.len() as u32, name)
        }
        (Some(LLVMOpcode::LLVMPtrToInt), [value]) => ffi!(LLVMBuildPtrToInt; builder, *value, ty, name),
        (Some(LLVMOpcode::LLVMIntToPtr), [value]) => ffi!(LLVMBuildIntToPtr; builder, *value, ty, name),
        (Some(LLVMOpcode::LLVMTrunc), [value]) => ffi!(LLVMBuildTrunc; builder, *value, ty, name),
        (Some(LLVMOpcode::LLVMAdd), [a, b]) => ffi!(LLVMBuildAdd; builder, *a, *b, name),
        (Some(LLVMOpcode::LLVMSub), [a, b]) => ffi!(LLVMBuildSub; builder, *a, *b, name),
        (Some(LLVMOpcode::LLVMXor), [a, b]) => ffi!(LLVMBuildXor; builder, *a, *b, name),
        _ => return Err(format!("{expression:?}")),
    };
    Value::wrap(built).ok_or_else(|| format!("{expression:?}"))
}

/// The address `bytes` past the start of a global, as a constant.
pub(crate) fn address_in<'c>(global: GlobalValue<'c>, bytes: u64) -> PointerValue<'c> {
    let context = ffi!(LLVMGetTypeContext; LLVMTypeOf(global.as_value_ref()));
    let mut offset = ffi!(LLVMConstInt; LLVMInt64TypeInContext(context), bytes, 0);
    ffi!(PointerValue::new; LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(context), global.as_value_ref(), &mut offset, 1))
}

/// An instruction at the start of a function: the result of calling `source` (no arguments), and `bytes` past it.
pub(crate) fn pointer_at_start<'c>(function: FunctionValue<'c>, source: FunctionValue<'c>, bytes: u64) -> Value<'c> {
    let context = ffi!(LLVMGetTypeContext; LLVMTypeOf(function.as_value_ref()));
    let builder = ffi!(LLVMCreateBuilderInContext; context);
    let entry = ffi!(LLVMGetEntryBasicBlock; function.as_value_ref());
    ffi!(LLVMPositionBuilderBefore; builder, LLVMGetFirstInstruction(entry));
    let (source, name) = (source.as_value_ref(), c"".as_ptr());
    let base = ffi!(LLVMBuildCall2; builder, LLVMGlobalGetValueType(source), source, std::ptr::null_mut(), 0, name);
    let mut offset = ffi!(LLVMConstInt; LLVMInt64TypeInContext(context), bytes, 0);
    let made = ffi!(LLVMBuildInBoundsGEP2; builder, LLVMInt8TypeInContext(context), base, &mut offset, 1, name);
    ffi!(LLVMDisposeBuilder; builder);
    // The builder folds an offset of 0 into the call.
    Value::wrap(made).unwrap_or_else(|| unreachable!("a built instruction is not null"))
}

/// Instructions at the start of a function: the pointer whose word a slot holds.
pub(crate) fn pointer_in_slot<'c>(function: FunctionValue<'c>, slot: GlobalValue<'c>) -> Value<'c> {
    let context = ffi!(LLVMGetTypeContext; LLVMTypeOf(function.as_value_ref()));
    let builder = ffi!(LLVMCreateBuilderInContext; context);
    let entry = ffi!(LLVMGetEntryBasicBlock; function.as_value_ref());
    ffi!(LLVMPositionBuilderBefore; builder, LLVMGetFirstInstruction(entry));
    let (word, name) = (ffi!(LLVMInt64TypeInContext; context), c"".as_ptr());
    let loaded = ffi!(LLVMBuildLoad2; builder, word, slot.as_value_ref(), name);
    let made = ffi!(LLVMBuildIntToPtr; builder, loaded, LLVMPointerTypeInContext(context, 0), name);
    ffi!(LLVMDisposeBuilder; builder);
    Value::wrap(made).unwrap_or_else(|| unreachable!("a built instruction is not null"))
}

/// An instruction at the start of a kernel's entry: the address `offset` past its parameter block, or the address that
/// lies there.
pub(crate) fn behind_parameters<'c>(entry: FunctionValue<'c>, offset: u64, indirect: bool) -> Value<'c> {
    let context = ffi!(LLVMGetTypeContext; LLVMTypeOf(entry.as_value_ref()));
    let builder = ffi!(LLVMCreateBuilderInContext; context);
    ffi!(LLVMPositionBuilderBefore; builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(entry.as_value_ref())));
    let (name, params) = (c"".as_ptr(), ffi!(LLVMGetParam; entry.as_value_ref(), 0));
    let mut past = ffi!(LLVMConstInt; LLVMInt64TypeInContext(context), offset, 0);
    let mut made = ffi!(LLVMBuildInBoundsGEP2; builder, LLVMInt8TypeInContext(context), params, &mut past, 1, name);
    if indirect {
        made = ffi!(LLVMBuildLoad2; builder, LLVMPointerTypeInContext(context, 0), made, name);
    }
    ffi!(LLVMDisposeBuilder; builder);
    Value::wrap(made).unwrap_or_else(|| unreachable!("a built instruction is not null"))
}

/// An instruction near the start of a function: `bytes` past a pointer, which is a parameter or an instruction there.
pub(crate) fn past<'c>(function: FunctionValue<'c>, pointer: Value<'c>, bytes: u64) -> Value<'c> {
    let context = ffi!(LLVMGetTypeContext; LLVMTypeOf(function.as_value_ref()));
    let builder = ffi!(LLVMCreateBuilderInContext; context);
    let before = match pointer.as_instruction() {
        Some(_) => ffi!(LLVMGetNextInstruction; pointer.raw()),
        None => ffi!(LLVMGetFirstInstruction; LLVMGetEntryBasicBlock(function.as_value_ref())),
    };
    ffi!(LLVMPositionBuilderBefore; builder, before);
    let mut offset = ffi!(LLVMConstInt; LLVMInt64TypeInContext(context), bytes, 0);
    let made = ffi!(LLVMBuildInBoundsGEP2; builder, LLVMInt8TypeInContext(context), pointer.raw(), &mut offset, 1, c"".as_ptr());
    ffi!(LLVMDisposeBuilder; builder);
    Value::wrap(made).unwrap_or_else(|| unreachable!("a built instruction is not null"))
}

/// Puts sixteen digits of PTX in the place of a load that [fits a word](Value::fits_a_word); returns the word as loaded.
pub(crate) fn digits_instead<'c>(load: Value<'c>, digits: u64) -> Value<'c> {
    assert!(load.is_load() && load.fits_a_word());
    let context = ffi!(LLVMGetTypeContext; load.type_ref());
    let builder = ffi!(LLVMCreateBuilderInContext; context);
    ffi!(LLVMPositionBuilderBefore; builder, load.raw());
    let (template, constraints) = (format!("mov.b64 $0, 0x{digits:016x};"), "=l");
    let ty = ffi!(LLVMFunctionType; LLVMInt64TypeInContext(context), std::ptr::null_mut(), 0, 0);
    let assembly = ffi!(
        LLVMGetInlineAsm;
        ty,
        template.as_ptr().cast(),
        template.len(),
        constraints.as_ptr().cast(),
        constraints.len(),
        0,
        0,
        LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
        0
    );
    let name = c"".as_ptr();
    let word = ffi!(LLVMBuildCall2; builder, ty, assembly, std::ptr::null_mut(), 0, name);
    let loaded = match load.int_bits() {
        Some(_) => ffi!(LLVMBuildIntCast2; builder, word, load.type_ref(), 0, name),
        None => ffi!(LLVMBuildBitCast; builder, word, load.type_ref(), name),
    };
    ffi!(LLVMDisposeBuilder; builder);
    let loaded = Value::wrap(loaded).unwrap_or_else(|| unreachable!("a built instruction is not null"));
    load.replace_uses(loaded);
    load.erase();
    loaded
}

/// Puts the number that a pointer is in the place of a call.
pub(crate) fn number_instead<'c>(call: Value<'c>, pointer: Value<'c>) {
    assert!(call.is_call());
    let context = ffi!(LLVMGetTypeContext; call.type_ref());
    let builder = ffi!(LLVMCreateBuilderInContext; context);
    ffi!(LLVMPositionBuilderBefore; builder, call.raw());
    let number = ffi!(LLVMBuildPtrToInt; builder, pointer.raw(), call.type_ref(), c"".as_ptr());
    ffi!(LLVMDisposeBuilder; builder);
    if let Some(number) = Value::wrap(number) {
        call.replace_uses(number);
    }
    call.erase();
}

/// Puts a call of `function` before an instruction.
pub(crate) fn call_before<'c>(at: Value<'c>, function: FunctionValue<'c>, arguments: &[Value<'c>]) {
    assert!(at.is_instruction());
    let context = ffi!(LLVMGetTypeContext; LLVMTypeOf(function.as_value_ref()));
    let builder = ffi!(LLVMCreateBuilderInContext; context);
    ffi!(LLVMPositionBuilderBefore; builder, at.raw());
    let mut arguments: Vec<_> = arguments.iter().map(|a| a.raw()).collect();
    let (raw, count) = (function.as_value_ref(), arguments.len() as u32);
    ffi!(LLVMBuildCall2; builder, LLVMGlobalGetValueType(raw), raw, arguments.as_mut_ptr(), count, c"".as_ptr());
    ffi!(LLVMDisposeBuilder; builder);
}

/// Ends the block of `from` with a jump to `to`: `from` and what follows it there are erased.
pub(crate) fn jump_instead<'c>(from: Value<'c>, to: inkwell::basic_block::BasicBlock<'c>) {
    let Some(block) = from.block() else { return };
    let mut last = ffi!(LLVMGetLastInstruction; block.as_mut_ptr());
    while let Some(instruction) = Value::wrap(last) {
        last = ffi!(LLVMGetPreviousInstruction; last);
        instruction.erase();
        if instruction == from {
            break;
        }
    }
    let builder = ffi!(LLVMCreateBuilderInContext; LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block.as_mut_ptr()))));
    ffi!(LLVMPositionBuilderAtEnd; builder, block.as_mut_ptr());
    ffi!(LLVMBuildBr; builder, to.as_mut_ptr());
    ffi!(LLVMDisposeBuilder; builder);
}

/// An address `bytes` past `base`, inside what `base` points into.
pub(crate) fn offset_at<'c>(builder: &Builder<'c>, base: PointerValue<'c>, bytes: IntValue<'c>) -> Result<PointerValue<'c>, BuilderError> {
    let context = base.get_type().get_context();
    ffi!(Builder::build_in_bounds_gep; builder, context.i8_type(), base, &[bytes], "")
}
