//! Decides what is inlined before anything is optimised: all that a body calls, where that is possible.
//!
//! A loop over threads is vectorised only if its body is one piece, and a barrier can suspend a thread only in the
//! coroutine itself. What stays a call: functions that call themselves in the end, those that never return (the way to
//! a panic), and those that would grow without bound.

use crate::llvm::{self, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::{HashMap, HashSet};

/// Instructions up to which a function is inlined everywhere, its own callees included.
const LIMIT: u64 = 4000;

/// Which defined functions each defined function calls by name, once for each call.
pub(super) struct CallGraph<'c> {
    callees: HashMap<FunctionValue<'c>, Vec<FunctionValue<'c>>>,
    sizes: HashMap<FunctionValue<'c>, u64>,
}

impl<'c> CallGraph<'c> {
    pub(super) fn of(module: &Module<'c>) -> Self {
        let (mut callees, mut sizes) = (HashMap::new(), HashMap::new());
        for function in llvm::functions(module).into_iter().filter(|f| f.count_basic_blocks() > 0) {
            let instructions = llvm::instructions(function);
            callees.insert(function, instructions.iter().filter_map(|i| i.called_function()).collect());
            sizes.insert(function, instructions.len() as u64);
        }
        Self { callees, sizes }
    }

    fn callees(&self, function: FunctionValue<'c>) -> &[FunctionValue<'c>] {
        self.callees.get(&function).map_or(&[], Vec::as_slice)
    }

    /// `from` and every function that it calls by name, directly or not.
    pub(super) fn reach(&self, from: FunctionValue<'c>) -> HashSet<FunctionValue<'c>> {
        let mut seen = HashSet::from([from]);
        let mut open = vec![from];
        while let Some(function) = open.pop() {
            open.extend(self.callees(function).iter().copied().filter(|f| seen.insert(*f)));
        }
        seen
    }

    /// Every function that calls one of `targets` by name, directly or not, and the targets.
    pub(super) fn reaching(&self, targets: impl IntoIterator<Item = FunctionValue<'c>>) -> HashSet<FunctionValue<'c>> {
        let mut found: HashSet<_> = targets.into_iter().collect();
        loop {
            let more: Vec<_> = self
                .callees
                .iter()
                .filter(|(f, to)| !found.contains(*f) && to.iter().any(|t| found.contains(t)))
                .map(|(f, _)| *f)
                .collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }

    /// Whether a function can call itself through calls by name.
    fn is_recursive(&self, function: FunctionValue<'c>) -> bool {
        self.callees(function).iter().any(|callee| self.reach(*callee).contains(&function))
    }

    /// Instructions of a function once everything it calls is inlined.
    fn expanded(&self, function: FunctionValue<'c>, known: &mut HashMap<FunctionValue<'c>, u64>) -> u64 {
        if let Some(size) = known.get(&function) {
            return *size;
        }
        // Ends recursion; such functions are not inlined.
        known.insert(function, 0);
        let own = self.sizes.get(&function).copied().unwrap_or(0);
        let size = self.callees(function).iter().fold(own, |sum, callee| sum.saturating_add(self.expanded(*callee, known)));
        known.insert(function, size);
        size
    }
}

/// Marks every function but those in `keep`. `barrier`, where there is one, must end up in the functions of `keep`.
pub(super) fn mark<'c>(module: &Module<'c>, keep: &HashSet<FunctionValue<'c>>, barrier: Option<FunctionValue<'c>>) {
    let graph = CallGraph::of(module);
    let waiting = graph.reaching(barrier);
    let mut known = HashMap::new();
    for function in llvm::functions(module).into_iter().filter(|f| f.count_basic_blocks() > 0 && !keep.contains(f)) {
        let ends = llvm::has_attribute(function, llvm::Place::Function, "noreturn");
        let fits = graph.expanded(function, &mut known) <= LIMIT || waiting.contains(&function);
        if !ends && fits && !graph.is_recursive(function) {
            llvm::add_attribute(function, llvm::Place::Function, "alwaysinline");
        } else if ends {
            llvm::add_attribute(function, llvm::Place::Function, "noinline");
            llvm::add_attribute(function, llvm::Place::Function, "cold");
        }
    }
}

/// Whether something but calls by name uses the function, so that a call through a pointer may reach it.
pub(super) fn is_address_taken(function: FunctionValue) -> bool {
    let value = Value::from(function);
    value.users().into_iter().any(|user| user.called() != Some(value) || user.arguments().contains(&value))
}
