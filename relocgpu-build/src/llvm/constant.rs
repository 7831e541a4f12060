//! Constants flattened to what they are in memory: bytes, and words that hold addresses.

use super::Value;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMTypeRef;
use inkwell::llvm_sys::target::{LLVMABISizeOfType, LLVMOffsetOfElement, LLVMTargetDataRef};
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::GlobalValue;

/// A constant's memory. Words that hold addresses are zero in `bytes`.
#[derive(Debug, Default)]
pub(crate) struct Flat<'c> {
    /// The bytes; undefined ones are zero.
    pub(crate) bytes: Vec<u8>,
    /// Offset of each word that holds an address, what it points at, and how many bytes past its start.
    pub(crate) addresses: Vec<(u64, Value<'c>, i64)>,
}

impl<'c> Flat<'c> {
    /// The little-endian word at `offset`.
    pub(crate) fn word(&self, offset: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes.get(offset..offset + 8)?.try_into().ok()?))
    }

    /// What the word at `offset` points at.
    pub(crate) fn address(&self, offset: usize) -> Option<(Value<'c>, i64)> {
        self.addresses.iter().find(|(at, ..)| *at == offset as u64).map(|(_, value, past)| (*value, *past))
    }
}

/// Reads initialisers of one module.
pub(crate) struct Constants {
    data: TargetData,
}

impl Constants {
    /// A reader that knows the module's data layout.
    pub(crate) fn new(module: &Module) -> Self {
        let layout = module.get_data_layout();
        Self { data: TargetData::create(&layout.as_str().to_string_lossy()) }
    }

    fn layout(&self) -> LLVMTargetDataRef {
        self.data.as_mut_ptr()
    }

    /// Bytes of a global's type.
    pub(crate) fn size_of(&self, global: GlobalValue) -> u64 {
        use inkwell::values::AsValueRef;
        ffi!(LLVMABISizeOfType; self.layout(), LLVMGlobalGetValueType(global.as_value_ref()))
    }

