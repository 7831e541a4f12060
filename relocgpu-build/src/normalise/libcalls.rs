//! Arithmetic that a GPU has no instruction for becomes calls of `compiler_builtins`, before that is linked.
//!
//! | instruction | why | function |
//! |---|---|---|
//! | `frem` | NVPTX expands it to a formula that is wrong for most operands | `fmod`, `fmodf` |
//! | 128-bit integer ↔ float | the back-end has no such conversion and ends the process | `__floattisf`, … |

use crate::llvm::{self, Place, Value};
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::module::Module;
use inkwell::types::{AnyTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::BasicMetadataValueEnum;

/// Runs the pass.
pub(crate) fn call_builtins(module: &Module) {
    for function in llvm::functions(module) {
        for instruction in llvm::instructions(function) {
            if let Some(name) = builtin_for(instruction) {
                replace(module, instruction, name);
            }
        }
    }
}

/// Keeps the linked functions from being inlined: each is hundreds of instructions long.
pub(crate) fn keep_apart(module: &Module) {
    for function in BUILTINS.iter().filter_map(|name| module.get_function(name)) {
        llvm::remove_attribute(function, Place::Function, "alwaysinline");
        llvm::add_attribute(function, Place::Function, "noinline");
    }
}

/// All that [`call_builtins`] calls.
pub(crate) const BUILTINS: [&str; 10] = [
    "fmod",
    "fmodf",
    "__floattisf",
    "__floattidf",
    "__floatuntisf",
    "__floatuntidf",
    "__fixsfti",
    "__fixdfti",
    "__fixunssfti",
    "__fixunsdfti",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scalar {
    I128,
    F32,
    F64,
    Other,
}

fn scalar(value: Value) -> Scalar {
    match value.ty() {
        Some(AnyTypeEnum::IntType(ty)) if ty.get_bit_width() == 128 => Scalar::I128,
        Some(AnyTypeEnum::FloatType(ty)) if ty == ty.get_context().f32_type() => Scalar::F32,
        Some(AnyTypeEnum::FloatType(ty)) if ty == ty.get_context().f64_type() => Scalar::F64,
        _ => Scalar::Other,
    }
}

fn builtin_for(instruction: Value) -> Option<&'static str> {
    use Scalar::*;
    let opcode = instruction.opcode()?;
    let to = scalar(instruction);
    if matches!(opcode, LLVMCall) {
        let name = Value::from(instruction.called_function()?).name();
        let signed = if name.starts_with("llvm.fptosi.sat.i128") {
            true
        } else if name.starts_with("llvm.fptoui.sat.i128") {
            false
        } else {
            return None;
        };
        return match (scalar(*instruction.arguments().first()?), signed) {
            (F32, true) => Some("__fixsfti"),
            (F64, true) => Some("__fixdfti"),
            (F32, false) => Some("__fixunssfti"),
            (F64, false) => Some("__fixunsdfti"),
            _ => None,
        };
    }
    let from = scalar(*instruction.operands().first()?);
    match (opcode, from, to) {
        (LLVMFRem, F32, _) => Some("fmodf"),
        (LLVMFRem, F64, _) => Some("fmod"),
        (LLVMSIToFP, I128, F32) => Some("__floattisf"),
        (LLVMSIToFP, I128, F64) => Some("__floattidf"),
        (LLVMUIToFP, I128, F32) => Some("__floatuntisf"),
        (LLVMUIToFP, I128, F64) => Some("__floatuntidf"),
        (LLVMFPToSI, F32, I128) => Some("__fixsfti"),
        (LLVMFPToSI, F64, I128) => Some("__fixdfti"),
        (LLVMFPToUI, F32, I128) => Some("__fixunssfti"),
        (LLVMFPToUI, F64, I128) => Some("__fixunsdfti"),
        _ => None,
    }
}

fn replace<'c>(module: &Module<'c>, instruction: Value<'c>, name: &str) {
    let operands = if instruction.is_call() { instruction.arguments() } else { instruction.operands() };
    let operands: Vec<_> = operands.into_iter().filter_map(Value::as_basic).collect();
    let (Some(result), Some(at)) = (instruction.as_basic(), instruction.as_instruction()) else { return };
    let types: Vec<_> = operands.iter().map(|operand| operand.get_type().into()).collect();
    let ty: BasicTypeEnum = result.get_type();
    let callee = module.get_function(name).unwrap_or_else(|| module.add_function(name, ty.fn_type(&types, false), None));
    let builder = module.get_context().create_builder();
    builder.position_before(&at);
    let arguments: Vec<BasicMetadataValueEnum> = operands.iter().map(|operand| (*operand).into()).collect();
    // Building fails only where the builder has no position.
    let Ok(call) = builder.build_call(callee, &arguments, "") else { return };
    instruction.replace_uses(call.into());
    instruction.erase();
}
