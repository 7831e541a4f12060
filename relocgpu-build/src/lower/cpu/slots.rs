//! Where the loader's words lie: the slots in one array for all levels, interior words in hidden globals of each level.
//!
//! ```text
//! @site = external global i64                       →  @…_slots = external hidden constant [2 x i64]
//! … load i64, ptr @site                             →  … load i64, ptr getelementptr (i8, ptr @…_slots, i64 8)
//! ```
//!
//! The array is constant to this code, since the loader writes it before any of it runs: loads leave the loops over a
//! block's threads whatever is stored there. Its value is not known here, so nothing is folded.

use super::{STAGE, names};
use crate::error::Error;
use crate::llvm::{self, Value, rewrite::address_in};
use inkwell::GlobalVisibility;
use inkwell::module::{Linkage, Module};
use relocgpu_runtime::contract::manifest::{Manifest, Site};

/// Where an interior word lies: what follows the level in the symbol of its global, and the byte offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interior {
    pub(super) symbol: String,
    pub(super) offset: u64,
}

/// Replaces every site; returns the places of the interior words in manifest order.
pub(super) fn run(module: &Module, manifest: &Manifest, prefix: &str) -> Result<Vec<Interior>, Error> {
    let lost = |name: &str| Error::broken(STAGE, format!("site `{name}` is not in the unit"));
    let count = manifest.slots().count() as u32;
    if count > 0 {
        let ty = module.get_context().i64_type().array_type(count);
        let slots = module.add_global(ty, None, &names::slots(prefix));
        slots.set_constant(true);
        slots.set_visibility(GlobalVisibility::Hidden);
        slots.set_alignment(8);
        for (number, (_, record)) in manifest.slots().enumerate() {
            // Gone where only kernels that are delivered otherwise read it.
            let Some(site) = module.get_global(&record.name) else { continue };
            Value::from(site).replace_uses(address_in(slots, 8 * number as u64).into());
            llvm::delete_global(site);
        }
    }
    let mut interiors: Vec<(&str, Interior)> = Vec::new();
    for (number, record) in manifest.records.iter().enumerate().filter(|(_, r)| r.site == Site::Interior) {
        let symbol = match interiors.iter().find(|(name, _)| *name == record.name) {
            Some((_, same)) => same.symbol.clone(),
            None => {
                let site = module.get_global(&record.name).ok_or_else(|| lost(&record.name))?;
                site.set_constant(false);
                site.set_externally_initialized(true);
                site.set_linkage(Linkage::External);
                site.set_visibility(GlobalVisibility::Hidden);
                let symbol = names::site(number);
                Value::from(site).set_name(&symbol);
                symbol
            }
        };
        interiors.push((&record.name, Interior { symbol, offset: record.offset }));
    }
    Ok(interiors.into_iter().map(|(_, interior)| interior).collect())
}
