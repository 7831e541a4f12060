//! The text.

use crate::llvm;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

/// Emits PTX.
pub(super) fn run(module: &Module, machine: &TargetMachine) -> Result<String, String> {
    let text = llvm::assembly(module, machine)?;
    Ok(without_debug_sections(text.trim_end_matches('\0')))
}

/// Leaves line numbers and takes the rest of the debug information out.
///
/// `ptxas` compiles a module whose target says `debug` without optimising it; `.loc` and `.file` work without. The
/// sections come last and would be most of the text.
fn without_debug_sections(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with(".section") && line.contains(".debug_") {
            break;
        }
        match line.strip_suffix(", debug\n").filter(|_| line.starts_with(".target ")) {
            Some(target) => kept.extend([target, "\n"]),
            None => kept.push_str(line),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::without_debug_sections;

    #[test]
    fn line_numbers_stay_and_sections_go() {
        let text = ".target sm_75, debug\n.file 1 \"a.rs\"\n.loc 1 2 3\n\t.section\t.debug_info\n\t{\n.b8 1\n\t}\n";
        assert_eq!(without_debug_sections(text), ".target sm_75\n.file 1 \"a.rs\"\n.loc 1 2 3\n");
    }
}
