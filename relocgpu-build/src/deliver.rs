//! Deliver: where the words live that each kernel reads, on one target.
//!
//! ```llvm
//! define void @k(ptr %params) {                          ; the unit
//!   %word = load i64, ptr @site
//! define void @k(ptr %params) {                          ; table: behind the parameters
//!   %words = getelementptr i8, ptr %params, i64 24
//!   %word = load i64, ptr %words
//! define void @k(ptr %params) {                          ; bake: digits in the code, which the loader writes
//!   %word = call i64 asm "mov.b64 $0, 0x5e1fc0de00000000;", "=l"()
//! ```
//! Kernels that are delivered by *patch* keep their slots. The others get code of their own: functions that several kernels
//! call are there once for each delivery.

use crate::error::{Error, Stage};
use crate::llvm::{self, Value};
use crate::relocate::Unit;
use crate::symbols::{PANIC_INTERFACE, is_shared, path_of};
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetMachine;
use inkwell::values::{FunctionValue, GlobalValue};
use relocgpu_runtime::contract::manifest::{Delivery, Kernel, LaunchTable, Manifest, Site, Target};
use std::collections::{BTreeSet, HashMap, HashSet};

const STAGE: Stage = Stage::Deliver;

/// Makes what reads a table's words read its slots: the table itself is a constant with their addresses.
const FOLD: &str = "always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

/// The remedy.
const HELP: &str = "deliver it by patch, which has no such limit: `#[gpu_kernel(delivery = patch)]`";

/// First half of the digits that stand for a word.
const DIGITS: u64 = 0x5e1f_c0de_0000_0000;

/// Runs the stage on a module that was loaded from the unit. `bakes`: whether the target's code can hold words.
pub(crate) fn run<'c>(context: &'c Context, module: &Module<'c>, unit: &Unit, bakes: bool) -> Result<(), Error> {
    let machine = llvm::host_machine().map_err(Error::llvm(STAGE, "the host's target"))?;
    let manifest = &unit.manifest;
    let load = || llvm::load(context, &unit.bitcode, "part").map_err(Error::llvm(STAGE, "the unit"));
    for kernel in &manifest.kernels {
        match &kernel.delivery {
            Delivery::Table(table) => {
                split_off(module, load()?, manifest, kernel, &machine, &|part, entry| from_table(part, manifest, table, entry))?
            }
            Delivery::Bake if bakes => split_off(module, load()?, manifest, kernel, &machine, &|part, _| baked(part, manifest))?,
            Delivery::Bake | Delivery::Patch => {}
        }
    }
    Ok(())
}

/// Rewrites a copy of what the kernel reaches, and links it in its place.
fn split_off<'c>(
    module: &Module<'c>,
    part: Module<'c>,
    manifest: &Manifest,
    kernel: &Kernel,
    machine: &TargetMachine,
    rewrite: &dyn Fn(&Module<'c>, FunctionValue<'c>) -> Result<(), String>,
) -> Result<(), Error> {
    let failed = |what: &str| Error::llvm(STAGE, format!("{what} (kernel `{}`)", kernel.name));
    let lost = || Error::broken(STAGE, format!("the unit has no function for kernel `{}`", kernel.name));
    for other in manifest.kernels.iter().filter(|other| other.entry != kernel.entry) {
        if let Some(function) = part.get_function(&other.entry) {
            llvm::delete_function(function);
        }
    }
    // What there is one of stays in the module.
    for name in PANIC_INTERFACE {
        if let Some(function) = part.get_function(name).filter(|function| function.count_basic_blocks() != 0) {
            llvm::replace_by_declaration(&part, function);
        }
    }
    let interiors = manifest.records.iter().filter(|record| record.site == Site::Interior).map(|record| record.name.clone());
    let shared = llvm::globals(&part).into_iter().filter(|global| is_shared(*global)).map(|global| Value::from(global).name());
    for name in interiors.chain(shared.collect::<Vec<_>>()) {
        if let (Some(whole), Some(copy)) = (module.get_global(&name), part.get_global(&name)) {
            whole.set_linkage(Linkage::External);
            llvm::make_declaration(copy);
        }
    }
    for pipeline in ["globaldce", FOLD, "globaldce"] {
        llvm::run_passes(&part, pipeline, machine).map_err(failed(pipeline))?;
    }
    let entry = part.get_function(&kernel.entry).ok_or_else(lost)?;
    rewrite(&part, entry).map_err(|what| Error::Refused { stage: STAGE, what: format!("kernel `{}`: {what}", kernel.name), help: HELP })?;
    llvm::replace_by_declaration(module, module.get_function(&kernel.entry).ok_or_else(lost)?);
    llvm::link_lazily(module, part).map_err(failed("its own code"))?;
    llvm::run_passes(module, "globaldce", machine).map_err(failed("globaldce"))
}

