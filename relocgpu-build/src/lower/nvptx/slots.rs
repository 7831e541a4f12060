//! All slots become one array, which the loader fills with one copy; interior words stay where they are.
//!
//! ```llvm
//! @photo_0_1_0_photo__tone_01234567 = external constant i64
//! @relocgpu_slots = addrspace(4) externally_initialized constant [2 x i64] zeroinitializer      ; word 0 of it
//! ```
//! `externally_initialized`, or the zeros would be folded into the code. A global with an interior word is no constant
//! any more for the same reason, and keeps its name, by which the loader finds it.

use super::STAGE;
use crate::error::Error;
use crate::llvm::{self, Value};
use inkwell::module::{Linkage, Module};
use relocgpu_runtime::contract::manifest::{Manifest, Site};
use relocgpu_runtime::contract::names::ptx;

/// LLVM's numbers for PTX's `.const` and `.global`.
const CONST: u16 = 4;
const GLOBAL: u16 = 1;
/// Words that fit PTX's `.const` bank of 64 KiB; nothing else is put there.
const CONST_WORDS: usize = 64 * 1024 / 8;

/// Runs the pass.
pub(super) fn run(module: &Module, manifest: &Manifest) -> Result<(), Error> {
    for record in manifest.records.iter().filter(|record| record.site == Site::Interior) {
        let site =
            module.get_global(&record.name).ok_or_else(|| Error::broken(STAGE, format!("the unit has no global `{}`", record.name)))?;
        site.set_constant(false);
        site.set_externally_initialized(true);
        site.set_linkage(Linkage::External);
    }
    let names: Vec<_> = manifest.slots().map(|(_, record)| record.name.as_str()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let context = module.get_context();
    let ty = context.i64_type().array_type(names.len() as u32);
    let space = if names.len() <= CONST_WORDS { CONST } else { GLOBAL };
    let slots = llvm::add_global(module, ty.into(), space, ptx::SLOTS);
    slots.set_initializer(&ty.const_zero());
    slots.set_externally_initialized(true);
    slots.set_constant(true);
    slots.set_alignment(8);
    for (number, name) in names.into_iter().enumerate() {
        // Gone where no kernel that is delivered by patch reads it on this target.
        let Some(old) = module.get_global(name) else { continue };
        for load in Value::from(old).users() {
            if load.is_load() {
                load.mark_invariant_load();
            }
        }
        let word = llvm::rewrite::address_in(slots, number as u64 * 8);
        let pointer = old.as_pointer_value().get_type();
        Value::from(old).replace_uses(word.const_address_space_cast(pointer).into());
        llvm::delete_global(old);
    }
    Ok(())
}
