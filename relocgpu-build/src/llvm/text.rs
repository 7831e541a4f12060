//! Modules written as IR text.

use super::{link_lazily, take_errors};
use inkwell::llvm_sys::core::LLVMContextSetDiscardValueNames;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// Parses `text` in the context of `module` and links it in. An error is a bug in the text, so it shows it.
pub(crate) fn link_text(module: &Module, text: &str) -> Result<(), String> {
    // LLVM reads names of local values only in a context that keeps them.
    let discard = |on: bool| ffi!(LLVMContextSetDiscardValueNames; module.get_context().raw(), on.into());
    discard(false);
    let source = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "template");
    let made = module.get_context().create_module_from_ir(source);
    discard(true);
    let made = made.map_err(|e| format!("{}\nin this IR:\n{text}", e.to_string_lossy()))?;
    if let Some(message) = take_errors() {
        return Err(format!("{message}\nin this IR:\n{text}"));
    }
    made.set_triple(&module.get_triple());
    made.set_data_layout(&module.get_data_layout());
    link_lazily(module, made)
}
