//! The context, and what LLVM says on the way.

use crate::step;
use inkwell::context::Context;
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::llvm_sys::{LLVMDiagnosticSeverity, core, error_handling};
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::Once;

thread_local! {
    /// Errors that LLVM has reported and nobody has taken yet.
    static ERRORS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A context whose diagnostics are kept for [`take_errors`].
///
/// Names of local values are dropped as they are read: they differ with nothing that matters, and would reach the bytes.
pub(crate) fn new_context() -> Context {
    let context = Context::create();
    let raw = context.raw();
    ffi!(core::LLVMContextSetDiagnosticHandler; raw, Some(on_diagnostic), std::ptr::null_mut());
    ffi!(core::LLVMContextSetDiscardValueNames; raw, 1);
    // One for the process; replacing it is an error of LLVM's own.
    static FATAL: Once = Once::new();
    FATAL.call_once(|| ffi!(error_handling::LLVMInstallFatalErrorHandler; Some(on_fatal)));
    context
}

/// Errors since the last call, one a line.
pub(crate) fn take_errors() -> Option<String> {
    let errors = ERRORS.take();
    (!errors.is_empty()).then(|| errors.join("\n"))
}

extern "C" fn on_diagnostic(info: LLVMDiagnosticInfoRef, _: *mut c_void) {
    if !matches!(ffi!(core::LLVMGetDiagInfoSeverity; info), LLVMDiagnosticSeverity::LLVMDSError) {
        return;
    }
    let text = ffi!(core::LLVMGetDiagInfoDescription; info);
    let message = ffi!(CStr::from_ptr; text).to_string_lossy().into_owned();
    ffi!(core::LLVMDisposeMessage; text);
    // LLVM may end the process before anybody takes the message.
    eprintln!("LLVM: {message} (while {})", step::current());
    ERRORS.with_borrow_mut(|errors| errors.push(message));
}

extern "C" fn on_fatal(reason: *const c_char) {
    let reason = ffi!(CStr::from_ptr; reason).to_string_lossy();
    eprintln!("LLVM gave up: {reason} (while {})", step::current());
}
