//! Splits a kernel at its barriers, so that each part is a loop over the block's threads of its own.
//!
//! Possible where the barriers come one after the other, none of them in a loop. The thread function, body inlined,
//!
//! ```text
//! define i32 @relocgpu_phases_0(…, i64 %linear, i64 %threads, ptr %frames, i32 %phase) {
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

mod rematerialise;
mod spill;

use super::STAGE;
use super::flow::{Barrier, Flow, barriers};
use crate::error::Error;
use crate::llvm::{self, Value, edit};
use crate::symbols::calls;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::{FunctionValue, IntValue, PointerValue};
use relocgpu_runtime::contract::cpu::FRAME_ALIGN;
use relocgpu_runtime::contract::names::intrinsic::THREAD_END;

/// Parts of a kernel that are worth a loop of their own.
const MAX_PHASES: usize = 8;

/// A kernel that was split.
pub(super) struct Split {
    pub(super) phases: usize,
    /// Bytes that each thread keeps across barriers.
    pub(super) frame_bytes: u64,
}

/// Why a function is not split.
enum Unsplit {
    /// Its barriers, or what lives across them, do not allow it.
    Unfit,
    /// It is not what this file takes it for.
    Broken(String),
}

impl From<BuilderError> for Unsplit {
    fn from(error: BuilderError) -> Self {
        Self::Broken(error.to_string())
    }
}

/// For what every function of the shape that `template` gives it has.
fn lost(what: &str) -> impl FnOnce() -> Unsplit {
    move || Unsplit::Broken(format!("{what} is lost"))
}

/// Splits the thread function, whose last arguments are linear index, threads, frames and phase. `None`: its barriers do
/// not allow it, and nothing may use the function any more.
pub(super) fn run<'c>(module: &Module<'c>, function: FunctionValue<'c>) -> Result<Option<Split>, Error> {
    match split(module, function) {
        Ok(split) => Ok(Some(split)),
        Err(Unsplit::Unfit) => Ok(None),
        Err(Unsplit::Broken(what)) => Err(Error::broken(STAGE, format!("splitting at barriers: {what}"))),
    }
}

fn split<'c>(module: &Module<'c>, function: FunctionValue<'c>) -> Result<Split, Unsplit> {
    let barriers = barriers(function).ok_or_else(lost("a barrier's block"))?;
    if !(1..MAX_PHASES).contains(&barriers.len()) {
        return Err(Unsplit::Unfit);
    }
    let flow = Flow::of(function, &barriers);
    let order = flow.chain(function.get_first_basic_block().ok_or_else(lost("the body"))?).ok_or(Unsplit::Unfit)?;
    let ends: Vec<_> = llvm::instructions(function).into_iter().filter(|i| calls(*i, THREAD_END)).collect();
    let mut split = Splitter::new(module, function, flow).ok_or_else(lost("an argument"))?;
    split.open(&order)?;
    split.spill_locals()?;
    split.spill_values()?;
    // What follows a barrier that was not passed: gone with the branch that led to it.
    ends.into_iter().for_each(Value::erase);
    split.close(&order)?;
    if !function.verify(false) {
        return Err(Unsplit::Broken("what was made is not valid IR".into()));
    }
    Ok(Split { phases: order.len() + 1, frame_bytes: split.frame_bytes })
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
    fn open(&mut self, order: &[Barrier<'c>]) -> Result<(), Unsplit> {
        let old = self.entry.get_next_basic_block().ok_or_else(lost("the body"))?;
        for instruction in llvm::instructions(self.function) {
            if instruction.opcode() == Some(LLVMOpcode::LLVMAlloca) {
                if instruction.block() != Some(old) || edit::allocated_type(instruction).is_none() {
                    return Err(Unsplit::Unfit);
                }
                edit::move_to_end(instruction, self.entry);
            } else if calls(instruction, "llvm.stacksave.p0") {
                return Err(Unsplit::Unfit);
            }
        }
        self.builder.position_at_end(self.entry);
        let phase = self.function.get_last_param().ok_or_else(lost("an argument"))?.into_int_value();
        let number = |n: usize| self.context.i32_type().const_int(n as u64, false);
        let cases: Vec<_> = order.iter().enumerate().map(|(n, barrier)| (number(n + 1), barrier.behind)).collect();
        self.builder.build_switch(phase, old, &cases)?;
        Ok(())
    }

    /// Each phase ends where its barrier is.
    fn close(&self, order: &[Barrier<'c>]) -> Result<(), BuilderError> {
        for barrier in order {
            barrier.before.get_terminator().into_iter().for_each(|end| Value::from(end).erase());
            self.builder.position_at_end(barrier.before);
            self.builder.build_return(Some(&self.context.i32_type().const_int(1, false)))?;
        }
        Ok(())
    }

    /// A place for values of `size` bytes of all threads, computed in the entry.
    fn slot(&mut self, size: u64, align: u64) -> Result<PointerValue<'c>, Unsplit> {
        if align > FRAME_ALIGN as u64 {
            return Err(Unsplit::Unfit);
        }
        // A multiple of the largest alignment times any number of threads is one too.
        let offset = self.frame_bytes;
        self.frame_bytes = (offset + size).next_multiple_of(FRAME_ALIGN as u64);
        let end = self.entry.get_terminator().ok_or_else(lost("the switch"))?;
        self.builder.position_before(&end);
        let word = |n: u64| self.context.i64_type().const_int(n, false);
        let skipped = self.builder.build_int_nuw_mul(self.threads, word(offset), "")?;
        let own = self.builder.build_int_nuw_mul(self.linear, word(size), "")?;
        let first = llvm::rewrite::offset_at(&self.builder, self.frames, skipped)?;
        Ok(llvm::rewrite::offset_at(&self.builder, first, own)?)
    }
}
