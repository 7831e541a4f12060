//! References become slots: named, recorded, sorted.
//!
//! ```llvm
//! @"relocgpu\1Fvalue\1F__relocgpu_host_00aa_1_2\1Fphoto\1F0.1.0\1Fphoto::tone\1F…" = external global i64    ; before
//! @photo_0_1_0_photo__tone_01234567 = external constant i64                                              ; after
//! ```

use super::STAGE;
use crate::error::Error;
use crate::llvm::{self, Value};
use inkwell::module::Module;
use inkwell::values::GlobalValue;
use relocgpu_runtime::contract::manifest::{Part, Record, RecordSource, Site, Target};
use relocgpu_runtime::contract::names::{Place, Reference, sanitise};
use std::collections::BTreeMap;

/// Bytes of a slot.
const SLOT_BYTES: u32 = 8;

/// One reference's declaration and what its name says.
struct Declared<'c> {
    global: GlobalValue<'c>,
    part: Part,
    base: String,
    symbol: String,
    source: String,
    text: String,
}

/// Runs the pass; records in manifest order, each with its source.
pub(super) fn run(module: &Module) -> Result<Vec<(Record, RecordSource)>, Error> {
    let mut declared = declarations(module)?;
    refuse_conflicts(&declared)?;
    // Those that share a name are numbered in source order, both words of a table alike.
    let mut symbols: BTreeMap<&str, Vec<(Option<Place>, &str)>> = BTreeMap::new();
    for reference in &declared {
        symbols.entry(&reference.base).or_default().push((Place::parse(&reference.source), &reference.symbol));
    }
    for same in symbols.values_mut() {
        same.sort();
        same.dedup_by(|a, b| a.1 == b.1);
    }
    let name_of = |reference: &Declared| {
        let position = symbols[reference.base.as_str()].iter().position(|(_, symbol)| *symbol == reference.symbol).unwrap_or(0);
        let part = match reference.part {
            Part::Value => "",
            Part::TablePtr => "_ptr",
            Part::TableLen => "_len",
        };
        let number = if position == 0 { String::new() } else { format!("_{}", position + 1) };
        format!("{}{part}{number}", reference.base)
    };
    let names: Vec<_> = declared.iter().map(name_of).collect();
    let mut records: Vec<_> = declared
        .drain(..)
        .zip(names)
        .map(|(reference, name)| {
            let global = reference.global;
            Value::from(global).set_name(&name);
            global.set_constant(true);
            global.set_alignment(SLOT_BYTES);
            let record = Record { name, site: Site::Slot, offset: 0, target: Target::Expr(reference.part) };
            (record, RecordSource { symbol: reference.symbol, source: reference.source, text: reference.text })
        })
        .collect();
    records.sort_by(|(a, _), (b, _)| (&a.name, a.offset).cmp(&(&b.name, b.offset)));
    if let Some(pair) = records.windows(2).find(|pair| pair[0].0.name == pair[1].0.name) {
        let what = format!("conflicting records for `{}`: {} and {}", pair[0].0.name, pair[0].1.source, pair[1].1.source);
        return Err(Error::broken(STAGE, what));
    }
    Ok(records)
}

fn declarations<'c>(module: &Module<'c>) -> Result<Vec<Declared<'c>>, Error> {
    let mut declared = Vec::new();
    for global in llvm::globals(module) {
        let name = Value::from(global).name();
        let Some(reference) = Reference::parse(&name) else { continue };
        if !Value::from(global).is_used() {
            llvm::delete_global(global);
            continue;
        }
        let part = Part::parse(reference.kind).ok_or_else(|| {
            Error::broken(STAGE, format!("{}: host reference of the unknown kind `{}`", reference.source, reference.kind))
        })?;
        let tokens = reference.tokens_hash.get(..8).unwrap_or(reference.tokens_hash);
        declared.push(Declared {
            global,
            part,
            base: sanitise(&format!("{}_{}_{}_{tokens}", reference.crate_name, reference.version, reference.module_path)),
            symbol: reference.symbol.to_owned(),
            source: reference.source.to_owned(),
            text: reference.text.to_owned(),
        });
    }
    Ok(declared)
}

/// A link symbol stands for one thunk, and a thunk makes a value or a table.
fn refuse_conflicts(declared: &[Declared]) -> Result<(), Error> {
    for (i, a) in declared.iter().enumerate() {
        let conflict =
            declared[..i].iter().find(|b| b.symbol == a.symbol && (a.part == b.part || (a.part == Part::Value) != (b.part == Part::Value)));
        if let Some(b) = conflict {
            let what = format!("conflicting references to `{}`: `{}` at {} and `{}` at {}", a.symbol, a.text, a.source, b.text, b.source);
            return Err(Error::Refused { stage: STAGE, what, help: "give each `host!` a place of its own in the source" });
        }
    }
    Ok(())
}
