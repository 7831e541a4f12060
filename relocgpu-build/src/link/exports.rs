//! Names that crates choose themselves, by `#[no_mangle]` or `#[export_name]`: the lazy link would take the first of two
//! for both, where the host's linker refuses them.

use crate::error::Error;
use crate::llvm;
use inkwell::module::Module;
use std::collections::BTreeMap;
use std::path::Path;

/// Exported names with the crates that define them.
#[derive(Default)]
pub(super) struct Exports(BTreeMap<String, Vec<String>>);

impl Exports {
    /// Notes what a crate exports. Names that rustc makes are different for different crates; LLVM's lists are no names.
    pub(super) fn note(&mut self, library: &Module, path: &Path) {
        let chosen = |name: &String| !name.starts_with("_R") && !name.starts_with("llvm.");
        for name in llvm::external_definitions(library).into_iter().filter(chosen) {
            self.0.entry(name).or_default().push(path.display().to_string());
        }
    }

    /// Refuses a name of two crates that the module has taken.
    pub(super) fn check(&self, module: &Module) -> Result<(), Error> {
        let is_taken = |name: &str| module.get_function(name).is_some() || module.get_global(name).is_some();
        let twice = self.0.iter().filter(|(name, owners)| owners.len() > 1 && is_taken(name));
        let lines: Vec<String> = twice.map(|(name, owners)| format!("`{name}`: {}", owners.join(", "))).collect();
        if lines.is_empty() {
            return Ok(());
        }
        Err(Error::Refused {
            stage: super::STAGE,
            what: format!("kernels reach names that more than one crate exports:\n{}", lines.join("\n")),
            help: "`#[no_mangle]` and `#[export_name]` names belong to one crate: rename one of them, or see with `cargo tree -d` \
                   whether two versions of the crate are in the program",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module<'c>(context: &'c inkwell::context::Context, text: &str) -> Module<'c> {
        llvm::load(context, &llvm::assemble(text, "text").unwrap(), "text").unwrap()
    }

    #[test]
    fn a_name_of_two_crates_is_refused_with_both_where_kernels_reach_it() {
        let context = llvm::new_context();
        let (a, b) = (
            module(&context, "define i32 @twice() { ret i32 1 }\n@word = constant i32 1\ndefine i32 @_Rown() { ret i32 1 }\n"),
            module(&context, "define i32 @twice() { ret i32 2 }\n@word = constant i32 2\ndefine i32 @_Rown() { ret i32 1 }\n"),
        );
        let mut exports = Exports::default();
        exports.note(&a, Path::new("deps/a-1.bc"));
        exports.note(&b, Path::new("deps/b-2.bc"));
        let unconcerned = module(&context, "declare i32 @_Rown()\ndefine i32 @f() { %r = call i32 @_Rown()\n ret i32 %r }");
        assert!(exports.check(&unconcerned).is_ok());
        for (reached, name) in [("define i32 @twice() { ret i32 1 }", "`twice`"), ("@word = constant i32 1", "`word`")] {
            let text = exports.check(&module(&context, reached)).unwrap_err().to_string();
            assert!(text.contains(&format!("{name}: deps/a-1.bc, deps/b-2.bc\n")) && text.contains("help: "), "{text}");
        }
    }
}
