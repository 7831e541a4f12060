//! Puts each variable behind those that its initialiser names.
//!
//! PTX wants them so, and LLVM's printer sees to it by itself: it takes what an initialiser names from a set that is
//! ordered by addresses, which differ from process to process. Where everything is in order already it finds nothing to do.

use crate::llvm::{self, Value};
use inkwell::module::Module;
use std::collections::HashSet;

/// Lays the globals out anew; equal modules have equal layouts.
pub(super) fn run(module: &Module) {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    for global in llvm::globals(module) {
        // With whether all that it names is done.
        let mut open = vec![(Value::from(global), false)];
        while let Some((value, is_done)) = open.pop() {
            if is_done {
                order.extend(value.as_global());
            } else if value.is_constant() && value.as_function().is_none() && seen.insert(value) {
                open.push((value, true));
                open.extend(value.operands().into_iter().rev().map(|operand| (operand, false)));
            }
        }
    }
    for global in order {
        if !Value::from(global).name().starts_with("llvm.") {
            llvm::rebuild_global(module, global);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_initialiser_names_comes_before_it_and_in_its_order() {
        let text = "
            @table = internal constant [5 x ptr] [ptr @e, ptr @b, ptr @pair, ptr @a, ptr @e]
            @a = internal constant i64 1
            @b = internal constant i64 2
            @pair = internal constant { ptr, ptr } { ptr @d, ptr getelementptr (i8, ptr @c, i64 1) }
            @c = internal constant i64 3
            @d = internal constant i64 4
            @e = internal constant i64 5
            @last = internal constant ptr @table";
        let context = llvm::new_context();
        let module = llvm::load(&context, &llvm::assemble(text, "text").unwrap(), "text").unwrap();
        run(&module);
        let names: Vec<String> = llvm::globals(&module).into_iter().map(|global| Value::from(global).name()).collect();
        assert_eq!(names, ["e", "b", "d", "c", "pair", "a", "table", "last"]);
        module.verify().unwrap();
    }
}
