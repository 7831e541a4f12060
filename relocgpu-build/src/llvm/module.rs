//! Modules: reading, linking, walking, writing.

use super::{Value, take_errors};
use inkwell::AddressSpace;
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::linker::LLVMLinkModules2;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{AsValueRef, FunctionValue, GlobalValue};

fn buffer(bytes: &[u8], name: &str) -> MemoryBuffer<'static> {
    MemoryBuffer::create_from_memory_range_copy(bytes, name)
}

/// Parses bitcode.
pub(crate) fn load<'c>(context: &'c Context, bytes: &[u8], name: &str) -> Result<Module<'c>, String> {
    let parsed = Module::parse_bitcode_from_buffer(&buffer(bytes, name), context);
    match (parsed, take_errors()) {
        (Ok(module), None) => Ok(module),
        (_, Some(message)) => Err(message),
        (Err(message), None) => Err(message.to_string()),
    }
}

/// Opens bitcode in the context of `beside`; bodies of functions are read only if a link needs them.
pub(crate) fn load_lazily<'c>(beside: &Module<'c>, bytes: &[u8], name: &str) -> Result<Module<'c>, String> {
    let buffer = buffer(bytes, name);
    let mut module = std::ptr::null_mut();
    let failed = ffi!(LLVMGetBitcodeModuleInContext2; beside.get_context().raw(), buffer.as_mut_ptr(), &mut module) != 0;
    // LLVM has taken the buffer, in either case.
    std::mem::forget(buffer);
    if failed {
        return Err(take_errors().unwrap_or_else(|| "not readable as bitcode".into()));
    }
    Ok(ffi!(Module::new; module))
}

/// Makes every external definition of a module one that a link takes only if something refers to it.
pub(crate) fn define_externals_once(module: &Module) {
    let each = |raw: LLVMValueRef| {
        let defined = ffi!(LLVMIsDeclaration; raw) == 0;
        let local = matches!(ffi!(LLVMGetLinkage; raw), LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage);
        if defined && !local {
            ffi!(LLVMSetLinkage; raw, LLVMLinkage::LLVMLinkOnceODRLinkage);
        }
    };
    functions(module).into_iter().for_each(|f| each(f.as_value_ref()));
    globals(module).into_iter().filter(|g| !Value::from(*g).name().starts_with("llvm.")).for_each(|g| each(g.as_value_ref()));
}

/// Names of the functions and globals that a module defines for others.
pub(crate) fn external_definitions(module: &Module) -> Vec<String> {
    let external = |value: &Value| {
        let raw = value.raw();
        let local = matches!(ffi!(LLVMGetLinkage; raw), LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage);
        ffi!(LLVMIsDeclaration; raw) == 0 && !local
    };
    let all = functions(module).into_iter().map(Value::from).chain(globals(module).into_iter().map(Value::from));
    all.filter(external).map(|value| value.name()).collect()
}

/// Moves what `into` refers to out of `from`. Call [`define_externals_once`] on `from` before.
pub(crate) fn link_lazily<'c>(into: &Module<'c>, from: Module<'c>) -> Result<(), String> {
    let raw = from.as_mut_ptr();
    // The link consumes the module.
    std::mem::forget(from);
    let failed = ffi!(LLVMLinkModules2; into.as_mut_ptr(), raw) != 0;
    match take_errors() {
        Some(message) => Err(message),
        None if failed => Err("the modules could not be linked".into()),
        None => Ok(()),
    }
}

/// Every function.
pub(crate) fn functions<'c>(module: &Module<'c>) -> Vec<FunctionValue<'c>> {
    module.get_functions().collect()
}

/// Every global variable.
pub(crate) fn globals<'c>(module: &Module<'c>) -> Vec<GlobalValue<'c>> {
    module.get_globals().collect()
}

