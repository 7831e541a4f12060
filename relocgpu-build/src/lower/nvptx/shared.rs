//! Block-shared memory gets an address space of its own.
//!
//! ```llvm
//! @S = internal global [1024 x i8] undef, section ".relocgpu.shared", align 4
//! @S = internal addrspace(3) externally_initialized global [1024 x i8] undef, align 4        ; uses: addrspacecast (ptr addrspace(3) @S to ptr)
//! ```
//! Left as it is it would be one array for the whole grid, without a word from anybody.

use super::STAGE;
use crate::error::Error;
use crate::llvm::{self, Value};
use crate::symbols::is_shared;
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicTypeEnum;

/// LLVM's number for PTX's `.shared`.
const SHARED: u16 = 3;

/// Runs the pass.
pub(super) fn run(module: &Module) -> Result<(), Error> {
    for old in llvm::globals(module).into_iter().filter(|global| is_shared(*global)) {
        let name = Value::from(old).name();
        let ty = BasicTypeEnum::try_from(old.get_value_type())
            .map_err(|()| Error::broken(STAGE, format!("block-shared memory `{name}` is of no type that has a size")))?;
        if old.get_initializer().is_none_or(|value| !Value::from(value).is_undef()) {
            return Err(Error::broken(STAGE, format!("block-shared memory `{name}` has an initial value, which PTX cannot give it")));
        }
        let new = llvm::add_global(module, ty, SHARED, "");
        new.set_alignment(old.get_alignment());
        new.set_linkage(Linkage::Internal);
        new.set_initializer(&llvm::undef(ty));
        // What the memory holds when a block starts is arbitrary but fixed: a load before any store must not become `undef`.
        new.set_externally_initialized(true);
        let pointer = old.as_pointer_value().get_type();
        Value::from(old).replace_uses(new.as_pointer_value().const_address_space_cast(pointer).into());
        llvm::delete_global(old);
        Value::from(new).set_name(&name);
    }
    Ok(())
}
