//! A handle of any LLVM value.

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use inkwell::types::{AnyTypeEnum, AsTypeRef, BasicTypeEnum};
use inkwell::values::{AsValueRef, BasicValueEnum, FunctionValue, GlobalValue, InstructionValue};
use std::ffi::CStr;
use std::marker::PhantomData;

/// Any value of a module: function, global, constant, argument or instruction.
///
/// A plain copyable handle. Whoever erases a value forgets its handles.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Value<'c> {
    raw: LLVMValueRef,
    context: PhantomData<&'c ()>,
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let text = ffi!(LLVMPrintValueToString; self.raw);
        let result = f.write_str(&ffi!(CStr::from_ptr; text).to_string_lossy());
        ffi!(LLVMDisposeMessage; text);
        result
    }
}

impl<'c, V: AsValueRef> From<V> for Value<'c> {
    fn from(value: V) -> Self {
        Self { raw: value.as_value_ref(), context: PhantomData }
    }
}

impl<'c> Value<'c> {
    pub(super) fn wrap(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self { raw, context: PhantomData })
    }

    pub(super) fn raw(self) -> LLVMValueRef {
        self.raw
    }

    /// The value as a function.
    pub(crate) fn as_function(self) -> Option<FunctionValue<'c>> {
        if ffi!(LLVMIsAFunction; self.raw).is_null() { None } else { ffi!(FunctionValue::new; self.raw) }
    }

    /// The value as a global variable.
    pub(crate) fn as_global(self) -> Option<GlobalValue<'c>> {
        (!ffi!(LLVMIsAGlobalVariable; self.raw).is_null()).then(|| ffi!(GlobalValue::new; self.raw))
    }

    /// The value as an instruction.
    pub(crate) fn as_instruction(self) -> Option<InstructionValue<'c>> {
        self.is_instruction().then(|| ffi!(InstructionValue::new; self.raw))
    }

    /// The value as one that inkwell's builder takes: none for metadata, labels, tokens and the like.
    pub(crate) fn as_basic(self) -> Option<BasicValueEnum<'c>> {
        use LLVMTypeKind::*;
        let first_class = !matches!(
            ffi!(LLVMGetTypeKind; self.type_ref()),
            LLVMVoidTypeKind | LLVMLabelTypeKind | LLVMMetadataTypeKind | LLVMTokenTypeKind | LLVMFunctionTypeKind
        );
        first_class.then(|| ffi!(BasicValueEnum::new; self.raw))
    }

    /// Whether this is an instruction.
    pub(crate) fn is_instruction(self) -> bool {
        !ffi!(LLVMIsAInstruction; self.raw).is_null()
    }

    /// Whether this is a constant; functions and globals are.
    pub(crate) fn is_constant(self) -> bool {
        ffi!(LLVMIsConstant; self.raw) != 0
    }

    /// Whether this is a constant expression.
    pub(crate) fn is_constant_expression(self) -> bool {
        !ffi!(LLVMIsAConstantExpr; self.raw).is_null()
    }

    /// Whether this is an argument of a function.
    pub(crate) fn is_argument(self) -> bool {
        !ffi!(LLVMIsAArgument; self.raw).is_null()
    }

    /// Whether this is a function, global variable, alias or ifunc.
    pub(crate) fn is_global_value(self) -> bool {
        !ffi!(LLVMIsAGlobalValue; self.raw).is_null()
    }

    /// Whether this is a basic block used as a value.
    pub(crate) fn is_block(self) -> bool {
        ffi!(LLVMValueIsBasicBlock; self.raw) != 0
    }

    /// Whether this is undef or poison.
    pub(crate) fn is_undef(self) -> bool {
        ffi!(LLVMIsUndef; self.raw) != 0
    }

    /// Whether this is the constant zero of its type.
    pub(crate) fn is_null(self) -> bool {
        ffi!(LLVMIsNull; self.raw) != 0
    }

    /// The value of an integer constant of at most 64 bits.
    pub(crate) fn as_u64(self) -> Option<u64> {
        (!ffi!(LLVMIsAConstantInt; self.raw).is_null() && ffi!(LLVMGetIntTypeWidth; self.type_ref()) <= 64)
            .then(|| ffi!(LLVMConstIntGetZExtValue; self.raw))
    }

    pub(super) fn type_ref(self) -> LLVMTypeRef {
        ffi!(LLVMTypeOf; self.raw)
    }

    /// The type; `None` for what inkwell has no type for.
    pub(crate) fn ty(self) -> Option<AnyTypeEnum<'c>> {
        use LLVMTypeKind::*;
        let ty = self.type_ref();
        (!matches!(ffi!(LLVMGetTypeKind; ty), LLVMLabelTypeKind | LLVMTokenTypeKind)).then(|| ffi!(AnyTypeEnum::new; ty))
    }

    /// Width of an integer type in bits.
    pub(crate) fn int_bits(self) -> Option<u32> {
        let ty = self.type_ref();
        matches!(ffi!(LLVMGetTypeKind; ty), LLVMTypeKind::LLVMIntegerTypeKind).then(|| ffi!(LLVMGetIntTypeWidth; ty))
    }

    /// Whether it is a number of at most 64 bits that all of a word, or its low end, can be.
    pub(crate) fn fits_a_word(self) -> bool {
        let kind = ffi!(LLVMGetTypeKind; self.type_ref());
        self.int_bits().is_some_and(|bits| bits <= 64) || matches!(kind, LLVMTypeKind::LLVMDoubleTypeKind)
    }

    /// Name of a global value, or of a local one where names are kept.
    pub(crate) fn name(self) -> String {
        let mut length = 0;
        let text = ffi!(LLVMGetValueName2; self.raw, &mut length);
        let bytes = ffi!(std::slice::from_raw_parts; text.cast::<u8>(), length);
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Renames the value; LLVM appends a number if another global has the name.
    pub(crate) fn set_name(self, name: &str) {
        ffi!(LLVMSetValueName2; self.raw, name.as_ptr().cast(), name.len());
    }

    fn is_user(self) -> bool {
        !ffi!(LLVMIsAUser; self.raw).is_null()
    }

    /// Operands; for a call the arguments, then what is called.
    pub(crate) fn operands(self) -> Vec<Value<'c>> {
        if !self.is_user() {
            return Vec::new();
        }
        let count = ffi!(LLVMGetNumOperands; self.raw) as u32;
        (0..count).filter_map(|i| Self::wrap(ffi!(LLVMGetOperand; self.raw, i))).collect()
    }

    /// Each user of this value, once for each use.
    pub(crate) fn users(self) -> Vec<Value<'c>> {
        let mut users = Vec::new();
        let mut at = ffi!(LLVMGetFirstUse; self.raw);
        while !at.is_null() {
            users.extend(Self::wrap(ffi!(LLVMGetUser; at)));
            at = ffi!(LLVMGetNextUse; at);
        }
        users
    }

    /// Whether anything uses this value.
    pub(crate) fn is_used(self) -> bool {
        !ffi!(LLVMGetFirstUse; self.raw).is_null()
    }

    /// The instructions that use this value, directly or through constants, each once.
    pub(crate) fn using_instructions(self) -> Vec<Value<'c>> {
        let mut found = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut open = vec![self];
        while let Some(value) = open.pop() {
            for user in value.users() {
                if seen.insert(user) {
                    if user.is_instruction() { found.push(user) } else { open.push(user) }
                }
            }
        }
        found
    }

    /// Makes every user use `other`.
    pub(crate) fn replace_uses(self, other: Value<'c>) {
        assert!(self.type_ref() == other.type_ref(), "replacement of another type");
        ffi!(LLVMReplaceAllUsesWith; self.raw, other.raw);
    }

    /// The function that an argument belongs to.
    pub(crate) fn parameter_of(self) -> Option<FunctionValue<'c>> {
        if self.is_argument() { ffi!(FunctionValue::new; LLVMGetParamParent(self.raw)) } else { None }
    }
}

/// The undefined value of a type.
pub(crate) fn undef<'c>(ty: BasicTypeEnum<'c>) -> BasicValueEnum<'c> {
    ffi!(BasicValueEnum::new; LLVMGetUndef(ty.as_type_ref()))
}
