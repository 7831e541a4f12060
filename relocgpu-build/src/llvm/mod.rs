//! LLVM, safely: the only place of this crate with `unsafe` in it.
//!
//! [inkwell](inkwell) supplies modules, types and the builder. What it lacks is here, in terms of [`Value`], a checked
//! handle of any LLVM value: walking uses and constants, lazy bitcode, attributes by name, debug locations, moving
//! functions. LLVM itself is the compiler's own library, opened when the first function is called.

extern crate aya_rustc_llvm_proxy as _;

/// Calls LLVM's C interface with handles that this module keeps.
macro_rules! ffi {
    ($function:path; $($argument:expr),* $(,)?) => {
        // SAFETY: every handle was given out by LLVM and belongs to a context that outlives it (the `'c` of `Value`
        // and of inkwell's types), and the caller has checked that it is of the kind that the function takes. Code of
        // this crate keeps no handle of a value that it has erased.
        unsafe { $function($($argument),*) }
    };
}

mod attribute;
pub(crate) mod constant;
mod context;
mod debug;
pub(crate) mod edit;
mod function;
mod instruction;
mod module;
mod object;
mod parameter;
mod passes;
pub(crate) mod rewrite;
mod target;
mod text;
mod value;

pub(crate) use attribute::{
    Place, add_attribute, add_call_attribute, clear_argument_promises, clear_call_attributes, clear_function_attributes,
    clear_pointer_promises, copy_attributes, has_attribute, remove_attribute,
};
pub(crate) use context::{new_context, take_errors};
pub(crate) use debug::{Frame, location_of};
pub(crate) use function::{make_declaration, move_body, rebuild_global, replace_by_declaration};
pub(crate) use instruction::clear_asm_dialect;
pub(crate) use module::{
    add_global, clear_call_convention, clear_comdat, clear_personality, clear_placement, define_externals_once, delete_function,
    delete_global, external_definitions, functions, globals, instructions, intrinsic, link_lazily, load, load_lazily, replace_aliases,
    set_identity, write_bitcode,
};
pub(crate) use object::{assembly, object};
pub(crate) use parameter::{add_pointer_parameter, call_with_pointer};
pub(crate) use passes::{run_function_passes, run_passes};
pub(crate) use target::{host_machine, machine};
pub(crate) use text::{assemble, link_text, without_origin};
pub(crate) use value::{Value, undef};
