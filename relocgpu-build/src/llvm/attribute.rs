//! Attributes by name.

use super::Value;
use inkwell::llvm_sys::LLVMAttributeIndex;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMAttributeRef, LLVMValueRef};
use inkwell::values::{AsValueRef, FunctionValue};

/// What of a function an attribute belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The function.
    Function,
    /// A parameter, from 0.
    Param(u32),
}

impl Place {
    pub(super) fn index(self) -> LLVMAttributeIndex {
        match self {
            Self::Function => u32::MAX,
            Self::Param(n) => n + 1,
        }
    }
}

fn kind(name: &str) -> u32 {
    let kind = ffi!(LLVMGetEnumAttributeKindForName; name.as_ptr().cast(), name.len());
    assert!(kind != 0, "LLVM has no attribute `{name}`");
    kind
}

fn make(value: LLVMValueRef, name: &str) -> LLVMAttributeRef {
    // Instructions and functions both know their context through their type.
    let context = ffi!(LLVMGetTypeContext; LLVMTypeOf(value));
    ffi!(LLVMCreateEnumAttribute; context, kind(name), 0)
}

/// Adds an attribute without a value.
pub(crate) fn add_attribute(function: FunctionValue, place: Place, name: &str) {
    let function = function.as_value_ref();
    ffi!(LLVMAddAttributeAtIndex; function, place.index(), make(function, name));
}

/// Whether the function has the attribute there.
pub(crate) fn has_attribute(function: FunctionValue, place: Place, name: &str) -> bool {
    !ffi!(LLVMGetEnumAttributeAtIndex; function.as_value_ref(), place.index(), kind(name)).is_null()
}

/// Removes an attribute if it is there.
pub(crate) fn remove_attribute(function: FunctionValue, place: Place, name: &str) {
    ffi!(LLVMRemoveEnumAttributeAtIndex; function.as_value_ref(), place.index(), kind(name));
}

/// Adds an attribute without a value to a call.
pub(crate) fn add_call_attribute(call: Value, name: &str) {
    assert!(call.is_call());
    ffi!(LLVMAddCallSiteAttribute; call.raw(), Place::Function.index(), make(call.raw(), name));
}

fn is_kept(attribute: LLVMAttributeRef, keep: &[&str]) -> bool {
    if ffi!(LLVMIsEnumAttribute; attribute) == 0 {
        return false;
    }
    let found = ffi!(LLVMGetEnumAttributeKind; attribute);
    keep.iter().any(|name| kind(name) == found)
}

/// Removes every attribute of the function itself (not of parameters) that is not named in `keep`.
pub(crate) fn clear_function_attributes(function: FunctionValue, keep: &[&str]) {
    let raw = function.as_value_ref();
    let at = Place::Function.index();
    let mut all = vec![std::ptr::null_mut(); ffi!(LLVMGetAttributeCountAtIndex; raw, at) as usize];
    ffi!(LLVMGetAttributesAtIndex; raw, at, all.as_mut_ptr());
    for attribute in all {
        if ffi!(LLVMIsStringAttribute; attribute) != 0 {
            let mut length = 0;
            let name = ffi!(LLVMGetStringAttributeKind; attribute, &mut length);
            ffi!(LLVMRemoveStringAttributeAtIndex; raw, at, name, length);
        } else if !is_kept(attribute, keep) {
            ffi!(LLVMRemoveEnumAttributeAtIndex; raw, at, LLVMGetEnumAttributeKind(attribute));
        }
    }
}

/// As [`clear_function_attributes`], for a call.
pub(crate) fn clear_call_attributes(call: Value, keep: &[&str]) {
    assert!(call.is_call());
    let at = Place::Function.index();
    let mut all = vec![std::ptr::null_mut(); ffi!(LLVMGetCallSiteAttributeCount; call.raw(), at) as usize];
    ffi!(LLVMGetCallSiteAttributes; call.raw(), at, all.as_mut_ptr());
    for attribute in all {
        if ffi!(LLVMIsStringAttribute; attribute) != 0 {
            let mut length = 0;
            let name = ffi!(LLVMGetStringAttributeKind; attribute, &mut length);
            ffi!(LLVMRemoveCallSiteStringAttribute; call.raw(), at, name, length);
        } else if !is_kept(attribute, keep) {
            ffi!(LLVMRemoveCallSiteEnumAttribute; call.raw(), at, LLVMGetEnumAttributeKind(attribute));
        }
    }
}

/// Gives `to` every attribute of `from`: its own, its result's and its parameters'.
pub(crate) fn copy_attributes(from: FunctionValue, to: FunctionValue) {
    let (from_raw, to_raw) = (from.as_value_ref(), to.as_value_ref());
    for at in std::iter::once(u32::MAX).chain(0..=from.count_params()) {
        let mut all = vec![std::ptr::null_mut(); ffi!(LLVMGetAttributeCountAtIndex; from_raw, at) as usize];
        ffi!(LLVMGetAttributesAtIndex; from_raw, at, all.as_mut_ptr());
        for attribute in all {
            ffi!(LLVMAddAttributeAtIndex; to_raw, at, attribute);
        }
    }
}

/// Removes what is promised of a pointer parameter, so that a number can be passed in its place.
pub(crate) fn clear_pointer_promises(function: FunctionValue, param: u32) {
    for name in POINTER_PROMISES {
        remove_attribute(function, Place::Param(param), name);
    }
}

/// As [`clear_pointer_promises`], for an argument of a call.
pub(crate) fn clear_argument_promises(call: Value, argument: u32) {
    assert!(call.is_call());
    for name in POINTER_PROMISES {
        ffi!(LLVMRemoveCallSiteEnumAttribute; call.raw(), Place::Param(argument).index(), kind(name));
    }
}

const POINTER_PROMISES: [&str; 5] = ["align", "dereferenceable", "dereferenceable_or_null", "noalias", "nonnull"];