    /// The memory of a global's initialiser; `None` if it has none, or holds what has no bytes before the program runs.
    pub(crate) fn flatten<'c>(&self, global: GlobalValue<'c>) -> Option<Flat<'c>> {
        use inkwell::values::AsValueRef;
        let initializer = Value::wrap(ffi!(LLVMGetInitializer; global.as_value_ref()))?;
        let mut flat = Flat { bytes: vec![0; usize::try_from(self.size_of(global)).ok()?], addresses: Vec::new() };
        self.write(initializer, 0, &mut flat)?;
        flat.addresses.sort_by_key(|(at, ..)| *at);
        Some(flat)
    }

    fn write<'c>(&self, constant: Value<'c>, at: u64, flat: &mut Flat<'c>) -> Option<()> {
        if constant.is_undef() || constant.is_null() {
            return Some(());
        }
        let raw = constant.raw();
        let ty = constant.type_ref();
        match ffi!(LLVMGetTypeKind; ty) {
            LLVMTypeKind::LLVMIntegerTypeKind
            | LLVMTypeKind::LLVMHalfTypeKind
            | LLVMTypeKind::LLVMFloatTypeKind
            | LLVMTypeKind::LLVMDoubleTypeKind => self.write_scalar(constant, at, flat),
            LLVMTypeKind::LLVMPointerTypeKind => {
                if let Some(number) = self.number(constant) {
                    flat.bytes.get_mut(at as usize..at as usize + 8)?.copy_from_slice(&number.to_le_bytes());
                    return Some(());
                }
                let (base, past) = self.pointer(constant)?;
                flat.addresses.push((at, base, past));
                Some(())
            }
            LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind if !ffi!(LLVMIsAConstantDataSequential; raw).is_null() => {
                let mut length = 0;
                let data = ffi!(LLVMGetAsString; raw, &mut length);
                let data = ffi!(std::slice::from_raw_parts; data.cast::<u8>(), length);
                flat.bytes.get_mut(at as usize..at as usize + length)?.copy_from_slice(data);
                Some(())
            }
            LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind => {
                let stride = ffi!(LLVMABISizeOfType; self.layout(), LLVMGetElementType(ty));
                constant.operands().into_iter().enumerate().try_for_each(|(i, element)| self.write(element, at + i as u64 * stride, flat))
            }
            LLVMTypeKind::LLVMStructTypeKind => constant.operands().into_iter().enumerate().try_for_each(|(i, field)| {
                let offset = ffi!(LLVMOffsetOfElement; self.layout(), ty, i as u32);
                self.write(field, at + offset, flat)
            }),
            _ => None,
        }
    }

    fn write_scalar<'c>(&self, constant: Value<'c>, at: u64, flat: &mut Flat<'c>) -> Option<()> {
        let ty = constant.type_ref();
        let size = ffi!(LLVMABISizeOfType; self.layout(), ty) as usize;
        if !ffi!(LLVMIsAConstantFP; constant.raw()).is_null() {
            let context = ffi!(LLVMGetTypeContext; ty);
            let int: LLVMTypeRef = ffi!(LLVMIntTypeInContext; context, size as u32 * 8);
            return self.write_scalar(Value::wrap(ffi!(LLVMConstBitCast; constant.raw(), int))?, at, flat);
        }
        if let Some(value) = constant.as_u64() {
            flat.bytes.get_mut(at as usize..at as usize + size)?.copy_from_slice(&value.to_le_bytes()[..size]);
            return Some(());
        }
        if !ffi!(LLVMIsAConstantInt; constant.raw()).is_null() {
            return self.write_wide(constant, at as usize, size, flat);
        }
        // An address as an integer.
        if size == 8 && matches!(constant.opcode(), Some(LLVMOpcode::LLVMPtrToInt)) {
            let (base, past) = self.pointer(*constant.operands().first()?)?;
            flat.addresses.push((at, base, past));
            return Some(());
        }
        None
    }

    /// An integer of more than 64 bits, which the C interface shows only as text.
    fn write_wide(&self, constant: Value, at: usize, size: usize, flat: &mut Flat) -> Option<()> {
        let text = format!("{constant:?}");
        let number = text.split_whitespace().last()?.parse::<i128>().ok()?;
        flat.bytes.get_mut(at..at + size)?.copy_from_slice(number.to_le_bytes().get(..size)?);
        Some(())
    }

    /// A constant pointer that is a number: null, dangling or an identifier.
    fn number(&self, pointer: Value) -> Option<u64> {
        if pointer.is_null() {
            return Some(0);
        }
        let operands = pointer.operands();
        match pointer.opcode()? {
            LLVMOpcode::LLVMIntToPtr => operands.first()?.as_u64(),
            LLVMOpcode::LLVMGetElementPtr if operands.len() == 2 => {
                let stride = ffi!(LLVMABISizeOfType; self.layout(), LLVMGetGEPSourceElementType(pointer.raw()));
                Some(self.number(operands[0])?.wrapping_add(operands[1].as_u64()?.wrapping_mul(stride)))
            }
            _ => None,
        }
    }

    /// The global value that a constant pointer points into, and how far past its start.
    pub(crate) fn pointer<'c>(&self, pointer: Value<'c>) -> Option<(Value<'c>, i64)> {
        if pointer.is_global_value() {
            return Some((pointer, 0));
        }
        let operands = pointer.operands();
        match pointer.opcode()? {
            LLVMOpcode::LLVMGetElementPtr if operands.len() == 2 => {
                let (base, past) = self.pointer(operands[0])?;
                let stride = ffi!(LLVMABISizeOfType; self.layout(), LLVMGetGEPSourceElementType(pointer.raw()));
                Some((base, past + operands[1].as_u64()? as i64 * stride as i64))
            }
            LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMBitCast => self.pointer(*operands.first()?),
            _ => None,
        }
    }
}
