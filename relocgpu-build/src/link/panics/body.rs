//! The body of a panic entry point: reads a report's fields off its parameters and calls the reporter.

use super::{Recipe, takes_location};
use crate::llvm::{self, Place};
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicMetadataValueEnum, FunctionValue, IntValue, PointerValue};
use inkwell::{AddressSpace, IntPredicate};
use relocgpu_runtime::contract::names::intrinsic;
use relocgpu_runtime::contract::panic::{FIXED_MESSAGES, PanicKind};

/// Location identifiers lie below this; what is not below it is an address, and the place is not known.
const MAX_LOCATIONS: u64 = 1 << 24;

/// Gives a declared panic entry point its body.
pub(super) fn fill<'c>(module: &Module<'c>, function: FunctionValue<'c>, recipe: Recipe) {
    let context = module.get_context();
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    for attribute in ["cold", "noinline", "noreturn", "nounwind"] {
        llvm::add_attribute(function, Place::Function, attribute);
    }
    let body = Body { module, function, context, builder };
    body.build(recipe).expect("the builder has a position and values of the right types");
}

/// What the reporter is told.
struct Report<'c> {
    kind: IntValue<'c>,
    values: [IntValue<'c>; 3],
    text: PointerValue<'c>,
    length: IntValue<'c>,
}

struct Body<'a, 'c> {
    module: &'a Module<'c>,
    function: FunctionValue<'c>,
    context: ContextRef<'c>,
    builder: Builder<'c>,
}

