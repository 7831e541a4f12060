//! Where the words of host references lie.

use super::text::{place, words};
use super::{Contents, Image, scan::printable};
use relocgpu_runtime::contract::manifest::{Delivery, Site};
use std::fmt::{self, Write};

/// For each image its block of slots, the interior words of its constants, and the tables behind its kernels' parameters.
///
/// ```text
/// layout of photo-photo
///   slots     2 words, 16 bytes
///     word 0 at byte 0  photo_0_1_0_gain
///     word 1 at byte 8  photo_0_1_0_word
///   interior  1 word
///     photo_0_1_0_shapes+8
///   table of photo::develop  1 word
///     word 0 at byte 24  photo_0_1_0_gain
/// ```
pub fn layout(contents: &Contents) -> String {
    let mut out = String::new();
    for image in &contents.images {
        write_image(&mut out, image).expect("writing to a string");
    }
    out
}

fn write_image(out: &mut String, image: &Image) -> fmt::Result {
    let manifest = &image.container.manifest;
    writeln!(out, "layout of {}", image.name)?;
    let slots = manifest.slots().count();
    writeln!(out, "  slots     {}, {} bytes", words(slots), 8 * slots)?;
    for (word, (_, record)) in manifest.slots().enumerate() {
        writeln!(out, "    word {word} at byte {}  {}", 8 * word, place(record))?;
    }
    let interior: Vec<_> = manifest.records.iter().filter(|record| record.site == Site::Interior).collect();
    writeln!(out, "  interior  {}", words(interior.len()))?;
    for record in interior {
        writeln!(out, "    {}", place(record))?;
    }
    for kernel in &manifest.kernels {
        let Delivery::Table(table) = &kernel.delivery else { continue };
        let (start, from) = if table.indirect { (0, " of their device copy") } else { (table.offset, "") };
        writeln!(out, "  table of {}  {}", printable(&kernel.name), words(table.records.len()))?;
        for (word, number) in table.records.iter().enumerate() {
            // The file may be damaged.
            let record = manifest.records.get(*number as usize).map_or_else(|| format!("record {number}, which is not there"), place);
            writeln!(out, "    word {word} at byte {}{from}  {record}", start.saturating_add(8 * word as u64))?;
        }
    }
    Ok(())
}
