//! Block-shared memory: each shared static becomes an offset into the worker's buffer.
//!
//! ```text
//! @TILE = internal global [1024 x i8] undef, section ".relocgpu.shared"
//! … store float %v, ptr @TILE               →   %base = call ptr @__relocgpu_shared()
//!                                               %tile = getelementptr inbounds i8, ptr %base, i64 0
//!                                               … store float %v, ptr %tile
//! ```

use super::{STAGE, intrinsics};
use crate::error::Error;
use crate::llvm::constant::Constants;
use crate::llvm::rewrite::{pointer_at_start, replace_by_code};
use crate::llvm::{self, Value};
use crate::symbols::is_shared;
use inkwell::module::Module;
use relocgpu_runtime::contract::cpu::SHARED_ALIGN;

/// Replaces every shared static; returns the bytes that a block needs for all of them.
pub(super) fn run(module: &Module) -> Result<u64, Error> {
    let constants = Constants::new(module);
    let mut end = 0u64;
    for global in llvm::globals(module).into_iter().filter(|global| is_shared(*global)) {
        let name = Value::from(global).name();
        let align = u64::from(global.get_alignment().max(1));
        if align > SHARED_ALIGN as u64 {
            let what = format!("block-shared memory `{name}` asks for an alignment of {align} bytes; at most {SHARED_ALIGN} can be had");
            return Err(Error::Refused { stage: STAGE, what, help: "ask for less" });
        }
        let offset = end.next_multiple_of(align);
        end = offset + constants.size_of(global);
        let source = module.get_function(intrinsics::SHARED).unwrap_or_else(|| {
            let ptr = module.get_context().ptr_type(inkwell::AddressSpace::default());
            module.add_function(intrinsics::SHARED, ptr.fn_type(&[], false), None)
        });
        let mut made = Vec::new();
        replace_by_code(global, &mut |function| match made.iter().find(|(f, _)| *f == function) {
            Some((_, pointer)) => *pointer,
            None => {
                let pointer = pointer_at_start(function, source, offset);
                made.push((function, pointer));
                pointer
            }
        })
        .map_err(|holder| Error::Refused {
            stage: STAGE,
            what: format!("a constant holds the address of block-shared memory, which differs from block to block: {holder}"),
            help: "take the address in the kernel",
        })?;
        llvm::delete_global(global);
    }
    Ok(end)
}
