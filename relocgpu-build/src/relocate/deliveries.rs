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

/// Sets what each kernel reads, its delivery, and which records have a place in the block of slots. All are in manifest order.
pub(super) fn run<'c>(
    module: &Module<'c>,
    linked: &[LinkedKernel<'c>],
    chosen: job::Delivery,
    kernels: &mut [Kernel],
    records: &mut [(Record, RecordSource)],
) -> Result<(), Error> {
    let mut sites: HashMap<&str, Vec<u32>> = HashMap::new();
    for ((record, _), number) in records.iter().zip(0..) {
        sites.entry(&record.name).or_default().push(number);
    }
    let references = References::new(module);
    let mut in_block = BTreeSet::<u32>::new();
    for kernel in kernels {
        // The functions were made anew since they were linked.
        let entry = module.get_function(&kernel.entry).ok_or_else(|| Error::broken(STAGE, format!("kernel `{}` is lost", kernel.name)))?;
        let reached = references.from(entry).order;
        let names = reached.iter().flat_map(|function| references.made_by(*function)).map(|(_, global)| Value::name(*global));
        let read: BTreeSet<u32> = names.filter_map(|name| sites.get(name.as_str())).flatten().copied().collect();
        kernel.reads = read.iter().copied().collect();
        let slots: Vec<u32> = read.into_iter().filter(|number| records[*number as usize].0.site == Site::Slot).collect();
        let own = linked.iter().find(|linked| linked.name == kernel.name).map_or(0, |linked| linked.descriptor.delivery);
        let delivery = match own {
            1 => job::Delivery::Patch,
            2 => job::Delivery::Table,
            3 => job::Delivery::Bake,
            _ => chosen,
        };
        kernel.delivery = match delivery {
            _ if slots.is_empty() => Delivery::Patch,
            job::Delivery::Patch => Delivery::Patch,
            job::Delivery::Bake => Delivery::Bake,
            job::Delivery::Table => Delivery::Table(LaunchTable::behind(kernel.size, slots)),
        };
        if !matches!(kernel.delivery, Delivery::Table(_)) {
            in_block.extend(&kernel.reads);
        }
    }
    for ((record, _), number) in records.iter_mut().zip(0..) {
        record.in_block = record.site == Site::Slot && in_block.contains(&number);
    }
    Ok(())
}
