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

/// Bitcode of the module without the named metadata that tells of compilers: how often it is there depends on how many
/// modules were linked.
pub(crate) fn without_origin(module: &Module) -> Result<Vec<u8>, String> {
    let text = module.print_to_string().to_string();
    let kept: String =
        text.split_inclusive('\n').filter(|line| !line.starts_with("!llvm.ident") && !line.starts_with("!llvm.commandline")).collect();
    assemble(&kept, &module.get_source_file_name().to_string_lossy())
}

/// Bitcode of a module in text form.
pub(crate) fn assemble(text: &str, name: &str) -> Result<Vec<u8>, String> {
    let context = super::new_context();
    ffi!(LLVMContextSetDiscardValueNames; context.raw(), 0);
    let source = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), name);
    let made = context.create_module_from_ir(source).map_err(|e| e.to_string())?;
    if let Some(message) = take_errors() {
        return Err(message);
    }
    made.verify().map_err(|e| e.to_string())?;
    made.set_name(name);
    made.set_source_file_name(name);
    Ok(super::write_bitcode(&made))
}
