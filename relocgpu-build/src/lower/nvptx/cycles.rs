//! Constants that refer to each other in a circle, which LLVM's PTX printer refuses though PTX allows it.
//!
//! ```llvm
//! @A = internal constant { ptr, i64 } { ptr @B, i64 1 }          ; before
//! @B = internal constant { ptr, i64 } { ptr @A, i64 2 }
//! @A.circle = constant <{ ptr, [8 x i8], ptr, [8 x i8] }> <{ ptr getelementptr (i8, ptr @A.forward, i64 16), … }>   ; after
//! @A.forward = external constant i8                              ; what all code uses
//! ```
//! Each circle becomes one constant, and [`join`] makes the two names one in the finished text.

use super::STAGE;
use crate::error::Error;
use crate::llvm::constant::Constants;
use crate::llvm::rewrite::address_in;
use crate::llvm::{self, Value};
use inkwell::context::ContextRef;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValueEnum, GlobalValue, StructValue};
use std::collections::{HashMap, HashSet};

/// Names of a circle's definition and of what code uses in its place; valid in PTX.
#[derive(Debug)]
pub(super) struct Circle {
    definition: String,
    forward: String,
}

/// Runs the pass.
pub(super) fn run(module: &Module) -> Result<Vec<Circle>, Error> {
    let mut circles = Vec::new();
    let mut done: HashSet<Value> = HashSet::new();
    for global in llvm::globals(module) {
        let value = Value::from(global);
        if done.contains(&value) || global.get_initializer().is_none() {
            continue;
        }
        let members: Vec<_> = reached(value).into_iter().filter(|other| reached(*other).contains(&value)).collect();
        if members.contains(&value) {
            done.extend(&members);
            circles.push(merge(module, &members, circles.len())?);
        }
    }
    Ok(circles)
}

/// In finished PTX, makes each circle's two names one.
pub(super) fn join(text: String, circles: &[Circle]) -> String {
    if circles.is_empty() {
        return text;
    }
    let mut joined = text;
    for Circle { definition, forward } in circles {
        let declares = |line: &str| line.starts_with(".extern .global") && line.contains(forward.as_str());
        let kept: String = joined.split_inclusive('\n').filter(|line| !declares(line)).collect();
        joined = kept.replace(forward.as_str(), definition);
    }
    in_order(&joined)
}

/// Puts each variable behind those that its initialiser names, but for itself: PTX knows no others. Which circle a
/// variable refers to was hidden from the printer.
fn in_order(text: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let places: Vec<usize> = (0..lines.len()).filter(|i| variable(lines[*i]).is_some()).collect();
    let names: HashMap<&str, usize> = places.iter().filter_map(|i| Some((variable(lines[*i])?, *i))).collect();
    let mut order = Vec::with_capacity(places.len());
    let mut seen = HashSet::new();
    for place in &places {
        visit(*place, &lines, &names, &mut seen, &mut order);
    }
    let sorted: Vec<&str> = order.into_iter().map(|i: usize| lines[i]).collect();
    places.into_iter().zip(sorted).for_each(|(place, line)| lines[place] = line);
    lines.concat()
}

fn visit(place: usize, lines: &[&str], names: &HashMap<&str, usize>, seen: &mut HashSet<usize>, order: &mut Vec<usize>) {
    if !seen.insert(place) {
        return;
    }
    let value = lines[place].split_once('=').map_or("", |(_, value)| value);
    for word in value.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$')) {
        if let Some(named) = names.get(word) {
            visit(*named, lines, names, seen, order);
        }
    }
    order.push(place);
}

/// Name of the variable that a line defines.
fn variable(line: &str) -> Option<&str> {
    let line = line.strip_prefix(".visible ").unwrap_or(line);
    if !line.starts_with(".global ") {
        return None;
    }
    let declared = line.split(['=', ';']).next()?.trim_end();
    declared.rsplit(' ').next()?.split('[').next()
}

/// Globals that the initialiser of `start` leads to, in a fixed order; itself only if it is on a circle.
fn reached(start: Value) -> Vec<Value> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut open = start.operands();
    while let Some(value) = open.pop() {
        if !value.is_constant() || value.as_function().is_some() || !seen.insert(value) {
            continue;
        }
        if value.as_global().is_some() {
            found.push(value);
        }
        open.extend(value.operands());
    }
    found
}

