//! References become slots: named, merged, recorded, sorted.
//!
//! ```llvm
//! @"relocgpu\1Fvalue\1F__relocgpu_host_00aa_1_2\1Fphoto\1F0.1.0\1Fphoto::tone\1F…" = external global i64    ; before
//! @photo_0_1_0_photo__tone_01234567 = external constant i64                                              ; after
//! ```

use super::{STAGE, names as site_names};
use crate::error::Error;
use crate::llvm::{self, Value};
use inkwell::module::Module;
use inkwell::values::GlobalValue;
use relocgpu_runtime::contract::manifest::{Part, Record, RecordSource, Site, Target};
use relocgpu_runtime::contract::names::{Place, Reference, fnv1a, readable, sanitise};
use std::collections::{BTreeMap, HashMap};

/// Bytes of a slot.
const SLOT_BYTES: u32 = 8;

/// One reference's declaration and what its name says.
struct Declared<'c> {
    global: GlobalValue<'c>,
    target: Target,
    /// Its site's name, but for the number that tells those of one base apart.
    base: String,
    /// What all references to one target have in common: a name's detail, or the link symbol.
    identity: String,
    symbol: String,
    source: String,
    text: String,
}

impl Declared<'_> {
    fn describe(&self) -> String {
        format!("`host!({})` at {}", self.text, self.source)
    }

    /// The earliest in the source stands for those that are merged.
    fn order(&self) -> (Option<Place<'_>>, &str) {
        (Place::parse(&self.source), &self.symbol)
    }

    fn suffix(&self) -> &'static str {
        match self.target {
            Target::Expr(Part::TablePtr) => "_ptr",
            Target::Expr(Part::TableLen) => "_len",
            _ => "",
        }
    }
}

/// Runs the pass; records in manifest order, each with its source.
pub(super) fn run(module: &Module) -> Result<Vec<(Record, RecordSource)>, Error> {
    let mut declared = declarations(module)?;
    declared.sort_by(|a, b| a.order().cmp(&b.order()));
    refuse_conflicts(&declared)?;
    let names = names(&declared);
    let mut records: BTreeMap<String, (Record, RecordSource, GlobalValue)> = BTreeMap::new();
    for (reference, name) in declared.into_iter().zip(names) {
        let Declared { global, target, symbol, source, text, .. } = reference;
        // No word changes while a kernel runs: a volatile or atomic read has the same answer in every delivery.
        Value::from(global).users().into_iter().filter(|user| user.is_load()).for_each(Value::make_plain_load);
        if let Some((_, _, first)) = records.get(&name) {
            Value::from(global).replace_uses((*first).into());
            llvm::delete_global(global);
            continue;
        }
        site_names::claim(module, global.into(), &name);
        global.set_constant(true);
        global.set_alignment(SLOT_BYTES);
        let record = Record { name: name.clone(), site: Site::Slot, offset: 0, target, in_block: true };
        records.insert(name, (record, RecordSource { symbol, source, text }, global));
    }
    Ok(records.into_values().map(|(record, source, _)| (record, source)).collect())
}

fn declarations<'c>(module: &Module<'c>) -> Result<Vec<Declared<'c>>, Error> {
    let (mut declared, mut wrong) = (Vec::new(), Vec::new());
    for global in llvm::globals(module) {
        let name = Value::from(global).name();
        let Some(reference) = Reference::parse(&name).filter(|reference| reference.kind != Reference::ITEM) else { continue };
        if !Value::from(global).is_used() {
            llvm::delete_global(global);
            continue;
        }
        match reference.target() {
            Ok(target) => declared.push(Declared {
                global,
                base: base(&reference, &target),
                identity: identity(&reference, &target).to_owned(),
                target,
                symbol: reference.symbol.to_owned(),
                source: reference.source.to_owned(),
                text: reference.text.to_owned(),
            }),
            Err(what) => wrong.push(format!("{}: `host!({})`: {what}", reference.source, reference.text)),
        }
    }
    if wrong.is_empty() {
        Ok(declared)
    } else {
        Err(Error::Refused { stage: STAGE, what: wrong.join("\n"), help: "use one version of relocgpu's crates" })
    }
}

/// What is known by a name is called by it.
fn base(reference: &Reference, target: &Target) -> String {
    let hash = |text: &str| fnv1a(text.as_bytes()) as u32;
    match target {
        Target::Load { symbol, offset, .. } => format!("load_{}_{offset}_{:08x}", readable(symbol), hash(reference.detail)),
        Target::Bound { name, .. } => format!("bound_{}_{:08x}", readable(name), hash(name)),
        Target::Expr(_) | Target::Address => {
            let tokens = reference.tokens_hash.get(..8).unwrap_or(reference.tokens_hash);
            let path = readable(&format!("{}_{}_{}", reference.crate_name, reference.version, reference.module_path));
            sanitise(&format!("{path}_{tokens}"))
        }
    }
}

/// Those that are known by one name share a word.
fn identity<'r>(reference: &Reference<'r>, target: &Target) -> &'r str {
    match target {
        Target::Load { .. } | Target::Bound { .. } => reference.detail,
        Target::Expr(_) | Target::Address => reference.symbol,
    }
}

/// Those of one base are numbered in source order, both words of a table alike.
fn names(declared: &[Declared]) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut numbers: HashMap<(&str, &str), usize> = HashMap::new();
    let mut names = Vec::with_capacity(declared.len());
    for reference in declared {
        let number = *numbers.entry((&reference.base, &reference.identity)).or_insert_with(|| {
            let count = counts.entry(&reference.base).or_default();
            *count += 1;
            *count
        });
        let number = if number == 1 { String::new() } else { format!("_{number}") };
        names.push(format!("{}{}{number}", reference.base, reference.suffix()));
    }
    names
}

/// A link symbol stands for one item or thunk, and a name for a value of one type. `declared` is in source order.
fn refuse_conflicts(declared: &[Declared]) -> Result<(), Error> {
    let mut first: HashMap<(&str, &str), &Declared> = HashMap::new();
    let mut found = Vec::new();
    for reference in declared {
        let (key, what) = match &reference.target {
            Target::Bound { name, .. } => (("bound", name.as_str()), format!("`{name}` is bound as two types")),
            _ => (("symbol", reference.symbol.as_str()), format!("`{}` stands for two things", reference.symbol)),
        };
        let other = *first.entry(key).or_insert(reference);
        let agree = match (&reference.target, &other.target) {
            (Target::Expr(part), Target::Expr(other)) => part.shares_thunk(*other),
            (target, other) => target == other,
        };
        if !agree {
            found.push(format!("conflicting host references: {what}: {} and {}", other.describe(), reference.describe()));
        }
    }
    if found.is_empty() {
        Ok(())
    } else {
        Err(Error::Refused {
            stage: STAGE,
            what: found.join("\n"),
            help: "give each `host!` a place of its own in the source, and each bound name one type",
        })
    }
}
