//! Gives each kernel its block function: the loops over a block's threads, around the body or around its coroutines.
//!
//! The unit's entry unpacks the parameters and calls the kernel's body:
//!
//! ```text
//! define void @entry(ptr %params) { …; call void @body(ptr %x, i64 %n, …); ret void }
//! ```
//!
//! Here the call is redirected to a function of the same type, whose loops call the body. It has the body's own
//! parameter attributes: rustc's `noalias readonly` of a `&[T]` then holds for all threads of the block at once, where
//! after inlining into the loop it would hold for one iteration, and no vector loop would come of it.
//!
//! ```text
//! define internal void @relocgpu_block_0(ptr noalias readonly %0, i64 %1, …) noinline {
//!   …three nested loops: tz, ty, tx…
//!     call void @relocgpu_this_thread(i32 %tx, i32 %ty, i32 %tz)
//!     call void @body(ptr %0, i64 %1, …)
//! }
//! ```
//!
//! The body of a kernel that reaches a barrier is made part of two thread functions. Where its barriers come one after
//! the other, `phases` splits one of them, and the block function has a loop for each phase. Otherwise the other is a
//! coroutine: the loops start one for each thread, which runs it to its first barrier, and the runtime resumes them.

use super::template::{Body, looped, phased, resumed, threads};
use super::{STAGE, names, phases};
use crate::error::Error;
use crate::llvm::{self, Value};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetMachine;
use inkwell::values::FunctionValue;

/// Brings values out of memory and drops what is not reached, before a kernel is split.
const SIMPLIFY: &str = "sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg";

/// A kernel whose threads wait for one another, before its block function is made.
pub(super) struct Waiting {
    body: Body,
    /// Of each parameter of the body.
    attributes: Vec<Vec<Attribute>>,
}

/// Gives kernel number `index` its block function; its symbol is `names::run(index)`.
///
/// For one that `waits`, only what runs a thread is made, in two forms, and [`finish`] makes the rest once the body is
/// inlined there and shows which form it allows.
pub(super) fn run<'c>(module: &Module<'c>, index: usize, entry: FunctionValue<'c>, waits: bool) -> Result<Option<Waiting>, Error> {
    let call = body_call(entry);
    let function = call.map_or(entry, |(_, body)| body);
    function.as_global_value().set_name(&format!("{}{index}", names::BODY));
    // The templates name it, and linking sees external names only.
    function.set_linkage(Linkage::External);
    function.set_call_conventions(0);

    // The memory of an argument that the body only reads serves all threads.
    (0..function.count_params()).for_each(|param| llvm::remove_attribute(function, llvm::Place::Param(param), "dead_on_return"));
    let attributes: Vec<_> = (0..function.count_params()).map(|param| function.attributes(AttributeLoc::Param(param))).collect();
    let body = Body {
        index,
        types: function.get_type().get_param_types().iter().map(|t| t.print_to_string().to_string()).collect(),
        owned: attributes
            .iter()
            .enumerate()
            .filter_map(|(i, attributes)| owned(attributes).map(|(bytes, align)| (i, bytes, align)))
            .collect(),
    };
    llvm::link_text(module, &if waits { threads(&body) } else { looped(&body) }).map_err(Error::llvm(STAGE, "what runs a thread"))?;
    function.set_linkage(Linkage::Internal);
    let name = format!("{}{index}", names::BLOCK);
    let block = module.get_function(&name).unwrap_or_else(|| module.add_function(&name, function.get_type(), None));
    // Without such a call the entry is the body, and the block function gets the symbol.
    if let Some((call, _)) = call {
        let callee = call.operands().len() - 1;
        call.set_operand(callee as u32, block.into());
        entry.as_global_value().set_name(&names::run(index));
        entry.set_linkage(Linkage::External);
    }
    let waiting = Waiting { body, attributes };
    if waits {
        return Ok(Some(waiting));
    }
    settle(module, &waiting)?;
    Ok(None)
}

