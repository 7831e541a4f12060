//! Panic locations become numbers, so that moving code changes neither PTX nor hash.
//!
//! ```llvm
//! call void @panic_bounds_check(i64 %i, i64 %n, ptr @alloc_17)                    ; @alloc_17 = <{ ptr @"src/lib.rs", [16 x i8] … }>
//! call void @panic_bounds_check(i64 %i, i64 %n, ptr inttoptr (i64 3 to ptr))      ; and the source map's entry 2 says where
//! ```
//! Only a location on its way to a panic and nowhere else is replaced: through parameters, φs and selects that do
//! nothing but pass it on. Code that looks at a location keeps it, and its panics have no place.

use super::order::Order;
use crate::link::panics;
use crate::llvm::constant::Constants;
use crate::llvm::{self, Value};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, PointerValue};
use std::collections::{HashMap, HashSet};

/// Bytes of a `core::panic::Location`.
const LOCATION_BYTES: u64 = 24;

/// Runs the pass; returns file, line and column of each number less one.
pub(super) fn run<'c>(module: &Module<'c>, order: &Order<'c>) -> Vec<(String, u32, u32)> {
    let passed_on = Passed::find(order);
    let constants = Constants::new(module);
    let mut numbers: HashMap<(String, u32, u32), u64> = HashMap::new();
    let mut locations = Vec::new();
    for function in &order.functions {
        for instruction in llvm::instructions(*function) {
            for (index, operand) in instruction.operands().into_iter().enumerate() {
                if !passed_on.takes(instruction, index) {
                    continue;
                }
                let Some(location) = read(&constants, operand) else { continue };
                let number = *numbers.entry(location).or_insert_with_key(|location| {
                    locations.push(location.clone());
                    locations.len() as u64
                });
                let number = module.get_context().i64_type().const_int(number, false);
                let pointer: PointerValue = number.const_to_pointer(module.get_context().ptr_type(Default::default()));
                instruction.set_operand(index as u32, pointer.into());
                if instruction.is_call() {
                    llvm::clear_argument_promises(instruction, index as u32);
                }
            }
        }
    }
    passed_on.clear_promises();
    locations
}

/// A location constant's file, line and column.
fn read(constants: &Constants, value: Value) -> Option<(String, u32, u32)> {
    let global = value.as_global()?;
    if !global.is_constant() || global.get_initializer().is_none() || constants.size_of(global) != LOCATION_BYTES {
        return None;
    }
    let flat = constants.flatten(global)?;
    if flat.addresses.len() != 1 {
        return None;
    }
    let (file, past) = flat.address(0)?;
    let file = constants.flatten(file.as_global()?)?;
    let (length, place) = (usize::try_from(flat.word(8)?).ok()?, flat.word(16)?);
    let start = usize::try_from(past).ok()?;
    let file = String::from_utf8(file.bytes.get(start..start.checked_add(length)?)?.to_vec()).ok()?;
    Some((file, place as u32, (place >> 32) as u32))
}

/// Parameters, φs and selects whose value goes to panics and nowhere else.
struct Passed<'c> {
    values: HashSet<Value<'c>>,
}

impl<'c> Passed<'c> {
    /// The greatest such set: starts with all pointers and drops what is used otherwise until nothing changes.
    fn find(order: &Order<'c>) -> Self {
        let mut sinks = HashSet::new();
        let mut values = HashSet::new();
        for function in &order.functions {
            let sink = panics::location_parameter(*function);
            for (index, param) in function.get_param_iter().enumerate().filter(|(_, param)| param.is_pointer_value()) {
                if sink == Some(index as u32) {
                    sinks.insert(Value::from(param));
                }
                values.insert(Value::from(param));
            }
            let phis = llvm::instructions(*function).into_iter().filter(|i| is_merge(*i));
            values.extend(phis.filter(|phi| phi.as_basic().is_some_and(|v| v.is_pointer_value())));
        }
        let mut passed = Self { values };
        loop {
            let keep = |value: &Value<'c>| {
                sinks.contains(value)
                    || value.users().into_iter().all(|user| {
                        let at = user.operands().into_iter().enumerate().filter(|(_, operand)| operand == value);
                        user.is_instruction() && at.into_iter().all(|(index, _)| passed.takes(user, index))
                    })
            };
            let kept: HashSet<_> = passed.values.iter().copied().filter(keep).collect();
            if kept.len() == passed.values.len() {
                return passed;
            }
            passed.values = kept;
        }
    }

    /// Whether operand `index` of an instruction goes to panics only.
    fn takes(&self, instruction: Value<'c>, index: usize) -> bool {
        if is_merge(instruction) {
            return self.values.contains(&instruction);
        }
        // Intrinsics take what is no value of a program, such as metadata.
        let Some(callee) = instruction.called_function().filter(|f| f.count_basic_blocks() != 0) else { return false };
        callee.get_nth_param(index as u32).is_some_and(|param| self.values.contains(&param.into()))
    }

    fn clear_promises(&self) {
        let functions: HashSet<FunctionValue> = self.values.iter().filter_map(|v| v.parameter_of()).collect();
        for function in functions {
            for (index, param) in function.get_param_iter().enumerate() {
                if self.values.contains(&param.into()) {
                    llvm::clear_pointer_promises(function, index as u32);
                }
            }
        }
    }
}

fn is_merge(value: Value) -> bool {
    value.is_instruction() && matches!(value.opcode(), Some(LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMSelect))
}
