//! Every panic becomes a call of the device library's reporter.
//!
//! ```llvm
//! declare void @core::panicking::panic_bounds_check(i64 %index, i64 %len, ptr %location)      ; before
//! define internal void @core::panicking::panic_bounds_check(i64 %index, i64 %len, ptr %location) cold {
//!   %at = ptrtoint ptr %location to i64                                                       ; after: see `relocate::locations`
//!   call void @__relocgpu_report(i32 1, i64 %index, i64 %len, i64 0, ptr null, i64 0, i64 %at)
//!   unreachable
//! }
//! ```
//! The entry points of `core` get such a body before `core` is linked: its own bodies would format.

use crate::llvm::{self, Place, Value};
use crate::symbols::{calls, path_of};
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicMetadataValueEnum, FunctionValue, IntValue, PointerValue};
use inkwell::{AddressSpace, IntPredicate};
use relocgpu_runtime::contract::names::intrinsic;
use relocgpu_runtime::contract::panic::{FIXED_MESSAGES, PanicKind};

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

/// Location identifiers lie below this; what is not below it is an address, and the place is not known.
const MAX_LOCATIONS: u64 = 1 << 24;

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

/// Gives `into` a body for every panic entry point that `library` defines, so that linking leaves the library's own out.
pub(crate) fn define_before<'c>(into: &Module<'c>, library: &Module<'c>) {
    for theirs in llvm::functions(library) {
        let name = Value::from(theirs).name();
        let Some(recipe) = recipe(&path_of(&name)) else { continue };
        let ours = into.get_function(&name).unwrap_or_else(|| into.add_function(&name, theirs.get_type(), None));
        if ours.count_basic_blocks() == 0 {
            fill(into, ours, recipe);
        }
    }
}

/// Gives the module's own instances of generic panic functions such a body too.
pub(crate) fn run(module: &Module) {
    for function in llvm::functions(module) {
        let Some(recipe) = recipe(&path_of(&Value::from(function).name())) else { continue };
        if reports(function) {
            continue;
        }
        let ours = llvm::replace_by_declaration(module, function);
        fill(module, ours, recipe);
        ours.set_linkage(Linkage::Internal);
    }
}

/// Whether the body is one of ours already.
fn reports(function: FunctionValue) -> bool {
    llvm::instructions(function).iter().any(|i| calls(*i, intrinsic::REPORT))
}

fn fill<'c>(module: &Module<'c>, function: FunctionValue<'c>, recipe: Recipe) {
    let context = module.get_context();
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    for attribute in ["cold", "noinline", "noreturn", "nounwind"] {
        llvm::add_attribute(function, Place::Function, attribute);
    }
    build(module, function, recipe, &builder).expect("the builder has a position and values of the right types");
}

/// What the reporter is told.
struct Report<'c> {
    kind: IntValue<'c>,
    values: [IntValue<'c>; 3],
    text: PointerValue<'c>,
    length: IntValue<'c>,
}