/// The slots of a module with the numbers of their records.
fn slots<'c>(module: &Module<'c>, manifest: &Manifest) -> Vec<(u32, GlobalValue<'c>)> {
    let slots = manifest.records.iter().zip(0..).filter(|(record, _)| record.site == Site::Slot);
    slots.filter_map(|(record, number)| Some((number, module.get_global(&record.name)?))).collect()
}

/// Code reads the words behind the kernel's parameters. Their address travels in a parameter of each function that needs it.
fn from_table<'c>(module: &Module<'c>, manifest: &Manifest, table: &LaunchTable, entry: FunctionValue<'c>) -> Result<(), String> {
    let slots = slots(module, manifest);
    let needing = needing(slots.iter().map(|(_, slot)| (*slot).into()))?;
    let mut words = HashMap::new();
    let mut renewed = Vec::new();
    for function in needing {
        let (function, pointer) = if function == entry {
            (entry, llvm::rewrite::behind_parameters(entry, table.offset, table.indirect))
        } else {
            let new = llvm::add_pointer_parameter(module, function);
            renewed.push((function, new));
            (new, new.get_last_param().map(Value::from).ok_or("a function lost its parameters")?)
        };
        words.insert(function, pointer);
    }
    for (old, new) in renewed {
        for call in Value::from(old).users() {
            let caller = call.function().and_then(|caller| words.get(&caller)).ok_or("a caller has no words")?;
            llvm::call_with_pointer(call, new, *caller);
        }
        llvm::delete_function(old);
    }
    for (number, slot) in slots {
        let name = Value::from(slot).name();
        let place = table.records.binary_search(&number).map_err(|_| format!("`{name}` is not in its table"))?;
        let left = llvm::rewrite::replace_in_code(slot, &mut |function| llvm::rewrite::past(function, words[&function], place as u64 * 8))?;
        if let Some(holder) = left {
            return Err(format!("the address of reference `{name}` is kept in memory ({holder:?})"));
        }
        llvm::delete_global(slot);
    }
    Ok(())
}

/// Functions that use one of the values, or call one that does.
fn needing<'c>(values: impl Iterator<Item = Value<'c>>) -> Result<Vec<FunctionValue<'c>>, String> {
    let users = values.flat_map(|value| value.using_instructions()).filter_map(|user| user.function());
    let mut found: Vec<FunctionValue> = Vec::new();
    let mut open: Vec<FunctionValue> = users.collect();
    let mut taken = BTreeSet::new();
    while let Some(function) = open.pop() {
        if found.contains(&function) {
            continue;
        }
        found.push(function);
        for user in Value::from(function).users() {
            let calls = user.called_function() == Some(function) && !user.arguments().contains(&function.into());
            match user.function().filter(|_| calls) {
                Some(caller) => open.push(caller),
                None => _ = taken.insert(path_of(&Value::from(function).name())),
            }
        }
    }
    if taken.is_empty() {
        return Ok(found);
    }
    let names = taken.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Err(format!("{names} reads a host reference and is called through a pointer, which has no place for the launch's words"))
}

/// Code holds the words: each load of a slot becomes digits.
fn baked(module: &Module, manifest: &Manifest) -> Result<(), String> {
    for (number, slot) in slots(module, manifest) {
        let record = &manifest.records[number as usize];
        let what = format!("reference `{}`", record.name);
        let address = matches!(&record.target, Target::Address) || matches!(&record.target, Target::Expr(part) if part.is_address());
        if address {
            return Err(format!("{what} is an address, which differs in each process"));
        }
        for load in Value::from(slot).users() {
            if !load.is_load() || load.is_atomic() || load.is_volatile() || !load.fits_a_word() {
                return Err(format!("{what} is not read as a word ({load:?})"));
            }
            let word = llvm::rewrite::digits_instead(load, DIGITS | u64::from(number));
            if becomes_address(word) {
                return Err(format!("{what} is used as an address, which differs in each process"));
            }
        }
        if Value::from(slot).is_used() {
            return Err(format!("the address of {what} is kept in memory"));
        }
        llvm::delete_global(slot);
    }
    Ok(())
}

/// Whether a word is made a pointer, by whichever way through the code.
fn becomes_address(word: Value) -> bool {
    let (mut seen, mut open) = (HashSet::from([word]), vec![word]);
    while let Some(value) = open.pop() {
        for user in value.using_instructions() {
            match user.opcode() {
                Some(LLVMOpcode::LLVMIntToPtr) => return true,
                Some(LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMSelect | LLVMOpcode::LLVMFreeze) if seen.insert(user) => open.push(user),
                _ => {}
            }
        }
    }
    false
}

/// Where the words of records stand in finished PTX: record and byte offset of the sixteen digits, by rising offset.
pub(crate) fn places(ptx: &str) -> Vec<(u32, u64)> {
    let start = format!("0x{:08x}", DIGITS >> 32);
    ptx.match_indices(&start)
        .filter_map(|(at, _)| {
            let number = u32::from_str_radix(ptx.get(at + start.len()..at + start.len() + 8)?, 16).ok()?;
            Some((number, at as u64 + 2))
        })
        .collect()
}

#[cfg(test)]
mod tests;
