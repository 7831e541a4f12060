//! Addresses of host items.
//!
//! ```llvm
//! @"relocgpu\1Fitem\1F…" = external global i8                         ; its address stands for the item's
//! call void @f(ptr @"relocgpu\1Fitem\1F…")                            ; in code
//! @DOORS = internal constant { ptr, i64 } { ptr @"relocgpu\1Fitem\1F…", i64 4 }
//!
//! @"relocgpu\1Faddress\1F…" = external global i64                     ; after: a slot, and an interior word
//! %word = load i64, ptr @"relocgpu\1Faddress\1F…"
//! %item = inttoptr i64 %word to ptr
//! call void @f(ptr %item)
//! @DOORS = internal externally_initialized global { ptr, i64 } { ptr null, i64 4 }
//! ```

use super::STAGE;
use crate::error::Error;
use crate::llvm::constant::Constants;
use crate::llvm::{self, Value};
use inkwell::module::Module;
use inkwell::values::{FunctionValue, GlobalValue};
use relocgpu_runtime::contract::manifest::{Record, RecordSource, Site, Target};
use relocgpu_runtime::contract::names::{Reference, intrinsic};
use std::collections::HashMap;

/// The remedy.
const HELP: &str = "keep the reference whole, in a field, an element or a static of its own";

/// Makes each use in code a load of a slot; then identities are numbers.
pub(super) fn in_code(module: &Module) -> Result<(), Error> {
    for global in llvm::globals(module) {
        let name = Value::from(global).name();
        let Some(reference) = Reference::parse(&name).filter(|reference| reference.kind == Reference::ITEM) else { continue };
        let slot = Reference { kind: Reference::ADDRESS, ..reference }.to_string();
        let mut loaded: HashMap<FunctionValue, Value> = HashMap::new();
        llvm::rewrite::replace_in_code(global, &mut |function| {
            *loaded.entry(function).or_insert_with(|| {
                let slot = module.get_global(&slot).unwrap_or_else(|| module.add_global(module.get_context().i64_type(), None, &slot));
                llvm::rewrite::pointer_in_slot(function, slot)
            })
        })
        .map_err(|what| {
            let what = format!(
                "{}: `host!({})` is part of an expression that has no value before the program runs: {what}",
                reference.source, reference.text
            );
            Error::Refused { stage: STAGE, what, help: HELP }
        })?;
    }
    numbers(module);
    Ok(())
}

/// Gives the identity intrinsic its meaning.
fn numbers(module: &Module) {
    let Some(identity) = module.get_function(intrinsic::IDENTITY) else { return };
    for call in Value::from(identity).users() {
        if let [pointer] = call.arguments()[..] {
            llvm::rewrite::number_instead(call, pointer);
        }
    }
    llvm::delete_function(identity);
}

/// Makes each use in an initialiser an interior word, null until it is patched. The globals have their names.
pub(super) fn in_constants(module: &Module) -> Result<Vec<(Record, RecordSource)>, Error> {
    let constants = Constants::new(module);
    let mut records = Vec::new();
    let mut wrong = Vec::new();
    let items: Vec<GlobalValue> = llvm::globals(module)
        .into_iter()
        .filter(|global| Reference::parse(&Value::from(*global).name()).is_some_and(|reference| reference.kind == Reference::ITEM))
        .collect();
    let mut patched: Vec<GlobalValue> = Vec::new();
    for item in &items {
        let name = Value::from(*item).name();
        let Some(reference) = Reference::parse(&name) else { continue };
        for holder in holders((*item).into()) {
            let site = Value::from(holder).name();
            let places: Option<Vec<_>> = constants.flatten(holder).map(|flat| {
                flat.addresses.into_iter().filter(|(_, value, _)| *value == (*item).into()).map(|(at, _, past)| (at, past)).collect()
            });
            match places {
                Some(places) if !places.is_empty() && places.iter().all(|(_, past)| *past == 0) => {
                    let source = || RecordSource {
                        symbol: reference.symbol.to_owned(),
                        source: reference.source.to_owned(),
                        text: reference.text.to_owned(),
                    };
                    let record =
                        |at| Record { name: site.clone(), site: Site::Interior, offset: at, target: Target::Address, in_block: false };
                    records.extend(places.into_iter().map(|(at, _)| (record(at), source())));
                    patched.push(holder);
                }
                _ => {
                    wrong.push(format!("{}: `host!({})` is only part of a word of the constant `{site}`", reference.source, reference.text))
                }
            }
        }
    }
    if !wrong.is_empty() {
        return Err(Error::Refused { stage: STAGE, what: wrong.join("\n"), help: HELP });
    }
    for holder in patched {
        holder.set_constant(false);
        holder.set_externally_initialized(true);
    }
    for item in items {
        let pointer = item.as_pointer_value().get_type();
        Value::from(item).replace_uses(pointer.const_null().into());
        llvm::delete_global(item);
    }
    Ok(records)
}

/// The globals whose initialisers hold a constant.
fn holders<'c>(constant: Value<'c>) -> Vec<GlobalValue<'c>> {
    let mut found: Vec<GlobalValue> = Vec::new();
    let mut open = vec![constant];
    while let Some(value) = open.pop() {
        for user in value.users() {
            match user.as_global() {
                Some(global) if !found.contains(&global) => found.push(global),
                Some(_) => {}
                None => open.push(user),
            }
        }
    }
    found
}
