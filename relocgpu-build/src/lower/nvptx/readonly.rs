//! Reads of a kernel's `&[T]` parameters go through the read-only cache.
//!
//! ```llvm
//! define void @user_fn(ptr noalias readonly %x, …) { %v = load float, ptr %p, !invariant.load !0 … }   ; → ld.global.nc
//! ```
//! rustc promises `noalias readonly` for such a parameter only for as long as its function runs; for the user's kernel
//! function that is the whole launch, so what it reads never changes. Marked while the function is still one: once it is
//! inlined the promise is gone. Functions that other device code calls too are left alone.
//!
//! A large value that the kernel only reads has the same attributes, and a size: `dereferenceable(800)`. It lies in a
//! local variable of the entry, which is written once before: a load from there that is said to be invariant is `undef`.

use crate::llvm::{self, Place, Value};
use crate::symbols::ARITHMETIC;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use relocgpu_runtime::contract::manifest::Manifest;
use std::collections::HashSet;

/// Keeps each kernel's own function apart until [`mark`]; `#[gpu_kernel]` has kept rustc from inlining it.
pub(super) fn isolate<'c>(module: &Module<'c>, manifest: &Manifest) -> Vec<FunctionValue<'c>> {
    let entries = manifest.kernels.iter().filter_map(|kernel| module.get_function(&kernel.entry));
    let called = entries.flat_map(|entry| llvm::instructions(entry)).filter_map(Value::called_function);
    // What is kept apart for its size stays so.
    let is_large = |function: FunctionValue<'c>| ARITHMETIC.contains(&&*Value::from(function).name());
    let returns = |function: FunctionValue<'c>| !llvm::has_attribute(function, Place::Function, "noreturn");
    let bodies: Vec<_> = called.filter(|f| f.count_basic_blocks() != 0 && returns(*f) && !is_large(*f)).collect();
    for function in &bodies {
        llvm::remove_attribute(*function, Place::Function, "alwaysinline");
        llvm::add_attribute(*function, Place::Function, "noinline");
    }
    bodies
}

/// Marks the loads and lets the functions be inlined.
pub(super) fn mark(bodies: Vec<FunctionValue>) {
    for function in bodies {
        if Value::from(function).users().len() == 1 {
            for pointer in derived_pointers(read_only_slices(function).collect()) {
                for user in pointer.users().into_iter().filter(|user| user.is_load() && !user.is_atomic()) {
                    user.mark_invariant_load();
                }
            }
        }
        llvm::remove_attribute(function, Place::Function, "noinline");
    }
}

fn read_only_slices<'c>(function: FunctionValue<'c>) -> impl Iterator<Item = Value<'c>> {
    function.get_param_iter().enumerate().filter_map(move |(index, param)| {
        let place = Place::Param(index as u32);
        let has = |name: &str| llvm::has_attribute(function, place, name);
        let is_slice = param.is_pointer_value() && has("noalias") && has("readonly") && !has("dereferenceable");
        is_slice.then(|| param.into())
    })
}

/// Pointers that point into what `roots` point at, whatever way the code takes.
fn derived_pointers(roots: Vec<Value>) -> HashSet<Value> {
    let mut derived: HashSet<Value> = roots.iter().copied().collect();
    let mut open = roots.clone();
    while let Some(pointer) = open.pop() {
        for user in pointer.users() {
            let from_base = user.operands().first() == Some(&pointer);
            let follows = match user.opcode() {
                Some(LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMAddrSpaceCast) => from_base,
                Some(LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMSelect) => true,
                _ => false,
            };
            if follows && user.is_instruction() && derived.insert(user) {
                open.push(user);
            }
        }
    }
    // What may also come from elsewhere is out, and so is what follows from it.
    loop {
        let from_elsewhere = |value: &Value| {
            let operands = value.operands();
            match value.opcode() {
                Some(LLVMOpcode::LLVMPHI) => operands.iter().any(|o| !derived.contains(o)),
                Some(LLVMOpcode::LLVMSelect) => operands.iter().skip(1).any(|o| !derived.contains(o)),
                Some(_) => operands.first().is_none_or(|base| !derived.contains(base)),
                None => false,
            }
        };
        let out: Vec<_> = derived.iter().copied().filter(|value| !roots.contains(value) && from_elsewhere(value)).collect();
        if out.is_empty() {
            return derived;
        }
        out.iter().for_each(|value| {
            derived.remove(value);
        });
    }
}
