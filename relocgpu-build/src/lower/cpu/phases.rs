//! Splits a kernel at its barriers, so that each part is a loop over the block's threads of its own.
//!
//! Possible where the barriers come one after the other, none of them in a loop. The thread function, body inlined,
//!
//! ```text
//! define internal i32 @relocgpu_phases_0(…, i32 %linear, i32 %threads, ptr %frames, i32 %phase) {
//!   %a = …                                      →   entry: switch i32 %phase [ 0: start, 1: behind ]
//!   call i32 @__relocgpu_block_barrier()        →   start: %a = …; store %a, ptr %slot.a; ret i32 1
//!   … %a …                                      →   behind: %b = load ptr %slot.a; … %b …; ret i32 0
//!   ret i32 0
//! }
//! ```
//!
//! returns 1 where the thread waits and 0 where it has ended. The block's loops call it once for each phase; inlining
//! then leaves of each call its phase alone. A value that is used behind a barrier and was made before it is computed
//! again if it follows from arguments and constants, else it lives in memory: all threads' copies side by side, so that
//! the loops stay fit for vectors.

use super::flow::{Barrier, Flow, barriers};
use super::intrinsics::PURE;
use crate::llvm::edit::{self, after, before_use, copy_before, uses_by_block};
use crate::llvm::{self, Value};
use crate::symbols::calls;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::ContextRef;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::types::{AnyTypeEnum, BasicTypeEnum};
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PointerValue};
use relocgpu_runtime::contract::cpu::FRAME_ALIGN;
use relocgpu_runtime::contract::names::intrinsic::THREAD_END;
use std::collections::{HashMap, HashSet};

/// Instructions that are computed again rather than kept.
const MAX_AGAIN: usize = 16;

/// A kernel that was split.
pub(super) struct Split {
    pub(super) phases: usize,
    /// Bytes that each thread keeps across barriers.
    pub(super) frame_bytes: u64,
}

/// Splits the thread function, whose last arguments are linear index, threads, frames and phase. `None` leaves it
/// unfit for use: its barriers do not allow it.
pub(super) fn run<'c>(module: &Module<'c>, function: FunctionValue<'c>) -> Option<Split> {
    let barriers = barriers(function)?;
    let flow = Flow::of(function, &barriers);
    let order = flow.chain(function.get_first_basic_block()?)?;
    let ends: Vec<_> = llvm::instructions(function).into_iter().filter(|i| calls(*i, THREAD_END)).collect();
    let mut split = Splitter::new(module, function, flow)?;
    split.open(&order)?;
    split.keep_locals()?;
    split.keep_values()?;
    // What follows a barrier that was not passed: gone with the branch that led to it.
    ends.into_iter().for_each(Value::erase);
    split.close(&order);
    function.verify(false).then_some(Split { phases: order.len() + 1, frame_bytes: split.frame_bytes })
}

struct Splitter<'c> {
    function: FunctionValue<'c>,
    flow: Flow<'c>,
    context: ContextRef<'c>,
    builder: Builder<'c>,
    layout: TargetData,
    entry: BasicBlock<'c>,
    /// Arguments: linear index of the thread and number of threads, 64 bits wide; where the kept values lie.
    linear: IntValue<'c>,
    threads: IntValue<'c>,
    frames: PointerValue<'c>,
    frame_bytes: u64,
}

impl<'c> Splitter<'c> {
    fn new(module: &Module<'c>, function: FunctionValue<'c>, flow: Flow<'c>) -> Option<Self> {
        let context = module.get_context();
        let last = function.count_params().checked_sub(4)?;
        let argument = |i: u32| function.get_nth_param(last + i);
        Some(Self {
            function,
            flow,
            context,
            builder: context.create_builder(),
            layout: TargetData::create(&module.get_data_layout().as_str().to_string_lossy()),
            linear: argument(0)?.into_int_value(),
            threads: argument(1)?.into_int_value(),
            frames: argument(2)?.into_pointer_value(),
            entry: edit::prepend_block(function)?,
            frame_bytes: 0,
        })
    }