/// Every alias with what it stands for.
fn aliases<'c>(module: &Module<'c>) -> Vec<(Value<'c>, Value<'c>)> {
    let mut all = Vec::new();
    let mut at = ffi!(LLVMGetFirstGlobalAlias; module.as_mut_ptr());
    while let Some(alias) = Value::wrap(at) {
        all.extend(Value::wrap(ffi!(LLVMAliasGetAliasee; at)).map(|aliasee| (alias, aliasee)));
        at = ffi!(LLVMGetNextGlobalAlias; at);
    }
    all
}

/// Every instruction of a function, in order.
pub(crate) fn instructions<'c>(function: FunctionValue<'c>) -> Vec<Value<'c>> {
    function.get_basic_block_iter().flat_map(|block| block.get_instructions()).map(Value::from).collect()
}

/// Deletes a function that nothing uses, bodies included.
pub(crate) fn delete_function(function: FunctionValue) {
    assert!(!Value::from(function).is_used(), "a used function cannot be deleted");
    ffi!(LLVMDeleteFunction; function.as_value_ref());
}

/// Deletes a global that nothing uses.
pub(crate) fn delete_global(global: GlobalValue) {
    assert!(!Value::from(global).is_used(), "a used global cannot be deleted");
    ffi!(LLVMDeleteGlobal; global.as_value_ref());
}

/// An intrinsic's declaration, for overloads on `types`.
pub(crate) fn intrinsic<'c>(module: &Module<'c>, name: &str, types: &[BasicTypeEnum<'c>]) -> FunctionValue<'c> {
    Intrinsic::find(name)
        .and_then(|intrinsic| intrinsic.get_declaration(module, types))
        .unwrap_or_else(|| panic!("LLVM has no intrinsic `{name}`: is it another version than the one this was built for?"))
}

/// Sets what the bytes say of the module's origin.
pub(crate) fn set_identity(module: &Module, name: &str) {
    module.set_name(name);
    module.set_source_file_name(name);
    // Host assembly beside the functions cannot be reached from a kernel.
    ffi!(LLVMSetModuleInlineAsm2; module.as_mut_ptr(), c"".as_ptr(), 0);
}

/// Bitcode of the module.
pub(crate) fn write_bitcode(module: &Module) -> Vec<u8> {
    module.write_bitcode_to_memory().as_slice().to_vec()
}

/// A global in an address space.
pub(crate) fn add_global<'c>(module: &Module<'c>, ty: BasicTypeEnum<'c>, space: u16, name: &str) -> GlobalValue<'c> {
    module.add_global(ty, Some(AddressSpace::from(space)), name)
}

/// Makes every user of an alias use what it stands for, and drops the aliases.
pub(crate) fn replace_aliases(module: &Module) {
    for (alias, aliasee) in aliases(module) {
        alias.replace_uses(aliasee);
        // `LLVMDeleteGlobal` crashes on an alias; an unused internal one is dropped with the dead code.
        ffi!(LLVMSetLinkage; alias.raw(), LLVMLinkage::LLVMInternalLinkage);
    }
}

/// Takes a function out of its section and group.
pub(crate) fn clear_placement(function: FunctionValue) {
    let raw = function.as_value_ref();
    ffi!(LLVMSetSection; raw, std::ptr::null());
    ffi!(LLVMSetVisibility; raw, inkwell::llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
    ffi!(inkwell::llvm_sys::comdat::LLVMSetComdat; raw, std::ptr::null_mut());
}

/// Takes a global out of its group.
pub(crate) fn clear_comdat(global: GlobalValue) {
    ffi!(LLVMSetVisibility; global.as_value_ref(), inkwell::llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
    ffi!(inkwell::llvm_sys::comdat::LLVMSetComdat; global.as_value_ref(), std::ptr::null_mut());
}

/// Takes the personality off a function without landing pads and resumes.
pub(crate) fn clear_personality(function: FunctionValue) {
    ffi!(LLVMSetPersonalityFn; function.as_value_ref(), std::ptr::null_mut());
}

/// Gives a call the C calling convention.
pub(crate) fn clear_call_convention(call: Value) {
    assert!(call.is_call());
    ffi!(LLVMSetInstructionCallConv; call.raw(), 0);
}
