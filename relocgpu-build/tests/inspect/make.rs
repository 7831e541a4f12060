//! Containers, objects and archives made by hand.

use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope};
use relocgpu_build::inspect::{self, Input};
use relocgpu_runtime::contract::image::{Container, PtxEntry, encode};
use relocgpu_runtime::contract::layout::Layout;
use relocgpu_runtime::contract::manifest::{
    Delivery, Kernel, Manifest, Param, Part, Record, RecordSource, Site, SourceMap, Target, UnitName,
};
use std::io::Cursor;

pub fn layout(name: &str, size: u64, align: u64) -> Layout {
    Layout { name: name.into(), size, align, fields: Vec::new() }
}

pub fn container(kind: &str) -> Container<'static> {
    let param =
        |name: &str, ty: &str, offset, size, align| Param { name: name.into(), ty: ty.into(), offset, layout: layout(ty, size, align) };
    let record = |name: &str, site, offset, target| Record { name: name.into(), site, offset, target, in_block: site == Site::Slot };
    let source = |line: u32, symbol: &str, text: &str| RecordSource {
        symbol: symbol.into(),
        source: format!("src/main.rs:{line}:9"),
        text: text.into(),
    };
    Container {
        unit_hash: [0xab; 32],
        manifest: Manifest {
            schema: relocgpu_runtime::contract::SCHEMA,
            unit: UnitName { package: "photo".into(), version: "0.1.0".into(), kind: kind.into(), crate_name: "photo".into(), test: false },
            kernels: vec![Kernel {
                name: "photo::develop".into(),
                entry: "photo_develop".into(),
                params: vec![param("x", "&[f32]", 0, 16, 8), param("n", "u32", 16, 4, 4)],
                size: 24,
                align: 8,
                can_panic: true,
                cooperates: false,
                reads: vec![0, 1],
                delivery: Delivery::Patch,
            }],
            records: vec![
                record("photo_0_1_0_gain", Site::Slot, 0, Target::Expr(Part::Value)),
                record("photo_0_1_0_shapes", Site::Interior, 8, Target::Address),
                record(
                    "photo_0_1_0_word",
                    Site::Slot,
                    0,
                    Target::Load { symbol: "environ".into(), ty: "u64".into(), library: None, offset: 8 },
                ),
            ],
        },
        source_map: SourceMap {
            records: vec![source(3, "__relocgpu_host_1", "gain()"), source(4, "shapes_item", "SHAPES"), source(5, "", "\"environ\", 8")],
            kernels: vec!["src/main.rs:12:4".into()],
            locations: vec![("src/main.rs".into(), 13, 5)],
        },
        ptx: vec![
            PtxEntry { arch: 75, isa: (6, 3), text: "// seventy-five".into(), baked: Vec::new() },
            PtxEntry { arch: 90, isa: (7, 8), text: "// ninety".into(), baked: Vec::new() },
        ],
        cpu_levels: vec!["x86-64".into(), "x86-64-v3".into()],
    }
}

/// An object with these bytes in `.relocgpu`, and symbols that it defines and needs.
pub fn object(section: &[u8], defines: &[&str], needs: &[&str]) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    if !section.is_empty() {
        let id = object.add_section(Vec::new(), b".relocgpu".to_vec(), SectionKind::ReadOnlyData);
        object.append_section_data(id, section, 16);
    }
    let text = object.section_id(StandardSection::Text);
    object.append_section_data(text, &[0xc3; 16], 16);
    let symbol = |name: &str, section| Symbol {
        name: name.into(),
        value: 0,
        size: 0,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section,
        flags: SymbolFlags::None,
    };
    defines.iter().for_each(|name| _ = object.add_symbol(symbol(name, SymbolSection::Section(text))));
    needs.iter().for_each(|name| _ = object.add_symbol(symbol(name, SymbolSection::Undefined)));
    object.write().unwrap()
}

/// A `System V` archive. Names are at most fifteen bytes.
pub fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, data) in members {
        bytes.extend(format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", format!("{name}/"), 0, 0, 0, 644, data.len()).bytes());
        bytes.extend(*data);
        bytes.resize(bytes.len().next_multiple_of(2), b'\n');
    }
    bytes
}

pub fn padded(containers: &[Container]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for container in containers {
        bytes.extend(encode(container));
        bytes.resize(bytes.len().next_multiple_of(16), 0);
    }
    bytes
}

/// Names of the images and texts of the faults that are found in a file of these bytes; the reports are made as well.
pub fn read(bytes: Vec<u8>) -> (Vec<String>, Vec<String>) {
    let input = Input::new(Cursor::new(bytes), "file").unwrap();
    let contents = input.contents();
    let _ = (inspect::text(&contents), inspect::json(&contents));
    (contents.images.into_iter().map(|image| image.name).collect(), contents.faults.into_iter().map(|fault| fault.0).collect())
}
