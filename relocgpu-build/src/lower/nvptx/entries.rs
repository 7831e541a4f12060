//! Each kernel gets a PTX entry that takes its parameter block by value and calls the unit's function.
//!
//! ```llvm
//! define void @saxpy_01234567(ptr %params) { … }                                       ; before
//! define internal void @"saxpy_01234567.body"(ptr %params) { … }                       ; after
//! define ptx_kernel void @saxpy_01234567(ptr byval([40 x i8]) align 8 %params) {
//!   %claim = load volatile i32, ptr addrspace(1) @relocgpu_panic_claim                 ; if it can panic
//!   …
//!   call void @"saxpy_01234567.body"(ptr %params)
//!   ret void
//! }
//! ```
//! A new function, since a function with callers must not become a kernel: LLVM then makes its calls `unreachable`.

use super::STAGE;
use crate::error::Error;
use crate::llvm::{self, Value};
use inkwell::module::Module;
use relocgpu_runtime::contract::manifest::{Kernel, Manifest};
use relocgpu_runtime::contract::names::ptx;

/// Runs the pass.
pub(super) fn run(module: &Module, manifest: &Manifest) -> Result<(), Error> {
    for kernel in &manifest.kernels {
        let body = module
            .get_function(&kernel.entry)
            .ok_or_else(|| Error::broken(STAGE, format!("the unit has no function for kernel `{}`", kernel.name)))?;
        Value::from(body).set_name(&body_name(kernel));
        let panics = kernel.can_panic && module.get_global(ptx::PANIC_CLAIM).is_some();
        llvm::link_text(module, &entry(kernel, panics)).map_err(Error::llvm(STAGE, kernel.name.clone()))?;
    }
    Ok(())
}

fn body_name(kernel: &Kernel) -> String {
    format!("{}.body", kernel.entry)
}

fn entry(kernel: &Kernel, panics: bool) -> String {
    // PTX has no parameter of no bytes.
    let (parameter, argument) = match kernel.block() {
        (0, _) => (String::new(), "null"),
        (size, align) => (format!("ptr byval([{size} x i8]) align {align} %params"), "%params"),
    };
    let (declared, check) = if panics {
        (
            format!("@{} = external addrspace(1) global i32\n", ptx::PANIC_CLAIM),
            format!(
                "  %claim = load volatile i32, ptr addrspace(1) @{}, align 4
  %panicked = icmp ne i32 %claim, 0
  br i1 %panicked, label %end, label %go
go:
",
                ptx::PANIC_CLAIM
            ),
        )
    } else {
        (String::new(), "  br label %go\ngo:\n".into())
    };
    format!(
        "{declared}declare void @\"{body}\"(ptr)
define ptx_kernel void @{name}({parameter}) convergent nounwind {{
{check}  call void @\"{body}\"(ptr {argument})
  br label %end
end:
  ret void
}}
",
        body = body_name(kernel),
        name = kernel.entry,
    )
}