/// Size and alignment of a value that is passed by address and belongs to the callee: not shared as `&[T]` is, which
/// promises to be only read or promises nothing.
fn owned(attributes: &[Attribute]) -> Option<(u64, u64)> {
    let value = |name: &str| {
        let kind = Attribute::get_named_enum_kind_id(name);
        attributes.iter().find(|a| a.is_enum() && a.get_enum_kind_id() == kind).map(|a| a.get_enum_value())
    };
    value("noalias")?;
    let bytes = value("dereferenceable")?;
    value("readonly").is_none().then_some((bytes, value("align").unwrap_or(1)))
}

/// Makes the block function of a kernel whose threads wait; returns the bytes that a thread keeps meanwhile, if they
/// are known already.
pub(super) fn finish(module: &Module, waiting: &Waiting, machine: &TargetMachine) -> Result<Option<u64>, Error> {
    let body = &waiting.body;
    let phases =
        module.get_function(&format!("{}{}", names::PHASES, body.index)).ok_or_else(|| Error::broken(STAGE, "the phases are lost"))?;
    llvm::run_function_passes(phases, SIMPLIFY, machine).map_err(Error::llvm(STAGE, "simplification"))?;
    let split = phases::run(module, phases)?;
    let text = match &split {
        Some(split) => phased(body, split.phases),
        None => resumed(body),
    };
    llvm::link_text(module, &text).map_err(Error::llvm(STAGE, "a block function"))?;
    if split.is_some() {
        llvm::add_attribute(phases, llvm::Place::Function, "alwaysinline");
    }
    settle(module, waiting)?;
    Ok(split.map(|split| split.frame_bytes))
}

/// Gives the block function what it has of the body: it is called in its place.
fn settle(module: &Module, waiting: &Waiting) -> Result<(), Error> {
    let block = module
        .get_function(&format!("{}{}", names::BLOCK, waiting.body.index))
        .ok_or_else(|| Error::broken(STAGE, "the block function is lost"))?;
    for (param, attributes) in waiting.attributes.iter().enumerate() {
        attributes.iter().for_each(|attribute| block.add_attribute(AttributeLoc::Param(param as u32), *attribute));
    }
    let run = names::run(waiting.body.index);
    if module.get_function(&run).is_some() {
        block.set_linkage(Linkage::Internal);
    } else {
        block.as_global_value().set_name(&run);
    }
    Ok(())
}

/// The call of the body in an entry, if it is the one call there that nothing but the end follows.
fn body_call<'c>(entry: FunctionValue<'c>) -> Option<(Value<'c>, FunctionValue<'c>)> {
    let calls: Vec<_> = llvm::instructions(entry).into_iter().filter_map(|i| Some((i, i.called_function()?))).collect();
    let mut bodies = calls.iter().filter(|(call, f)| is_defined_procedure(*f) && ends_after(*call));
    let found = *bodies.next()?;
    let only = calls.iter().filter(|(_, f)| *f == found.1).count() == 1;
    (only && bodies.next().is_none()).then_some(found)
}

fn is_defined_procedure(function: FunctionValue) -> bool {
    function.count_basic_blocks() > 0 && function.get_type().get_return_type().is_none()
}

/// Whether nothing but ends of local variables' lives comes between a call and `ret`, in its block or the one behind it.
fn ends_after(call: Value) -> bool {
    let mut next = call.as_instruction().and_then(|i| i.get_next_instruction());
    // A kernel has no more arguments than that, and no jump leads back here for ever.
    for _ in 0..100 {
        let Some(instruction) = next else { return false };
        let value = Value::from(instruction);
        next = match value.opcode() {
            Some(LLVMOpcode::LLVMRet) => return true,
            Some(LLVMOpcode::LLVMBr) if instruction.get_num_operands() == 1 => {
                instruction.get_operand(0).and_then(|o| o.block()).and_then(|b| b.get_first_instruction())
            }
            Some(LLVMOpcode::LLVMCall)
                if value.called_function().is_some_and(|f| Value::from(f).name().starts_with("llvm.lifetime.end")) =>
            {
                instruction.get_next_instruction()
            }
            _ => return false,
        };
    }
    false
}