    /// The new entry: what was allocated in the old one, then, once all slots are made, the switch.
    fn open(&mut self, order: &[Barrier<'c>]) -> Option<()> {
        let old = self.entry.get_next_basic_block()?;
        for instruction in llvm::instructions(self.function) {
            if instruction.opcode() == Some(LLVMOpcode::LLVMAlloca) {
                let fixed = instruction.block() == Some(old) && edit::allocated_type(instruction).is_some();
                fixed.then(|| edit::move_to_end(instruction, self.entry))?;
            } else if calls(instruction, "llvm.stacksave.p0") {
                return None;
            }
        }
        self.builder.position_at_end(self.entry);
        let phase = self.function.get_last_param()?.into_int_value();
        let number = |n: usize| self.context.i32_type().const_int(n as u64, false);
        let cases: Vec<_> = order.iter().enumerate().map(|(n, barrier)| (number(n + 1), barrier.behind)).collect();
        self.builder.build_switch(phase, old, &cases).ok()?;
        Some(())
    }

    /// Each phase ends where its barrier is.
    fn close(&self, order: &[Barrier<'c>]) {
        for barrier in order {
            barrier.before.get_terminator().into_iter().for_each(|end| Value::from(end).erase());
            self.builder.position_at_end(barrier.before);
            self.builder.build_return(Some(&self.context.i32_type().const_int(1, false))).ok();
        }
    }

    /// A place for values of `size` bytes of all threads, computed in the entry.
    fn slot(&mut self, size: u64, align: u64) -> Option<PointerValue<'c>> {
        if align > FRAME_ALIGN as u64 {
            return None;
        }
        // A multiple of the largest alignment times any number of threads is one too.
        let offset = self.frame_bytes;
        self.frame_bytes = (offset + size).next_multiple_of(FRAME_ALIGN as u64);
        let end = self.entry.get_terminator()?;
        self.builder.position_before(&end);
        let word = |n: u64| self.context.i64_type().const_int(n, false);
        let skipped = self.builder.build_int_nuw_mul(self.threads, word(offset), "").ok()?;
        let own = self.builder.build_int_nuw_mul(self.linear, word(size), "").ok()?;
        let first = self.past(self.frames, skipped)?;
        self.past(first, own)
    }

    fn past(&self, base: PointerValue<'c>, bytes: IntValue<'c>) -> Option<PointerValue<'c>> {
        llvm::rewrite::offset_at(&self.builder, base, bytes)
    }

    /// Local variables with an address: those in use on both sides of a barrier move to the kept memory.
    fn keep_locals(&mut self) -> Option<()> {
        let locals: Vec<_> =
            self.entry.get_instructions().map(Value::from).filter(|i| i.opcode() == Some(LLVMOpcode::LLVMAlloca)).collect();
        for local in locals {
            let blocks = self.blocks_of(local)?;
            if !blocks.iter().any(|a| blocks.iter().any(|b| self.flow.crosses(*a, *b))) {
                continue;
            }
            let ty = edit::allocated_type(local)?;
            let align = edit::alignment_of(local).max(u64::from(self.layout.get_abi_alignment(&ty)));
            let slot = self.slot(self.layout.get_abi_size(&ty).next_multiple_of(align), align)?;
            let lifetimes = local.users().into_iter().filter(|u| calls(*u, "llvm.lifetime.start.p0") || calls(*u, "llvm.lifetime.end.p0"));
            lifetimes.collect::<Vec<_>>().into_iter().for_each(Value::erase);
            local.replace_uses(slot.into());
            local.erase();
        }
        Some(())
    }

