//! Functions that get one more parameter.

use super::function::take_body;
use super::{Place, Value, copy_attributes};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};

/// Makes a function that has all that `old` has and one more parameter, a pointer, behind the others. `old` is left
/// as a declaration, for its callers: see [`call_with_pointer`].
pub(crate) fn add_pointer_parameter<'c>(module: &Module<'c>, old: FunctionValue<'c>) -> FunctionValue<'c> {
    let name = Value::from(old).name();
    let pointer = module.get_context().ptr_type(Default::default());
    let mut params: Vec<inkwell::types::BasicMetadataTypeEnum> = old.get_type().get_param_types();
    params.push(pointer.into());
    let ty = match old.get_type().get_return_type() {
        Some(returned) => inkwell::types::BasicType::fn_type(&returned, &params, false),
        None => module.get_context().void_type().fn_type(&params, false),
    };
    let new = module.add_function("", ty, Some(old.get_linkage()));
    copy_attributes(old, new);
    take_body(old, new);
    old.set_linkage(inkwell::module::Linkage::External);
    Value::from(old).set_name("");
    Value::from(new).set_name(&name);
    new
}

/// Puts a call of `function`, which takes the same arguments and `pointer`, in the place of a call.
pub(crate) fn call_with_pointer<'c>(call: Value<'c>, function: FunctionValue<'c>, pointer: Value<'c>) {
    assert!(call.is_call());
    let context = ffi!(LLVMGetTypeContext; LLVMTypeOf(function.as_value_ref()));
    let builder = ffi!(LLVMCreateBuilderInContext; context);
    ffi!(LLVMPositionBuilderBefore; builder, call.raw());
    let mut arguments: Vec<_> = call.arguments().into_iter().chain([pointer]).map(Value::raw).collect();
    let (raw, count) = (function.as_value_ref(), arguments.len() as u32);
    let new = ffi!(LLVMBuildCall2; builder, LLVMGlobalGetValueType(raw), raw, arguments.as_mut_ptr(), count, c"".as_ptr());
    for at in std::iter::once(Place::Function.index()).chain(0..count) {
        let mut all = vec![std::ptr::null_mut(); ffi!(LLVMGetCallSiteAttributeCount; call.raw(), at) as usize];
        ffi!(LLVMGetCallSiteAttributes; call.raw(), at, all.as_mut_ptr());
        for attribute in all {
            ffi!(LLVMAddCallSiteAttribute; new, at, attribute);
        }
    }
    ffi!(LLVMSetInstructionCallConv; new, LLVMGetInstructionCallConv(call.raw()));
    let place = ffi!(LLVMInstructionGetDebugLoc; call.raw());
    if !place.is_null() {
        ffi!(LLVMInstructionSetDebugLoc; new, place);
    }
    ffi!(LLVMDisposeBuilder; builder);
    if let Some(new) = Value::wrap(new) {
        if call.is_used() {
            call.replace_uses(new);
        }
        call.erase();
    }
}
