//! The canonical order: a walk from the kernels, so that neither folders, link order nor source lines show.

use crate::llvm::{self, Value};
use inkwell::module::Module;
use inkwell::values::{FunctionValue, GlobalValue};
use std::collections::{HashSet, VecDeque};

/// Definitions in the order in which a walk from the roots first meets them.
#[derive(Default)]
pub(super) struct Order<'c> {
    pub(super) functions: Vec<FunctionValue<'c>>,
    pub(super) globals: Vec<GlobalValue<'c>>,
}

/// Walks from the roots, breadth first, instructions and operands in order.
pub(super) fn walk<'c>(roots: &[FunctionValue<'c>]) -> Order<'c> {
    let mut order = Order::default();
    let mut seen = HashSet::new();
    let mut open: VecDeque<Value<'c>> = roots.iter().copied().map(Value::from).collect();
    while let Some(value) = open.pop_front() {
        if !seen.insert(value) {
            continue;
        }
        if let Some(function) = value.as_function() {
            if function.count_basic_blocks() != 0 {
                order.functions.push(function);
                let operands = llvm::instructions(function).into_iter().flat_map(Value::operands);
                open.extend(operands.filter(|operand| operand.is_constant() && !operand.is_block()));
            }
            continue;
        }
        if let Some(global) = value.as_global().filter(|global| global.get_initializer().is_some()) {
            order.globals.push(global);
        }
        open.extend(value.operands());
    }
    order
}

/// Lays the module out anew: declarations by name, then definitions in order. `order` follows.
pub(super) fn apply<'c>(module: &Module<'c>, order: &mut Order<'c>) {
    let mut declared: Vec<_> = llvm::functions(module).into_iter().filter(|f| f.count_basic_blocks() == 0).collect();
    declared.sort_by_cached_key(|function| Value::from(*function).name());
    for function in declared {
        if Value::from(function).is_used() {
            llvm::replace_by_declaration(module, function);
        } else {
            llvm::delete_function(function);
        }
    }
    for function in &mut order.functions {
        *function = llvm::move_body(module, *function);
    }
    let mut declared: Vec<_> = llvm::globals(module).into_iter().filter(|g| g.get_initializer().is_none()).collect();
    declared.sort_by_cached_key(|global| Value::from(*global).name());
    for global in declared {
        llvm::rebuild_global(module, global);
    }
    for global in &mut order.globals {
        *global = llvm::rebuild_global(module, *global);
    }
}
