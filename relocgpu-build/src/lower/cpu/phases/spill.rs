//! What lives across barriers moves to the kept memory, a slot for each value or local variable.

use super::{Splitter, Unsplit, lost};
use crate::llvm::edit::{self, after, before_use, uses_by_block};
use crate::llvm::{self, Value};
use crate::symbols::calls;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::types::{AnyTypeEnum, BasicTypeEnum};
use inkwell::values::{BasicValueEnum, PointerValue};
use std::collections::HashSet;

impl<'c> Splitter<'c> {
    /// Local variables with an address: those in use on both sides of a barrier move to the kept memory.
    pub(super) fn spill_locals(&mut self) -> Result<(), Unsplit> {
        let locals: Vec<_> =
            self.entry.get_instructions().map(Value::from).filter(|i| i.opcode() == Some(LLVMOpcode::LLVMAlloca)).collect();
        for local in locals {
            let blocks = self.blocks_of(local);
            if !blocks.iter().any(|a| blocks.iter().any(|b| self.flow.crosses(*a, *b))) {
                continue;
            }
            let ty = edit::allocated_type(local).ok_or_else(lost("a local's type"))?;
            let align = edit::alignment_of(local).max(u64::from(self.layout.get_abi_alignment(&ty)));
            let slot = self.slot(self.layout.get_abi_size(&ty).next_multiple_of(align), align)?;
            let lifetimes = local.users().into_iter().filter(|u| calls(*u, "llvm.lifetime.start.p0") || calls(*u, "llvm.lifetime.end.p0"));
            lifetimes.collect::<Vec<_>>().into_iter().for_each(Value::erase);
            local.replace_uses(slot.into());
            local.erase();
        }
        Ok(())
    }

    /// The blocks where a local variable is used, through pointers derived from it too; all, if its address is kept.
    fn blocks_of(&self, local: Value<'c>) -> HashSet<BasicBlock<'c>> {
        let mut blocks = HashSet::new();
        let mut seen = HashSet::from([local]);
        let mut open = vec![local];
        while let Some(pointer) = open.pop() {
            for user in pointer.users() {
                let derived = matches!(
                    user.opcode(),
                    Some(LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMSelect | LLVMOpcode::LLVMFreeze)
                );
                let harmless = match user.opcode() {
                    Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMICmp) => true,
                    Some(LLVMOpcode::LLVMStore) => user.operands()[0] != pointer,
                    Some(LLVMOpcode::LLVMCall) => user.called_function().is_some_and(|f| {
                        let name = Value::from(f).name();
                        name.starts_with("llvm.mem") || name.starts_with("llvm.lifetime")
                    }),
                    _ => derived,
                };
                if !harmless {
                    return self.function.get_basic_blocks().into_iter().collect();
                }
                if !calls(user, "llvm.lifetime.start.p0") && !calls(user, "llvm.lifetime.end.p0") {
                    blocks.extend(uses_by_block(user).into_iter().map(|(.., block)| block));
                }
                if derived && seen.insert(user) {
                    open.push(user);
                }
            }
        }
        blocks
    }

    /// Values that are used behind a barrier that comes after them.
    pub(super) fn spill_values(&mut self) -> Result<(), Unsplit> {
        for made in llvm::instructions(self.function) {
            let block = made.block().ok_or_else(lost("a value's block"))?;
            if block == self.entry {
                continue;
            }
            let mut slot = None;
            let users: HashSet<_> = made.users().into_iter().collect();
            for user in users {
                for (index, operand, used) in uses_by_block(user) {
                    if operand != made || !self.flow.crosses(block, used) {
                        continue;
                    }
                    let at = before_use(user, used).ok_or_else(lost("a block's end"))?;
                    let value = match self.rematerialise(made, at) {
                        Some(value) => value,
                        None => {
                            let kept = match slot {
                                Some(kept) => kept,
                                None => *slot.insert(self.spill(made)?),
                            };
                            self.load(made, kept, at)?
                        }
                    };
                    user.set_operand(index, value);
                }
            }
        }
        Ok(())
    }

    /// How a value lies in memory: single bits as bytes.
    fn slot_type(&self, value: Value<'c>) -> Result<BasicTypeEnum<'c>, Unsplit> {
        match value.ty() {
            Some(AnyTypeEnum::IntType(ty)) if ty.get_bit_width() == 1 => Ok(self.context.i8_type().into()),
            ty => ty.and_then(|ty| BasicTypeEnum::try_from(ty).ok()).ok_or(Unsplit::Unfit),
        }
    }

    /// Stores a value where it is made.
    fn spill(&mut self, made: Value<'c>) -> Result<PointerValue<'c>, Unsplit> {
        let ty = self.slot_type(made)?;
        let align = u64::from(self.layout.get_abi_alignment(&ty));
        let slot = self.slot(self.layout.get_abi_size(&ty), align)?;
        let behind = after(made).and_then(Value::as_instruction).ok_or_else(lost("what follows a value"))?;
        self.builder.position_before(&behind);
        let value = match made.as_basic().ok_or(Unsplit::Unfit)? {
            BasicValueEnum::IntValue(bit) if bit.get_type().get_bit_width() == 1 => {
                self.builder.build_int_z_extend(bit, self.context.i8_type(), "")?.into()
            }
            value => value,
        };
        self.builder.build_store(slot, value)?;
        Ok(slot)
    }

    fn load(&self, made: Value<'c>, slot: PointerValue<'c>, at: Value<'c>) -> Result<Value<'c>, Unsplit> {
        self.builder.position_before(&at.as_instruction().ok_or_else(lost("a use"))?);
        let loaded = self.builder.build_load(self.slot_type(made)?, slot, "")?;
        Ok(match made.as_basic().ok_or(Unsplit::Unfit)? {
            BasicValueEnum::IntValue(bit) if bit.get_type().get_bit_width() == 1 => {
                self.builder.build_int_truncate(loaded.into_int_value(), self.context.bool_type(), "")?.into()
            }
            _ => loaded.into(),
        })
    }
}
