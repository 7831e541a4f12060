//! Every panic becomes a call of the device library's reporter.
//!
//! ```llvm
//! declare void @core::panicking::panic_bounds_check(i64 %index, i64 %len, ptr %location)      ; before
//! define void @core::panicking::panic_bounds_check(i64 %index, i64 %len, ptr %location) cold {
//!   %at = ptrtoint ptr %location to i64                                                       ; after: see `relocate::locations`
//!   call void @__relocgpu_report(i32 1, i64 %index, i64 %len, i64 0, ptr null, i64 0, i64 %at)
//!   unreachable
//! }
//! ```
//! The entry points of `core` get such a body before `core` is linked: its own bodies would format.

mod body;

use crate::llvm::{self, Value};
use crate::symbols::path_of;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use relocgpu_runtime::contract::panic::PanicKind;

/// Where a report's fields come from: numbers are parameters of the panic entry point.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Recipe {
    /// The kind's arguments.
    Values(PanicKind, &'static [u32]),
    /// A message of [`FIXED_MESSAGES`].
    Fixed(&'static str),
    /// Pointer and length of the text are parameters 0 and 1.
    Text(PanicKind),
    /// `fmt::Arguments` in parameters 0 and 1.
    Format,
    /// The text is known here.
    Literal(&'static str),
    /// `assert_eq!` and its like: parameter 0 tells which.
    Assert,
}

fn recipe(path: &str) -> Option<Recipe> {
    use Recipe::*;
    if let Some(operation) = path.strip_prefix("core::panicking::panic_const::panic_const_") {
        return Some(match operation {
            "add_overflow" => Fixed("attempt to add with overflow"),
            "sub_overflow" => Fixed("attempt to subtract with overflow"),
            "mul_overflow" => Fixed("attempt to multiply with overflow"),
            "div_overflow" => Fixed("attempt to divide with overflow"),
            "rem_overflow" => Fixed("attempt to calculate the remainder with overflow"),
            "neg_overflow" => Fixed("attempt to negate with overflow"),
            "shl_overflow" => Fixed("attempt to shift left with overflow"),
            "shr_overflow" => Fixed("attempt to shift right with overflow"),
            "div_by_zero" => Fixed("attempt to divide by zero"),
            "rem_by_zero" => Fixed("attempt to calculate the remainder with a divisor of zero"),
            _ => Literal("a coroutine or async function was resumed after it had ended"),
        });
    }
    Some(match path.split("::<").next().unwrap_or(path) {
        "core::panicking::panic_bounds_check" => Values(PanicKind::Bounds, &[0, 1]),
        "core::slice::index::slice_index_fail" => Values(PanicKind::SliceRange, &[0, 1, 2]),
        "core::str::slice_error_fail" => Values(PanicKind::StrRange, &[2, 3, 1]),
        "core::slice::copy_from_slice_impl::len_mismatch_fail" => Values(PanicKind::CopyLength, &[0, 1]),
        "core::option::unwrap_failed" => Fixed("called `Option::unwrap()` on a `None` value"),
        "core::option::expect_failed"
        | "core::panicking::panic"
        | "core::panicking::panic_str_2015"
        | "core::panicking::panic_nounwind"
        | "core::panicking::panic_nounwind_nobacktrace" => Text(PanicKind::Text),
        "core::result::unwrap_failed" => Text(PanicKind::ResultUnwrap),
        "core::panicking::panic_fmt" | "core::panicking::panic_nounwind_fmt" => Format,
        "core::panicking::assert_failed" | "core::panicking::assert_failed_inner" => Assert,
        "core::panicking::panic_explicit" => Literal("explicit panic"),
        "core::panicking::panic_cannot_unwind" | "core::panicking::panic_in_cleanup" => Fixed("panic in a function that cannot unwind"),
        "core::panicking::panic_misaligned_pointer_dereference" => Literal("misaligned pointer dereference"),
        "core::panicking::panic_null_pointer_dereference" => Literal("null pointer dereference occurred"),
        "core::panicking::panic_invalid_enum_construction" => Literal("trying to construct an enum from an invalid value"),
        "core::cell::panic_already_borrowed" => Fixed("RefCell already borrowed"),
        "core::cell::panic_already_mutably_borrowed" => Fixed("RefCell already mutably borrowed"),
        "core::num::int_log10::panic_for_nonpositive_argument" => Fixed("argument of integer logarithm must be positive"),
        "core::slice::sort::shared::smallsort::panic_on_ord_violation" => {
            Fixed("user-provided comparison function does not correctly implement a total order")
        }
        _ => return None,
    })
}

/// Gives every panic entry point of the module such a body: those that it calls, and its own instances of generic ones.
pub(super) fn replace(module: &Module) {
    for function in llvm::functions(module) {
        let Some(recipe) = recipe(&path_of(&Value::from(function).name())) else { continue };
        let linkage = function.get_linkage();
        let ours = llvm::replace_by_declaration(module, function);
        body::fill(module, ours, recipe);
        ours.set_linkage(linkage);
    }
}

/// Gives `into` a body for every panic entry point that `library` defines, so that linking leaves the library's own out.
pub(super) fn define_before<'c>(into: &Module<'c>, library: &Module<'c>) {
    for theirs in llvm::functions(library) {
        let name = Value::from(theirs).name();
        let Some(recipe) = recipe(&path_of(&name)) else { continue };
        let ours = into.get_function(&name).unwrap_or_else(|| into.add_function(&name, theirs.get_type(), None));
        if ours.count_basic_blocks() == 0 {
            body::fill(into, ours, recipe);
        }
    }
}

/// Whether there is a parameter left for the location. `panic_cannot_unwind` and its like have none.
fn takes_location(recipe: Recipe, function: FunctionValue) -> bool {
    let before = match recipe {
        Recipe::Text(PanicKind::ResultUnwrap) => 4,
        Recipe::Text(_) | Recipe::Format => 2,
        Recipe::Assert => 5,
        Recipe::Values(..) | Recipe::Fixed(_) | Recipe::Literal(_) => 0,
    };
    function.count_params() > before
}

/// Whether the function is a panic entry point.
pub(crate) fn is_entry_point(function: FunctionValue) -> bool {
    recipe(&path_of(&Value::from(function).name())).is_some()
}

/// Whether the function is a panic entry point whose last parameter is a location.
pub(crate) fn location_parameter(function: FunctionValue) -> Option<u32> {
    let recipe = recipe(&path_of(&Value::from(function).name()))?;
    let last = function.get_last_param()?;
    (last.is_pointer_value() && takes_location(recipe, function)).then(|| function.count_params() - 1)
}
