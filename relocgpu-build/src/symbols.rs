//! What the symbols of a device module are. Those that macros and runtime spell too have their home in
//! [`names`](relocgpu_runtime::contract::names).
//!
//! | symbol | told by |
//! |---|---|
//! | memory function of the C library | [`MEMORY`]: every lowering supplies a body, or a library that has one |
//! | function of `compiler_builtins` that stands for an instruction | [`ARITHMETIC`] |
//! | panic interface of the device library | [`PANIC_INTERFACE`]: external until lowering, which calls it |
//! | intrinsic of the device library | [`is_ours`]: lowering gives it a body |
//! | block-shared memory | [`is_shared`]: by its section |

use crate::llvm::Value;
use inkwell::values::GlobalValue;
use relocgpu_runtime::contract::names::{PREFIX, SHARED_SECTION, intrinsic};
use rustc_demangle::demangle;

/// The C library's functions that a unit may leave undefined: rustc and LLVM make calls of them by themselves.
pub(crate) const MEMORY: [&str; 6] = ["memcmp", "bcmp", "strlen", "memcpy", "memmove", "memset"];

/// What the link stage takes of `compiler_builtins` in the place of instructions. Hundreds of instructions long each:
/// they stay functions.
pub(crate) const ARITHMETIC: [&str; 10] = [
    "fmod",
    "fmodf",
    "__floattisf",
    "__floattidf",
    "__floatuntisf",
    "__floatuntidf",
    "__fixsfti",
    "__fixdfti",
    "__fixunssfti",
    "__fixunsdfti",
];

/// Functions of the device library that lowering refers to where no code does yet.
pub(crate) const PANIC_INTERFACE: [&str; 2] = [intrinsic::REPORT, intrinsic::STORE_RECORD];

/// `spin_loop` of the host: a hint, which the GPU does without.
pub(crate) const PAUSE: &str = "llvm.x86.sse2.pause";

/// Whether a symbol is the device library's or the macros'.
pub(crate) fn is_ours(symbol: &str) -> bool {
    symbol.starts_with(PREFIX)
}

/// Whether a global is memory that the threads of a block share.
pub(crate) fn is_shared(global: GlobalValue) -> bool {
    global.get_section().is_some_and(|section| section.to_bytes().starts_with(SHARED_SECTION.as_bytes()))
}

/// The path of a Rust symbol without crate hashes; other names as they are.
pub(crate) fn path_of(symbol: &str) -> String {
    // What LLVM appends to tell internals apart is no part of the symbol.
    format!("{:#}", demangle(symbol))
}

/// Whether an instruction calls the function of this name.
pub(crate) fn calls(instruction: Value, symbol: &str) -> bool {
    instruction.called_function().is_some_and(|function| Value::from(function).name() == symbol)
}
