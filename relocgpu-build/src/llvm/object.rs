//! Object files.

use super::take_errors;
use inkwell::module::Module;
use inkwell::targets::{FileType, TargetMachine};

/// The module as an object file.
pub(crate) fn object(module: &Module, machine: &TargetMachine) -> Result<Vec<u8>, String> {
    let made = machine.write_to_memory_buffer(module, FileType::Object);
    match (made, take_errors()) {
        (Ok(buffer), None) => Ok(buffer.as_slice().to_vec()),
        (_, Some(message)) => Err(message),
        (Err(message), None) => Err(message.to_string()),
    }
}

/// The module as assembly.
pub(crate) fn assembly(module: &Module, machine: &TargetMachine) -> Result<String, String> {
    let made = machine.write_to_memory_buffer(module, FileType::Assembly);
    match (made, take_errors()) {
        (Ok(buffer), None) => Ok(String::from_utf8_lossy(buffer.as_slice()).into_owned()),
        (_, Some(message)) => Err(message),
        (Err(message), None) => Err(message.to_string()),
    }
}
