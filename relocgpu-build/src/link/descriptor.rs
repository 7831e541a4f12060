//! Reads `KernelDescriptor` constants: see `contract::layout`, whose `repr(C)` offsets are spelled out here.

use super::{Descriptor, ONE_VERSION, STAGE};
use crate::error::Error;
use crate::llvm::constant::{Constants, Flat};
use crate::llvm::{self, Value};
use inkwell::module::Module;
use relocgpu_runtime::contract::layout::{FieldLayout, KernelDescriptor, Layout, MAX_DEPTH, ParamDescriptor, TypeLayout};
use relocgpu_runtime::contract::manifest::Param;
use relocgpu_runtime::contract::names::instance_arguments;
use std::mem::{offset_of, size_of};

pub(super) struct Reader {
    constants: Constants,
}

impl Reader {
    pub(super) fn new(module: &Module) -> Self {
        Self { constants: Constants::new(module) }
    }

    /// Reads a kernel's descriptor.
    pub(super) fn kernel(&self, at: Value) -> Result<Descriptor, Error> {
        self.read_kernel(at).ok_or_else(|| Error::Refused {
            stage: STAGE,
            what: format!("a kernel's descriptor cannot be read: {at:?}"),
            help: ONE_VERSION,
        })
    }

    /// The `<…>` of an instance's type name, empty for a kernel that is not generic.
    pub(super) fn instance(&self, type_name: Value) -> Result<String, Error> {
        let text = self.read_type_name(type_name);
        let text = text.ok_or_else(|| Error::broken(STAGE, format!("a kernel instance's name cannot be read: {type_name:?}")))?;
        Ok(instance_arguments(&text).to_owned())
    }

    /// `type_name::<T>` is a function that returns a constant.
    fn read_type_name(&self, function: Value) -> Option<String> {
        let function = function.as_function()?;
        let returned = llvm::instructions(function).last()?.operands();
        let [text] = returned[..] else { return None };
        let [pointer, length] = text.operands()[..] else { return None };
        let (text, start) = self.open(pointer)?;
        utf8(&text, start, length.as_u64()?)
    }

    fn read_kernel(&self, at: Value) -> Option<Descriptor> {
        let (flat, start) = self.open(at)?;
        let number = |offset: usize| flat.word(start + offset);
        let word32 = |offset: usize| Some(u32::from_le_bytes(flat.bytes.get(start + offset..start + offset + 4)?.try_into().ok()?));
        Some(Descriptor {
            name: self.str_at(&flat, start + offset_of!(KernelDescriptor, name))?,
            file: self.str_at(&flat, start + offset_of!(KernelDescriptor, file))?,
            params: self.slice_at(&flat, start + offset_of!(KernelDescriptor, params), size_of::<ParamDescriptor>(), |flat, at| {
                Some(Param {
                    name: self.str_at(flat, at + offset_of!(ParamDescriptor, name))?,
                    ty: self.str_at(flat, at + offset_of!(ParamDescriptor, ty))?,
                    offset: flat.word(at + offset_of!(ParamDescriptor, offset))?,
                    layout: self.layout(flat, at + offset_of!(ParamDescriptor, layout), 0)?,
                })
            })?,
            size: number(offset_of!(KernelDescriptor, size))?,
            align: number(offset_of!(KernelDescriptor, align))?,
            line: word32(offset_of!(KernelDescriptor, line))?,
            column: word32(offset_of!(KernelDescriptor, column))?,
            delivery: word32(offset_of!(KernelDescriptor, delivery))?,
        })
    }

    fn layout(&self, flat: &Flat, at: usize, depth: u32) -> Option<Layout> {
        let (flat, start) = self.follow(flat, at)?;
        if depth == MAX_DEPTH {
            return None;
        }
        Some(Layout {
            name: self.str_at(&flat, start + offset_of!(TypeLayout, name))?,
            size: flat.word(start + offset_of!(TypeLayout, size))?,
            align: flat.word(start + offset_of!(TypeLayout, align))?,
            fields: self.slice_at(&flat, start + offset_of!(TypeLayout, fields), size_of::<FieldLayout>(), |flat, at| {
                Some((
                    self.str_at(flat, at + offset_of!(FieldLayout, name))?,
                    flat.word(at + offset_of!(FieldLayout, offset))?,
                    self.layout(flat, at + offset_of!(FieldLayout, layout), depth + 1)?,
                ))
            })?,
        })
    }

    /// The memory that a constant pointer leads to, and where in it.
    fn open<'c>(&self, pointer: Value<'c>) -> Option<(Flat<'c>, usize)> {
        self.memory(self.constants.pointer(pointer)?)
    }

    /// The same of the word at `at`.
    fn follow<'c>(&self, flat: &Flat<'c>, at: usize) -> Option<(Flat<'c>, usize)> {
        self.memory(flat.address(at)?)
    }

    fn memory<'c>(&self, (global, past): (Value<'c>, i64)) -> Option<(Flat<'c>, usize)> {
        Some((self.constants.flatten(global.as_global()?)?, usize::try_from(past).ok()?))
    }

    fn slice_at<T>(&self, flat: &Flat, at: usize, stride: usize, read: impl Fn(&Flat, usize) -> Option<T>) -> Option<Vec<T>> {
        let length = flat.word(at + 8)?;
        if length == 0 {
            return Some(Vec::new());
        }
        let (elements, start) = self.follow(flat, at)?;
        (0..usize::try_from(length).ok()?).map(|i| read(&elements, start + i * stride)).collect()
    }

    fn str_at(&self, flat: &Flat, at: usize) -> Option<String> {
        let length = flat.word(at + 8)?;
        if length == 0 {
            return Some(String::new());
        }
        let (text, start) = self.follow(flat, at)?;
        utf8(&text, start, length)
    }
}

fn utf8(flat: &Flat, start: usize, length: u64) -> Option<String> {
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    String::from_utf8(flat.bytes.get(start..end)?.to_vec()).ok()
}