/// Lays the members out in one constant, which takes their place.
fn merge<'c>(module: &Module<'c>, members: &[Value<'c>], number: usize) -> Result<Circle, Error> {
    let constants = Constants::new(module);
    let layout = Layout::of(&constants, members);
    let is_constant = layout.members.iter().all(|(global, _)| global.is_constant());
    let circle = Circle { definition: layout.name(number)?, forward: format!("relocgpu_forward_{number}_") };
    let forward = llvm::add_global(module, module.get_context().i8_type().into(), 0, &circle.forward);
    forward.set_constant(true);

    let value = layout.value(module.get_context(), &constants, forward)?;
    let definition = llvm::add_global(module, value.get_type().into(), 0, "");
    definition.set_initializer(&value);
    definition.set_constant(is_constant);
    definition.set_externally_initialized(!is_constant);
    definition.set_alignment(layout.align);
    // Nothing uses it by this name until the text is joined.
    definition.set_linkage(Linkage::External);
    for (global, offset) in &layout.members {
        Value::from(*global).replace_uses(address_in(forward, *offset).into());
    }
    layout.members.into_iter().for_each(|(global, _)| llvm::delete_global(global));
    Value::from(definition).set_name(&circle.definition);
    Ok(circle)
}

/// Globals side by side, each at its offset.
struct Layout<'c> {
    members: Vec<(GlobalValue<'c>, u64)>,
    size: u64,
    align: u32,
}

impl<'c> Layout<'c> {
    fn of(constants: &Constants, members: &[Value<'c>]) -> Self {
        let mut layout = Self { members: Vec::with_capacity(members.len()), size: 0, align: 1 };
        for global in members.iter().filter_map(|member| member.as_global()) {
            let align = global.get_alignment().max(1);
            let offset = layout.size.next_multiple_of(align.into());
            layout.members.push((global, offset));
            layout.size = offset + constants.size_of(global);
            layout.align = layout.align.max(align);
        }
        layout
    }

    /// What the loader writes to is found by its own name, which only a circle of one can have.
    fn name(&self, number: usize) -> Result<String, Error> {
        let patched = self.members.iter().find(|(global, _)| !global.is_constant());
        match patched.map(|(global, _)| Value::from(*global).name()) {
            None => Ok(format!("relocgpu_circle_{number}_")),
            Some(name) if self.members.len() == 1 => Ok(name),
            Some(name) => {
                let what = format!("`{name}` holds host references and is part of a circle of statics");
                Err(Error::Refused { stage: STAGE, what, help: "keep the references in a static that is not part of the circle" })
            }
        }
    }

    /// All initialisers as one packed struct, whose words lead to `forward` where they led to a member.
    fn value(&self, context: ContextRef<'c>, constants: &Constants, forward: GlobalValue<'c>) -> Result<StructValue<'c>, Error> {
        let mut bytes = vec![0; self.size as usize];
        let mut words: Vec<(u64, Value, i64)> = Vec::new();
        for (global, offset) in &self.members {
            let flat = constants.flatten(*global);
            let flat = flat.ok_or_else(|| Error::broken(STAGE, format!("the constant `{}` has no bytes", Value::from(*global).name())))?;
            bytes[*offset as usize..][..flat.bytes.len()].copy_from_slice(&flat.bytes);
            words.extend(flat.addresses.into_iter().map(|(at, target, past)| (offset + at, target, past)));
        }
        words.sort_by_key(|(at, ..)| *at);

        let mut fields: Vec<BasicValueEnum> = Vec::new();
        let mut from = 0;
        for (at, target, past) in words {
            fields.push(context.const_string(&bytes[from..at as usize], false).into());
            let member = self.members.iter().find(|(global, _)| Value::from(*global) == target);
            let address = match (member, target.as_global()) {
                (Some((_, offset)), _) => Some(address_in(forward, offset.wrapping_add_signed(past)).into()),
                (None, Some(global)) => Some(address_in(global, past as u64).into()),
                (None, None) => target.as_basic(),
            };
            fields.push(address.ok_or_else(|| Error::broken(STAGE, format!("an address is no pointer: {target:?}")))?);
            from = at as usize + 8;
        }
        fields.push(context.const_string(&bytes[from..], false).into());
        Ok(context.const_struct(&fields, true))
    }
}

/// Whether a global is the definition of a circle, which must be seen from outside until then.
pub(super) fn is_definition(circles: &[Circle], name: &str) -> bool {
    circles.iter().any(|circle| circle.definition == name)
}