impl<'c> Body<'_, 'c> {
    fn build(&self, recipe: Recipe) -> Result<(), BuilderError> {
        let zero = self.word(0);
        let null = self.context.ptr_type(AddressSpace::default()).const_null();
        let text = Report { kind: self.kind(PanicKind::Text), values: [zero; 3], text: null, length: zero };
        let report = match recipe {
            Recipe::Values(kind, from) => {
                let mut values = [zero; 3];
                for (value, index) in values.iter_mut().zip(from) {
                    *value = self.number(*index)?;
                }
                Report { kind: self.kind(kind), values, ..text }
            }
            Recipe::Fixed(message) => {
                let index = FIXED_MESSAGES.iter().position(|m| *m == message).expect("a message of the contract");
                Report { kind: self.kind(PanicKind::Fixed), values: [self.word(index as u64), zero, zero], ..text }
            }
            Recipe::Text(kind) => Report { kind: self.kind(kind), text: self.address(0), length: self.number(1)?, ..text },
            Recipe::Literal(literal) => {
                let (address, length) = self.literal(literal);
                Report { text: address, length, ..text }
            }
            Recipe::Format => {
                let (kind, length) = self.format()?;
                Report { kind, text: self.address(0), length, ..text }
            }
            Recipe::Assert => {
                let (equal, length) = self.literal("assertion `left == right` failed");
                let (differ, _) = self.literal("assertion `left != right` failed");
                let is_equal = self.builder.build_int_compare(IntPredicate::EQ, self.number(0)?, zero, "")?;
                let which = self.builder.build_select(is_equal, equal, differ, "")?;
                Report { text: which.into_pointer_value(), length, ..text }
            }
        };
        self.call_reporter(report, self.location(recipe)?)
    }

    fn call_reporter(&self, report: Report<'c>, location: IntValue<'c>) -> Result<(), BuilderError> {
        let [a, b, c] = report.values;
        let arguments: [BasicMetadataValueEnum; 7] =
            [report.kind.into(), a.into(), b.into(), c.into(), report.text.into(), report.length.into(), location.into()];
        let reporter = self.module.get_function(intrinsic::REPORT).expect("the link stage declares it");
        self.builder.build_call(reporter, &arguments, "")?;
        self.builder.build_unreachable()?;
        Ok(())
    }

    /// Kind and length of what `fmt::Arguments` in parameters 0 and 1 say: a text or a template.
    fn format(&self) -> Result<(IntValue<'c>, IntValue<'c>), BuilderError> {
        let builder = &self.builder;
        let bits = builder.build_ptr_to_int(self.address(1), self.context.i64_type(), "")?;
        let odd = builder.build_and(bits, self.word(1), "")?;
        let is_text = builder.build_int_compare(IntPredicate::NE, odd, self.word(0), "")?;
        // Both lengths are wanted only on the way that needs them: a text has no terminator.
        let (walk, done) = (self.context.append_basic_block(self.function, ""), self.context.append_basic_block(self.function, ""));
        let start = builder.get_insert_block().expect("positioned");
        let text_length = builder.build_right_shift(bits, self.word(1), false, "")?;
        builder.build_conditional_branch(is_text, done, walk)?;
        builder.position_at_end(walk);
        let measured = builder.build_call(template_len(self.module), &[self.address(0).into()], "")?;
        builder.build_unconditional_branch(done)?;
        builder.position_at_end(done);
        let length = builder.build_phi(self.context.i64_type(), "")?;
        length.add_incoming(&[(&text_length, start), (&measured.try_as_basic_value().unwrap_basic(), walk)]);
        let kind = builder.build_phi(self.context.i32_type(), "")?;
        kind.add_incoming(&[(&self.kind(PanicKind::Text), start), (&self.kind(PanicKind::Template), walk)]);
        Ok((kind.as_basic_value().into_int_value(), length.as_basic_value().into_int_value()))
    }

    fn location(&self, recipe: Recipe) -> Result<IntValue<'c>, BuilderError> {
        let zero = self.word(0);
        match self.function.get_last_param() {
            Some(last) if last.is_pointer_value() && takes_location(recipe, self.function) => {
                let bits = self.builder.build_ptr_to_int(last.into_pointer_value(), self.context.i64_type(), "")?;
                let is_id = self.builder.build_int_compare(IntPredicate::ULT, bits, self.word(MAX_LOCATIONS), "")?;
                Ok(self.builder.build_select(is_id, bits, zero, "")?.into_int_value())
            }
            _ => Ok(zero),
        }
    }

    /// A parameter as a word; 0 if it is no integer.
    fn number(&self, index: u32) -> Result<IntValue<'c>, BuilderError> {
        match self.function.get_nth_param(index) {
            Some(value) if value.is_int_value() => {
                self.builder.build_int_z_extend_or_bit_cast(value.into_int_value(), self.context.i64_type(), "")
            }
            _ => Ok(self.word(0)),
        }
    }

    /// A parameter as an address; null if it is none.
    fn address(&self, index: u32) -> PointerValue<'c> {
        match self.function.get_nth_param(index) {
            Some(value) if value.is_pointer_value() => value.into_pointer_value(),
            _ => self.context.ptr_type(AddressSpace::default()).const_null(),
        }
    }

    /// Address and length of a constant text.
    fn literal(&self, text: &str) -> (PointerValue<'c>, IntValue<'c>) {
        let constant = self.module.add_global(self.context.i8_type().array_type(text.len() as u32), None, "relocgpu.text");
        constant.set_initializer(&self.context.const_string(text.as_bytes(), false));
        constant.set_constant(true);
        constant.set_linkage(Linkage::Internal);
        (constant.as_pointer_value(), self.word(text.len() as u64))
    }

    fn kind(&self, kind: PanicKind) -> IntValue<'c> {
        self.context.i32_type().const_int(kind as u64, false)
    }

    fn word(&self, value: u64) -> IntValue<'c> {
        self.context.i64_type().const_int(value, false)
    }
}

fn template_len<'c>(module: &Module<'c>) -> FunctionValue<'c> {
    const NAME: &str = "relocgpu.template_len";
    module.get_function(NAME).unwrap_or_else(|| {
        llvm::link_text(module, include_str!("template.ll")).expect("our own text is well-formed");
        module.get_function(NAME).expect("the text defines it")
    })
}
