//! What each function refers to, and the calls that lead there from a kernel.

use crate::llvm::{self, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::{HashMap, HashSet, VecDeque};

/// References of every function of a module.
pub(crate) struct References<'c> {
    /// Instruction and the function or global that it refers to, directly or through constants, in order.
    of: HashMap<FunctionValue<'c>, Vec<(Value<'c>, Value<'c>)>>,
}

/// Functions and globals that a constant refers to, itself included. Initialisers of globals count.
fn mentioned<'c>(constant: Value<'c>) -> Vec<Value<'c>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut open = VecDeque::from([constant]);
    while let Some(value) = open.pop_front() {
        if !value.is_constant() || !seen.insert(value) {
            continue;
        }
        if value.is_global_value() {
            found.push(value);
        }
        // A function's only operands are its personality and the like, which normalising has dropped.
        if value.as_function().is_none() {
            open.extend(value.operands());
        }
    }
    found
}

impl<'c> References<'c> {
    pub(crate) fn new(module: &Module<'c>) -> Self {
        let mut constants: HashMap<Value<'c>, Vec<Value<'c>>> = HashMap::new();
        let mut of = HashMap::new();
        for function in llvm::functions(module) {
            let mut found = Vec::new();
            for instruction in llvm::instructions(function) {
                for operand in instruction.operands() {
                    if operand.is_constant() && !operand.is_block() {
                        let globals = constants.entry(operand).or_insert_with(|| mentioned(operand));
                        found.extend(globals.iter().map(|global| (instruction, *global)));
                    }
                }
            }
            of.insert(function, found);
        }
        Self { of }
    }

    /// References that `function` makes itself.
    pub(crate) fn made_by(&self, function: FunctionValue<'c>) -> &[(Value<'c>, Value<'c>)] {
        self.of.get(&function).map_or(&[], Vec::as_slice)
    }

    /// Everything that `root` reaches, nearest first.
    pub(crate) fn from(&self, root: FunctionValue<'c>) -> Reach<'c> {
        let mut reach = Reach { order: vec![root], via: HashMap::new() };
        let mut seen = HashSet::from([root]);
        let mut next = 0;
        while let Some(function) = reach.order.get(next).copied() {
            next += 1;
            for (instruction, global) in self.made_by(function) {
                if let Some(callee) = global.as_function()
                    && seen.insert(callee)
                {
                    reach.order.push(callee);
                    reach.via.insert(callee, *instruction);
                }
            }
        }
        reach
    }
}

/// The functions that one kernel reaches.
pub(crate) struct Reach<'c> {
    /// The kernel, then the others, nearest first.
    pub(crate) order: Vec<FunctionValue<'c>>,
    /// The instruction by which each was reached.
    via: HashMap<FunctionValue<'c>, Value<'c>>,
}

impl<'c> Reach<'c> {
    /// The instructions that lead from the kernel to `function`, the last first.
    pub(crate) fn chain(&self, mut function: FunctionValue<'c>) -> Vec<Value<'c>> {
        let mut chain = Vec::new();
        while let Some(via) = self.via.get(&function) {
            chain.push(*via);
            match via.function() {
                Some(caller) => function = caller,
                None => break,
            }
        }
        chain
    }
}
