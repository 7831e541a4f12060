//! Checks at the seams between stages: what would otherwise fail late, or not at all.

use crate::error::{Error, Stage};
use crate::llvm::constant::Constants;
use crate::llvm::{self, Value};
use crate::symbols::{MEMORY, PANIC_INTERFACE, is_ours};
use inkwell::module::{Linkage, Module};
use relocgpu_runtime::contract::manifest::{Manifest, Record, Site};
use relocgpu_runtime::contract::names::{self, Reference};
use std::collections::HashSet;

/// Bytes of what a record stands for.
const WORD_BYTES: u64 = 8;

/// Checks that a module is what [`Unit`](crate::relocate::Unit) says, all at once.
pub(crate) fn unit(module: &Module, manifest: &Manifest) -> Result<(), Error> {
    let mut wrong = Vec::new();
    if let Err(message) = module.verify() {
        wrong.push(message.to_string());
    }
    let entries: HashSet<&str> = manifest.kernels.iter().map(|kernel| kernel.entry.as_str()).collect();
    if entries.len() != manifest.kernels.len() {
        wrong.push("two kernels share an entry".into());
    }
    for kernel in &manifest.kernels {
        let defined = module.get_function(&kernel.entry).is_some_and(|f| f.count_basic_blocks() != 0 && f.count_params() == 1);
        if !defined {
            wrong.push(format!("kernel `{}` has no function of one parameter", kernel.name));
        }
    }
    for function in llvm::functions(module) {
        let name = Value::from(function).name();
        let defined = function.count_basic_blocks() != 0;
        let open = entries.contains(name.as_str()) || PANIC_INTERFACE.contains(&name.as_str());
        let known = function.get_intrinsic_id() != 0 || is_ours(&name) || MEMORY.contains(&name.as_str());
        if defined && !open && function.get_linkage() != Linkage::Internal {
            wrong.push(format!("`{name}` can be seen from outside"));
        } else if !defined && !known {
            wrong.push(format!("`{name}` has no body"));
        }
    }
    let slots = manifest.records.iter().filter(|record| record.site == Site::Slot);
    let slots: HashSet<&str> = slots.map(|record| record.name.as_str()).collect();
    for global in llvm::globals(module).into_iter().filter(|global| global.get_initializer().is_none()) {
        let name = Value::from(global).name();
        if Reference::parse(&name).is_some() || !slots.contains(name.as_str()) {
            wrong.push(format!("global `{name}` has no value and no record"));
        }
    }
    for slot in slots.into_iter().filter(|slot| module.get_global(slot).is_none()) {
        wrong.push(format!("slot `{slot}` has no global"));
    }
    let constants = Constants::new(module);
    let interiors = manifest.records.iter().filter(|record| record.site == Site::Interior);
    wrong.extend(interiors.filter_map(|record| misplaced(module, &constants, record)));
    wrong.sort();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Error::broken(Stage::Relocate, format!("the unit is not as it should be: {}", wrong.join("; "))))
    }
}

/// Why an interior word cannot be where its record says.
fn misplaced(module: &Module, constants: &Constants, Record { name, offset, .. }: &Record) -> Option<String> {
    let Some(global) = module.get_global(name).filter(|global| global.get_initializer().is_some()) else {
        return Some(format!("the word at byte {offset} of `{name}` has no global"));
    };
    let size = constants.size_of(global);
    let inside = offset.checked_add(WORD_BYTES).is_some_and(|end| end <= size);
    (!inside).then(|| format!("`{name}` has {size} bytes, and a record a word at byte {offset} of it"))
}

/// Checks finished PTX. Nothing in it may be left to others: ptxas only warns about an unresolved variable, and defines
/// it as zero.
pub(crate) fn ptx(text: &str, manifest: &Manifest) -> Result<(), Error> {
    const STAGE: Stage = Stage::LowerPtx;
    let mut lines = text.lines().map(str::trim_start).peekable();
    while let Some(line) = lines.next() {
        let declaration = format!("{line} {}", lines.peek().unwrap_or(&"").trim());
        if line.starts_with(".extern") {
            return Err(Error::broken(STAGE, format!("the PTX refers to something that nothing defines: {declaration}")));
        }
    }
    for kernel in &manifest.kernels {
        if !text.contains(&format!(".entry {}(", kernel.entry)) {
            return Err(Error::broken(STAGE, format!("kernel `{}` has no entry in the PTX", kernel.name)));
        }
    }
    let interiors = manifest.records.iter().filter(|record| record.site == Site::Interior).map(|record| record.name.as_str());
    for looked_up in manifest.slots().next().map(|_| names::ptx::SLOTS).into_iter().chain(interiors) {
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let defines = |line: &str| {
            line.starts_with(".visible .")
                && line.split('=').next().is_some_and(|head| head.split(|c| !name(c)).any(|word| word == looked_up))
        };
        if !text.lines().any(defines) {
            return Err(Error::broken(STAGE, format!("`{looked_up}`, which the loader writes, is not in the PTX")));
        }
    }
    Ok(())
}
