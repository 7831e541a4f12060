//! The C library's [memory functions](crate::symbols::MEMORY), where something calls them: PTX has no library to take
//! them from.

use super::STAGE;
use crate::error::Error;
use crate::llvm;
use inkwell::module::Module;

const BODIES: &str = include_str!("memory.ll");

/// Runs the pass.
pub(super) fn run(module: &Module) -> Result<(), Error> {
    llvm::link_text(module, BODIES).map_err(Error::llvm(STAGE, "the C library's memory functions"))
}

#[cfg(test)]
mod tests {
    use super::BODIES;
    use crate::symbols::MEMORY;

    #[test]
    fn every_memory_function_has_a_body() {
        let defined = BODIES.lines().filter_map(|line| line.strip_prefix("define linkonce_odr ")?.split(['@', '(']).nth(1));
        assert_eq!(defined.collect::<Vec<_>>(), MEMORY);
    }
}
