//! Functions and globals made anew in another place of their module.

use super::{Value, copy_attributes};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMGetSubprogram, LLVMSetSubprogram};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, GlobalValue};

/// Makes a function at the end of the module that has all that `old` has: body, attributes, users and name.
/// `old` is deleted.
pub(crate) fn move_body<'c>(module: &Module<'c>, old: FunctionValue<'c>) -> FunctionValue<'c> {
    let name = Value::from(old).name();
    let new = module.add_function("", old.get_type(), Some(old.get_linkage()));
    copy_attributes(old, new);
    new.set_call_conventions(old.get_call_conventions());
    let (from, to) = (old.as_value_ref(), new.as_value_ref());
    ffi!(LLVMSetUnnamedAddress; to, LLVMGetUnnamedAddress(from));
    take_body(old, new);
    Value::from(old).replace_uses(new.into());
    ffi!(LLVMDeleteFunction; from);
    Value::from(new).set_name(&name);
    new
}

/// Gives `new` the body of `old`, whose parameters its first ones stand for. `old` is left as a declaration.
pub(super) fn take_body<'c>(old: FunctionValue<'c>, new: FunctionValue<'c>) {
    let (from, to) = (old.as_value_ref(), new.as_value_ref());
    for (old, new) in old.get_param_iter().zip(new.get_param_iter()) {
        Value::from(old).replace_uses(new.into());
    }
    let subprogram = ffi!(LLVMGetSubprogram; from);
    if !subprogram.is_null() {
        // A subprogram belongs to one function.
        ffi!(LLVMSetSubprogram; from, std::ptr::null_mut());
        ffi!(LLVMSetSubprogram; to, subprogram);
    }
    for block in old.get_basic_blocks() {
        let block = block.as_mut_ptr();
        ffi!(LLVMRemoveBasicBlockFromParent; block);
        ffi!(LLVMAppendExistingBasicBlock; to, block);
    }
}

/// Makes a global at the end of the module that has all that `old` has. `old` is deleted.
pub(crate) fn rebuild_global<'c>(module: &Module<'c>, old: GlobalValue<'c>) -> GlobalValue<'c> {
    let name = Value::from(old).name();
    let from = old.as_value_ref();
    let space = ffi!(LLVMGetPointerAddressSpace; LLVMTypeOf(from));
    let to = ffi!(LLVMAddGlobalInAddressSpace; module.as_mut_ptr(), LLVMGlobalGetValueType(from), c"".as_ptr(), space);
    let initializer = ffi!(LLVMGetInitializer; from);
    if !initializer.is_null() {
        ffi!(LLVMSetInitializer; to, initializer);
    }
    ffi!(LLVMSetLinkage; to, LLVMGetLinkage(from));
    ffi!(LLVMSetGlobalConstant; to, LLVMIsGlobalConstant(from));
    ffi!(LLVMSetAlignment; to, LLVMGetAlignment(from));
    ffi!(LLVMSetThreadLocalMode; to, LLVMGetThreadLocalMode(from));
    ffi!(LLVMSetUnnamedAddress; to, LLVMGetUnnamedAddress(from));
    ffi!(LLVMSetExternallyInitialized; to, LLVMIsExternallyInitialized(from));
    let section = ffi!(LLVMGetSection; from);
    if !section.is_null() {
        ffi!(LLVMSetSection; to, section);
    }
    ffi!(LLVMReplaceAllUsesWith; from, to);
    ffi!(LLVMDeleteGlobal; from);
    ffi!(LLVMSetValueName2; to, name.as_ptr().cast(), name.len());
    ffi!(GlobalValue::new; to)
}

/// Takes a global's initialiser away, for a definition elsewhere.
pub(crate) fn make_declaration(global: GlobalValue) {
    ffi!(LLVMSetInitializer; global.as_value_ref(), std::ptr::null_mut());
    ffi!(LLVMSetLinkage; global.as_value_ref(), inkwell::llvm_sys::LLVMLinkage::LLVMExternalLinkage);
}

/// Puts a declaration with the same name, type, attributes and users in the place of `old`, which is deleted.
pub(crate) fn replace_by_declaration<'c>(module: &Module<'c>, old: FunctionValue<'c>) -> FunctionValue<'c> {
    let name = Value::from(old).name();
    let new = module.add_function("", old.get_type(), None);
    copy_attributes(old, new);
    Value::from(old).replace_uses(new.into());
    ffi!(LLVMDeleteFunction; old.as_value_ref());
    Value::from(new).set_name(&name);
    new
}
