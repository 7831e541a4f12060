//! What the rest of the runtime relies on when it follows an image's numbers. A damaged image is refused here, before
//! anything of it runs.

use crate::contract::cpu::CpuTable;
use crate::contract::image::{Container, PtxEntry};
use crate::contract::manifest::{Delivery, Kernel, LaunchTable, Manifest, Record, Site};

/// Bytes of a parameter block that no kernel needs, and alignments that no type has.
const MOST_BYTES: u64 = 1 << 20;
const MOST_ALIGN: u64 = 1 << 12;

/// All that is wrong.
pub(super) fn run(container: &Container, host_words: usize, cpu: Option<&CpuTable>) -> Vec<String> {
    let Container { manifest, source_map, ptx, cpu_levels, .. } = container;
    let mut wrong = Vec::new();
    let mut claim = |holds: bool, what: &dyn Fn() -> String| {
        if !holds {
            wrong.push(what());
        }
    };
    let (records, kernels) = (manifest.records.len(), manifest.kernels.len());
    claim(manifest.schema == crate::contract::SCHEMA, &|| format!("its manifest was made for schema {}", manifest.schema));
    claim(host_words == records && source_map.records.len() == records, &|| {
        format!("{records} records, but {host_words} words in its host table and {} sources", source_map.records.len())
    });
    claim(source_map.kernels.len() == kernels, &|| format!("{kernels} kernels, but {} sources of them", source_map.kernels.len()));
    for record in &manifest.records {
        claim(is_site(record), &|| format!("its record `{}` at byte {} names no site", record.name, record.offset));
    }
    for (a, b) in manifest.records.iter().zip(manifest.records.iter().skip(1)) {
        claim((&a.name, a.offset) < (&b.name, b.offset), &|| format!("its records `{}` and `{}` are out of order", a.name, b.name));
        claim(a.name != b.name || a.site == b.site, &|| format!("its record `{}` is both a slot and an interior word", a.name));
    }
    for kernel in &manifest.kernels {
        claim(fits(kernel), &|| format!("the parameters of kernel `{}` have no such place", kernel.name));
        claim(is_rising(manifest, &kernel.reads), &|| format!("kernel `{}` reads what there is no record of", kernel.name));
        if let Delivery::Table(table) = &kernel.delivery {
            claim(is_table(manifest, kernel.size, table), &|| {
                format!("the words of kernel `{}` are not those of its records", kernel.name)
            });
        }
    }
    for entry in ptx {
        claim(has_places(manifest, entry), &|| format!("words for sm_{} lie outside its PTX", entry.arch));
    }
    claim(ptx.is_sorted_by(|a, b| a.arch < b.arch), &|| "its PTX is not by rising architecture".to_owned());
    if let Some(cpu) = cpu {
        let interiors = manifest.records.iter().filter(|record| record.site == Site::Interior).count();
        let says = [cpu.levels_len, cpu.kernels_len, cpu.slots_len, cpu.interiors_len];
        claim(says == [cpu_levels.len(), kernels, manifest.slots().count(), interiors], &|| {
            "its native code is of another build than its manifest".to_owned()
        });
    }
    wrong
}

/// A slot is a whole word. Names are what PTX takes.
fn is_site(Record { name, site, offset, .. }: &Record) -> bool {
    let named = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$');
    named
        && match site {
            Site::Slot => *offset == 0,
            Site::Interior => offset.checked_add(8).is_some(),
        }
}

/// Whether a launch can make the parameter block, and each parameter lies in it.
fn fits(kernel: &Kernel) -> bool {
    let inside = |offset: u64, size: u64| offset.checked_add(size).is_some_and(|end| end <= kernel.size);
    kernel.size <= MOST_BYTES
        && kernel.align.is_power_of_two()
        && kernel.align <= MOST_ALIGN
        && kernel.params.iter().all(|param| inside(param.offset, param.layout.size))
}

/// Whether these are numbers of records, each once.
fn is_rising(manifest: &Manifest, numbers: &[u32]) -> bool {
    numbers.is_sorted_by(|a, b| a < b) && numbers.last().is_none_or(|last| (*last as usize) < manifest.records.len())
}

/// Whether the words behind the parameters are words of slots, each once, at the place where the kernel reads them.
fn is_table(manifest: &Manifest, size: u64, table: &LaunchTable) -> bool {
    let is_slot = |number: &u32| manifest.records.get(*number as usize).is_some_and(|record| record.site == Site::Slot);
    let laid = LaunchTable::behind(size, table.records.clone());
    is_rising(manifest, &table.records)
        && table.records.iter().all(is_slot)
        && table.offset == laid.offset
        && (table.indirect || !laid.indirect)
}

/// Whether each baked word has sixteen digits of its own, and is a slot's.
fn has_places(manifest: &Manifest, entry: &PtxEntry) -> bool {
    let text = entry.text.as_bytes();
    let digits = |(number, offset): &(u32, u64)| {
        let at = usize::try_from(*offset).ok()?;
        let place = text.get(at..at.checked_add(16)?)?;
        let record = manifest.records.get(*number as usize)?;
        Some(record.site == Site::Slot && place.iter().all(u8::is_ascii_hexdigit))
    };
    entry.baked.iter().all(|place| digits(place) == Some(true)) && entry.baked.is_sorted_by(|a, b| a.1 < b.1 && b.1 - a.1 >= 16)
}
