//! Which words each kernel reads, and where they will live.

use super::STAGE;
use crate::error::Error;
use crate::job;
use crate::link::LinkedKernel;
use crate::llvm::Value;
use crate::reach::References;
use inkwell::module::Module;
use relocgpu_runtime::contract::manifest::{Delivery, Kernel, LaunchTable, Record, RecordSource, Site};
use std::collections::{BTreeSet, HashMap};

/// Bytes of parameters that every driver passes.
const PARAMETER_BYTES: u64 = 4096;

/// Sets each kernel's delivery, and which records have a place in the block of slots. Both are in manifest order.
pub(super) fn run<'c>(
    module: &Module<'c>,
    linked: &[LinkedKernel<'c>],
    chosen: job::Delivery,
    kernels: &mut [Kernel],
    records: &mut [(Record, RecordSource)],
) -> Result<(), Error> {
    let slots: HashMap<&str, u32> = records
        .iter()
        .zip(0..)
        .filter(|((record, _), _)| record.site == Site::Slot)
        .map(|((record, _), number)| (record.name.as_str(), number))
        .collect();
    let references = References::new(module);
    let mut in_block = BTreeSet::new();
    for kernel in kernels {
        // The functions were made anew since they were linked.
        let entry = module.get_function(&kernel.entry).ok_or_else(|| Error::broken(STAGE, format!("kernel `{}` is lost", kernel.name)))?;
        let reached = references.from(entry).order;
        let names = reached.iter().flat_map(|function| references.made_by(*function)).map(|(_, global)| Value::name(*global));
        let read: BTreeSet<u32> = names.filter_map(|name| slots.get(name.as_str()).copied()).collect();
        let own = linked.iter().find(|linked| linked.name == kernel.name).map_or(0, |linked| linked.descriptor.delivery);
        let delivery = match own {
            1 => job::Delivery::Patch,
            2 => job::Delivery::Table,
            3 => job::Delivery::Bake,
            _ => chosen,
        };
        kernel.delivery = match delivery {
            _ if read.is_empty() => Delivery::Patch,
            job::Delivery::Patch => Delivery::Patch,
            job::Delivery::Bake => Delivery::Bake,
            job::Delivery::Table => {
                let offset = kernel.size.next_multiple_of(8);
                let indirect = offset + 8 * read.len() as u64 > PARAMETER_BYTES;
                Delivery::Table(LaunchTable { records: read.iter().copied().collect(), offset, indirect })
            }
        };
        if !matches!(kernel.delivery, Delivery::Table(_)) {
            in_block.extend(read);
        }
    }
    for ((record, _), number) in records.iter_mut().zip(0..) {
        record.in_block = record.site == Site::Slot && in_block.contains(&number);
    }
    Ok(())
}
