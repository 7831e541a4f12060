//! Which of an image's PTX entries a device takes.

use super::context::Context;
use crate::contract::image::PtxEntry;
use crate::image::Image;
use std::ffi::c_int;

/// PTX ISA versions that a driver's compiler reads, by the CUDA version that the driver implements (PTX ISA manual,
/// release notes). A driver newer than the table reads at least the last.
const READS: &[(c_int, (u32, u32))] = &[
    (10000, (6, 3)),
    (10010, (6, 4)),
    (10020, (6, 5)),
    (11000, (7, 0)),
    (11010, (7, 1)),
    (11020, (7, 2)),
    (11030, (7, 3)),
    (11040, (7, 4)),
    (11050, (7, 5)),
    (11060, (7, 6)),
    (11070, (7, 7)),
    (11080, (7, 8)),
    (12000, (8, 0)),
    (12010, (8, 1)),
    (12020, (8, 2)),
    (12030, (8, 3)),
    (12040, (8, 4)),
    (12050, (8, 5)),
    (12070, (8, 6)),
    (12080, (8, 7)),
    (12090, (8, 8)),
    (13000, (9, 0)),
];

/// Whether a driver's compiler reads a PTX version. A version beyond the table is left to the driver.
fn reads(driver: c_int, isa: (u32, u32)) -> bool {
    match needed(isa) {
        Some(needed) => driver >= needed,
        None => true,
    }
}

/// The first CUDA version whose driver reads this PTX version, as far as known.
fn needed(isa: (u32, u32)) -> Option<c_int> {
    READS.iter().find(|(_, reads)| *reads >= isa).map(|(driver, _)| *driver)
}

/// The entries for this device, the best first: those for the highest architecture not above its own.
pub(super) fn candidates<'a>(context: &Context, image: &'a Image) -> Vec<&'a PtxEntry<'static>> {
    let mut entries: Vec<_> = image.container.ptx.iter().filter(|entry| entry.arch <= context.arch).collect();
    // Those that the driver is too old for are tried last: it has the last word.
    entries.sort_by_key(|entry| (reads(context.driver.version, entry.isa), entry.arch));
    entries.reverse();
    entries
}

/// Whether an image has code that device and driver take; else the reason, as a clause.
pub(super) fn fits(context: &Context, image: &Image) -> Result<(), String> {
    let entries = candidates(context, image);
    if entries.iter().any(|entry| reads(context.driver.version, entry.isa)) {
        return Ok(());
    }
    Err(match entries.first() {
        Some(entry) => format!("image {} has {}", image.name(), too_new(context, entry)),
        None => no_entry(context, image),
    })
}

/// Why no entry fits.
pub(super) fn no_entry(context: &Context, image: &Image) -> String {
    let has: Vec<_> = image.container.ptx.iter().map(|entry| format!("sm_{}", entry.arch)).collect();
    let has = if has.is_empty() { "no GPU code".to_owned() } else { format!("code for {} and above", has.join(", ")) };
    format!(
        "image {} has {has}, and {} is sm_{}; build with `Builder::arch` for that or a lower architecture",
        image.name(),
        context.device(),
        context.arch
    )
}

/// `PTX 8.5 for sm_75, which needs …`.
pub(super) fn too_new(context: &Context, entry: &PtxEntry) -> String {
    let needed = match needed(entry.isa) {
        Some(version) => format!("a driver for CUDA {}.{} or later", version / 1000, version % 1000 / 10),
        None => "a newer driver".to_owned(),
    };
    format!(
        "PTX {}.{} for sm_{}, which needs {needed}, and the driver of {} (sm_{}) is for CUDA {}; install a newer driver, \
         or ask for the CPU with RELOCGPU_DEVICE=cpu",
        entry.isa.0,
        entry.isa.1,
        entry.arch,
        context.device(),
        context.arch,
        context.driver.version_text()
    )
}

/// Bytes of parameters that a kernel of this entry may take (CUDA manual: 4096, with CUDA 12.1, PTX 8.1 and sm_70 32764).
pub(super) fn parameter_bytes(context: &Context, entry: &PtxEntry) -> u64 {
    if context.driver.version >= 12010 && entry.isa >= (8, 1) && entry.arch >= 70 { 32764 } else { 4096 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_driver_that_brought_them() {
        assert!(reads(10000, (6, 3)) && !reads(10000, (6, 4)) && !reads(11080, (8, 0)));
        assert!(reads(12060, (8, 5)) && !reads(12060, (8, 6)));
        assert!(reads(12000, (6, 0)), "older than the table");
        assert!(reads(13020, (9, 0)) && reads(12000, (9, 9)), "what the table does not know is the driver's to say");
        assert_eq!((needed((8, 5)), needed((9, 9))), (Some(12050), None));
        assert!(READS.is_sorted());
    }
}