fn build<'c>(module: &Module<'c>, function: FunctionValue<'c>, recipe: Recipe, builder: &Builder<'c>) -> Result<(), BuilderError> {
    let context = module.get_context();
    let word = context.i64_type();
    let pointer = context.ptr_type(AddressSpace::default());
    let kind = |kind: PanicKind| context.i32_type().const_int(kind as u64, false);
    let number = |index: u32| match function.get_nth_param(index) {
        Some(value) if value.is_int_value() => builder.build_int_z_extend_or_bit_cast(value.into_int_value(), word, ""),
        _ => Ok(word.const_zero()),
    };
    let address = |index: u32| match function.get_nth_param(index) {
        Some(value) if value.is_pointer_value() => value.into_pointer_value(),
        _ => pointer.const_null(),
    };
    let literal = |text: &str| {
        let constant = module.add_global(context.i8_type().array_type(text.len() as u32), None, "relocgpu.text");
        constant.set_initializer(&context.const_string(text.as_bytes(), false));
        constant.set_constant(true);
        constant.set_linkage(Linkage::Internal);
        (constant.as_pointer_value(), word.const_int(text.len() as u64, false))
    };
    let zero = word.const_zero();
    let mut report = Report { kind: kind(PanicKind::Text), values: [zero; 3], text: pointer.const_null(), length: zero };
    match recipe {
        Recipe::Values(what, from) => {
            report.kind = kind(what);
            for (value, index) in report.values.iter_mut().zip(from) {
                *value = number(*index)?;
            }
        }
        Recipe::Fixed(message) => {
            let index = FIXED_MESSAGES.iter().position(|m| *m == message).expect("a message of the contract");
            report.kind = kind(PanicKind::Fixed);
            report.values[0] = word.const_int(index as u64, false);
        }
        Recipe::Text(what) => {
            (report.kind, report.text, report.length) = (kind(what), address(0), number(1)?);
        }
        Recipe::Literal(text) => (report.text, report.length) = literal(text),
        Recipe::Format => {
            let bits = builder.build_ptr_to_int(address(1), word, "")?;
            let odd = builder.build_and(bits, word.const_int(1, false), "")?;
            let is_text = builder.build_int_compare(IntPredicate::NE, odd, zero, "")?;
            // Both lengths are wanted only on the way that needs them: a text has no terminator.
            let (walk, done) = (context.append_basic_block(function, ""), context.append_basic_block(function, ""));
            let start = builder.get_insert_block().expect("positioned");
            let text_length = builder.build_right_shift(bits, word.const_int(1, false), false, "")?;
            builder.build_conditional_branch(is_text, done, walk)?;
            builder.position_at_end(walk);
            let measured = builder.build_call(template_len(module), &[address(0).into()], "")?;
            builder.build_unconditional_branch(done)?;
            builder.position_at_end(done);
            let length = builder.build_phi(word, "")?;
            length.add_incoming(&[(&text_length, start), (&measured.try_as_basic_value().unwrap_basic(), walk)]);
            let what = builder.build_phi(context.i32_type(), "")?;
            what.add_incoming(&[(&kind(PanicKind::Text), start), (&kind(PanicKind::Template), walk)]);
            report.kind = what.as_basic_value().into_int_value();
            report.text = address(0);
            report.length = length.as_basic_value().into_int_value();
        }
        Recipe::Assert => {
            let (equal, equal_length) = literal("assertion `left == right` failed");
            let (differ, _) = literal("assertion `left != right` failed");
            let is_equal = builder.build_int_compare(IntPredicate::EQ, number(0)?, zero, "")?;
            report.text = builder.build_select(is_equal, equal, differ, "")?.into_pointer_value();
            report.length = equal_length;
        }
    }
    let location = match function.get_last_param() {
        Some(last) if last.is_pointer_value() && takes_location(recipe, function) => {
            let bits = builder.build_ptr_to_int(last.into_pointer_value(), word, "")?;
            let is_id = builder.build_int_compare(IntPredicate::ULT, bits, word.const_int(MAX_LOCATIONS, false), "")?;
            builder.build_select(is_id, bits, zero, "")?.into_int_value()
        }
        _ => zero,
    };
    let arguments: [BasicMetadataValueEnum; 7] = [
        report.kind.into(),
        report.values[0].into(),
        report.values[1].into(),
        report.values[2].into(),
        report.text.into(),
        report.length.into(),
        location.into(),
    ];
    let reporter = module.get_function(intrinsic::REPORT).expect("the link stage declares it");
    builder.build_call(reporter, &arguments, "")?;
    builder.build_unreachable()?;
    Ok(())
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

fn template_len<'c>(module: &Module<'c>) -> FunctionValue<'c> {
    const NAME: &str = "relocgpu.template_len";
    module.get_function(NAME).unwrap_or_else(|| {
        llvm::link_text(module, include_str!("template.ll")).expect("our own text is well-formed");
        module.get_function(NAME).expect("the text defines it")
    })
}
