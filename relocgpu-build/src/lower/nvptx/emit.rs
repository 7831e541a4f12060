//! The text.

use crate::llvm;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

/// Emits PTX.
pub(super) fn run(module: &Module, machine: &TargetMachine) -> Result<String, String> {
    let text = llvm::assembly(module, machine)?;
    Ok(without_debug_target(text.trim_end_matches('\0')))
}

/// `ptxas` compiles a module whose target says `debug` without optimising it, and line information works without.
fn without_debug_target(text: &str) -> String {
    let line = |line: &str| {
        let shortened = line.strip_suffix(", debug\n").filter(|rest| rest.starts_with(".target "));
        shortened.map_or_else(|| line.to_owned(), |rest| format!("{rest}\n"))
    };
    text.split_inclusive('\n').map(line).collect()
}
