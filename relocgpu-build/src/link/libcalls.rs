//! Arithmetic that a GPU has no instruction for becomes calls of functions that are linked after.
//!
//! | instruction | why | function |
//! |---|---|---|
//! | `frem` | NVPTX expands it to a formula that is wrong for most operands | `fmod`, `fmodf` of `compiler_builtins` |
//! | `llvm.sin` and its like, the C library's `tanf` and its like | no such instruction | the device library's `relocgpu_math_…`, over the `libm` crate |
//! | 128-bit integer ↔ float | the back-end has no such conversion and ends the process | `__floattisf`, … of the same |

use crate::llvm::{self, Place, Value};
use crate::symbols::{ARITHMETIC, path_of};
use inkwell::llvm_sys::LLVMOpcode::*;
use inkwell::module::Module;
use inkwell::types::{AnyTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::BasicMetadataValueEnum;
use relocgpu_runtime::contract::names::MATH_PREFIX;

/// Float functions by their names for `f64` in the C library; those for `f32` end in `f`.
const MATH: [&str; 21] = [
    "acos", "asin", "atan", "atan2", "cbrt", "cos", "cosh", "exp", "exp10", "exp2", "expm1", "hypot", "log", "log10", "log1p", "log2",
    "pow", "sin", "sinh", "tan", "tanh",
];

/// Makes float functions calls of the device library; whether there are any.
pub(super) fn call_math(module: &Module) -> bool {
    for function in llvm::functions(module).into_iter().filter(|f| f.count_basic_blocks() == 0) {
        let name = Value::from(function).name();
        if let Some(ours) = math_for(&name) {
            for call in Value::from(function).users().into_iter().filter(|user| user.called_function() == Some(function)) {
                replace(module, call, &ours);
            }
        } else if MATH.contains(&name.strip_suffix('f').unwrap_or(&name)) || MATH.contains(&name.as_str()) {
            Value::from(function).set_name(&format!("{MATH_PREFIX}{name}"));
        }
    }
    llvm::functions(module).into_iter().any(|f| f.count_basic_blocks() == 0 && Value::from(f).name().starts_with(MATH_PREFIX))
}

/// The function for an intrinsic on `f32` or `f64`.
fn math_for(intrinsic: &str) -> Option<String> {
    let (operation, ty) = intrinsic.strip_prefix("llvm.")?.split_once('.')?;
    match (MATH.contains(&operation), operation, ty) {
        (true, _, "f32") => Some(format!("{MATH_PREFIX}{operation}f")),
        (true, _, "f64") => Some(format!("{MATH_PREFIX}{operation}")),
        (_, "powi", "f32.i32") => Some("__powisf2".into()),
        (_, "powi", "f64.i32") => Some("__powidf2".into()),
        _ => None,
    }
}

/// Makes the rest calls of [`ARITHMETIC`], or instructions that every target has.
pub(super) fn call_builtins(module: &Module) {
    for function in llvm::functions(module) {
        for instruction in llvm::instructions(function) {
            if let Some(name) = builtin_for(instruction) {
                replace(module, instruction, name);
            } else if let Some(intrinsic) = intrinsic_for(instruction) {
                // Declared under its own name, an intrinsic is one.
                replace(module, instruction, intrinsic);
            }
        }
    }
}

/// Keeps the linked functions from being inlined: each is hundreds of instructions long.
pub(super) fn keep_apart(module: &Module) {
    for function in ARITHMETIC.iter().filter_map(|name| module.get_function(name)) {
        llvm::remove_attribute(function, Place::Function, "alwaysinline");
        llvm::add_attribute(function, Place::Function, "noinline");
    }
}

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

/// What the `libm` crate does in x86 assembly or in software, and every target has an instruction for.
fn intrinsic_for(call: Value) -> Option<&'static str> {
    let called = call.called()?;
    let single = scalar(call) == Scalar::F32;
    if let Some((template, _)) = called.as_asm() {
        let is_root = matches!(template.split_whitespace().next(), Some("sqrtss" | "sqrtsd")) && call.arguments().len() == 1;
        return is_root.then_some(if single { "llvm.sqrt.f32" } else { "llvm.sqrt.f64" });
    }
    // Demangling every callee would take longer than all else here.
    let symbol = called.name();
    if !symbol.contains("4libm4math") {
        return None;
    }
    let path = path_of(&symbol);
    let path = path.strip_prefix("libm::math::")?;
    let path = path.strip_prefix("generic::").or(path.strip_prefix("arch::x86::")).unwrap_or(path);
    let (module, function) = path.split("::<").next()?.split_once("::")?;
    let (_, ours32, ours64) = EXACT.iter().find(|(name, ..)| *name == module && function.strip_suffix('f').unwrap_or(function) == *name)?;
    match scalar(call) {
        Scalar::F32 => Some(ours32),
        Scalar::F64 => Some(ours64),
        _ => None,
    }
}

/// Functions of the `libm` crate whose results are fixed to the bit, and the instructions that they do in software.
const EXACT: [(&str, &str, &str); 5] = [
    ("ceil", "llvm.ceil.f32", "llvm.ceil.f64"),
    ("floor", "llvm.floor.f32", "llvm.floor.f64"),
    ("fma", "llvm.fma.f32", "llvm.fma.f64"),
    ("sqrt", "llvm.sqrt.f32", "llvm.sqrt.f64"),
    ("trunc", "llvm.trunc.f32", "llvm.trunc.f64"),
];

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