    /// The blocks where a local variable is used, through pointers derived from it too; all, if its address is kept.
    fn blocks_of(&self, local: Value<'c>) -> Option<HashSet<BasicBlock<'c>>> {
        let mut blocks = HashSet::new();
        let mut seen = HashSet::from([local]);
        let mut open = vec![local];
        while let Some(pointer) = open.pop() {
            for user in pointer.users() {
                let derived = matches!(
                    user.opcode()?,
                    LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMSelect | LLVMOpcode::LLVMFreeze
                );
                let harmless = match user.opcode()? {
                    LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMICmp => true,
                    LLVMOpcode::LLVMStore => user.operands()[0] != pointer,
                    LLVMOpcode::LLVMCall => user.called_function().is_some_and(|f| {
                        let name = Value::from(f).name();
                        name.starts_with("llvm.mem") || name.starts_with("llvm.lifetime")
                    }),
                    _ => derived,
                };
                if !harmless {
                    return Some(self.function.get_basic_blocks().into_iter().collect());
                }
                if !calls(user, "llvm.lifetime.start.p0") && !calls(user, "llvm.lifetime.end.p0") {
                    blocks.extend(uses_by_block(user).into_iter().map(|(.., block)| block));
                }
                if derived && seen.insert(user) {
                    open.push(user);
                }
            }
        }
        Some(blocks)
    }

    /// Values that are used behind a barrier that comes after them.
    fn keep_values(&mut self) -> Option<()> {
        for made in llvm::instructions(self.function) {
            let block = made.block()?;
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
                    let at = before_use(user, used)?;
                    let value = match self.again(made, at) {
                        Some(value) => value,
                        None => {
                            if slot.is_none() {
                                slot = Some(self.keep(made)?);
                            }
                            self.load(made, slot?, at)?
                        }
                    };
                    user.set_operand(index, value);
                }
            }
        }
        Some(())
    }

    /// Computes a value once more, if it follows from what every phase has.
    fn again(&self, made: Value<'c>, at: Value<'c>) -> Option<Value<'c>> {
        let mut needed = Vec::new();
        self.collect(made, &mut needed)?;
        let mut copies: HashMap<Value<'c>, Value<'c>> = HashMap::new();
        for original in needed {
            let copy = copy_before(original, at)?;
            for (i, operand) in original.operands().into_iter().enumerate() {
                if let Some(new) = copies.get(&operand) {
                    copy.set_operand(i as u32, *new);
                }
            }
            copies.insert(original, copy);
        }
        copies.get(&made).copied()
    }

    /// What must be computed for `value`, operands first.
    fn collect(&self, value: Value<'c>, needed: &mut Vec<Value<'c>>) -> Option<()> {
        use LLVMOpcode::*;
        if !value.is_instruction() || value.block() == Some(self.entry) || needed.contains(&value) {
            return Some(());
        }
        let pure = match value.opcode()? {
            LLVMAdd | LLVMSub | LLVMMul | LLVMAnd | LLVMOr | LLVMXor | LLVMShl | LLVMLShr | LLVMAShr | LLVMZExt | LLVMSExt | LLVMTrunc
            | LLVMICmp | LLVMSelect | LLVMGetElementPtr => true,
            LLVMCall => PURE.iter().any(|name| calls(value, name)),
            // A slot: constant while a block runs.
            LLVMLoad => value.operands()[0].is_constant(),
            _ => false,
        };
        pure.then_some(())?;
        for operand in value.operands().into_iter().filter(|o| o.is_instruction()) {
            self.collect(operand, needed)?;
        }
        needed.push(value);
        (needed.len() <= MAX_AGAIN).then_some(())
    }

    /// How a value lies in memory: single bits as bytes.
    fn kept_type(&self, value: Value<'c>) -> Option<BasicTypeEnum<'c>> {
        match value.ty()? {
            AnyTypeEnum::IntType(ty) if ty.get_bit_width() == 1 => Some(self.context.i8_type().into()),
            ty => BasicTypeEnum::try_from(ty).ok(),
        }
    }

    /// Stores a value where it is made.
    fn keep(&mut self, made: Value<'c>) -> Option<PointerValue<'c>> {
        let ty = self.kept_type(made)?;
        let align = u64::from(self.layout.get_abi_alignment(&ty));
        let slot = self.slot(self.layout.get_abi_size(&ty), align)?;
        self.builder.position_before(&after(made)?.as_instruction()?);
        let value = match made.as_basic()? {
            BasicValueEnum::IntValue(bit) if bit.get_type().get_bit_width() == 1 => {
                self.builder.build_int_z_extend(bit, self.context.i8_type(), "").ok()?.into()
            }
            value => value,
        };
        self.builder.build_store(slot, value).ok()?;
        Some(slot)
    }

    fn load(&self, made: Value<'c>, slot: PointerValue<'c>, at: Value<'c>) -> Option<Value<'c>> {
        self.builder.position_before(&at.as_instruction()?);
        let loaded = self.builder.build_load(self.kept_type(made)?, slot, "").ok()?;
        Some(match made.as_basic()? {
            BasicValueEnum::IntValue(bit) if bit.get_type().get_bit_width() == 1 => {
                self.builder.build_int_truncate(loaded.into_int_value(), self.context.bool_type(), "").ok()?.into()
            }
            _ => loaded.into(),
        })
    }
}
