//! Source locations of instructions.

use super::Value;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::LLVMMetadataRef;

/// One place of a chain of inlined calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// File as the compiler recorded it.
    pub(crate) file: String,
    /// Line from 1; 0 if it is not known.
    pub(crate) line: u32,
    /// Column from 1; 0 if it is not known.
    pub(crate) column: u32,
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Where an instruction comes from: the innermost inlined place first. Empty without debug information.
pub(crate) fn location_of(instruction: Value) -> Vec<Frame> {
    let mut frames = Vec::new();
    if !instruction.is_instruction() {
        return frames;
    }
    let mut at: LLVMMetadataRef = ffi!(LLVMInstructionGetDebugLoc; instruction.raw());
    while !at.is_null() {
        let file = ffi!(LLVMDIScopeGetFile; LLVMDILocationGetScope(at));
        if !file.is_null() {
            let mut length = 0;
            let name = ffi!(LLVMDIFileGetFilename; file, &mut length);
            let name = if name.is_null() { &[][..] } else { ffi!(std::slice::from_raw_parts; name.cast::<u8>(), length as usize) };
            frames.push(Frame {
                file: String::from_utf8_lossy(name).into_owned(),
                line: ffi!(LLVMDILocationGetLine; at),
                column: ffi!(LLVMDILocationGetColumn; at),
            });
        }
        at = ffi!(LLVMDILocationGetInlinedAt; at);
    }
    frames
}
