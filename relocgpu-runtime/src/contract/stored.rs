//! What is stored, or crosses from device code to the host, is what `stored/schema_<SCHEMA>.txt` says.
//!
//! After a change raise [`SCHEMA`] and let `RELOCGPU_BLESS=1 cargo test -p relocgpu-runtime` write the new version's text.
//! A text that is there is never written over: programs may hold images of that version.

use super::SCHEMA;
use super::cpu::{CpuContext, CpuEntry, CpuTable, FRAME_ALIGN, SHARED_ALIGN, STACK_BYTES, STACK_RESERVED};
use super::image::{CONTAINER_ALIGN, Container, PtxEntry, RawImage, RawMapped, RawStatic, RawTable, encode};
use super::layout::{FieldLayout, KernelDescriptor, Layout, ParamDescriptor, TypeLayout};
use super::manifest::{Delivery, Kernel, LaunchTable, Manifest, Param, Part, Record, RecordSource, Site, SourceMap, Target, UnitName};
use super::names::{CONTAINER_SECTION, INDEX_SECTION, Unit, image_symbol, ptx};
use super::panic::{FIXED_MESSAGES, PanicKind, PanicRecord, PanicReport};
use std::fmt::Write;
use std::mem::offset_of;

macro_rules! layouts {
    ($($name:ident { $($field:ident),* })*) => {
        [$(
            format!("{} {} {}", stringify!($name), size_of::<$name>(), align_of::<$name>())
                $(+ &format!(" {}@{}", stringify!($field), offset_of!($name, $field)))*
        ),*]
    };
}

fn text() -> String {
    let mut lines: Vec<String> = layouts! {
        RawImage { schema, reserved, container, container_len, host_table, host_table_len, cpu }
        RawTable { data, len, element_size, element_align }
        RawMapped { data, bytes }
        RawStatic { data, bytes, align }
        CpuTable { slots, slots_len, interiors, interiors_len, entries, levels_len, kernels_len }
        CpuEntry { run, frame_bytes, shared_bytes }
        CpuContext {
            block_idx, block_dim, grid_dim, thread_idx, shared, frames, frame_stride, panic, drive, diverge
        }
        KernelDescriptor { name, file, params, size, align, line, column, delivery }
        ParamDescriptor { name, ty, offset, layout }
        TypeLayout { name, size, align, fields }
        FieldLayout { name, offset, layout }
        PanicReport { kind, reserved, location, args, text, text_len, thread, block }
        PanicRecord { state, kind, location, args, thread, block, text_len, reserved, text }
    }
    .into();
    lines.push(format!("stack {STACK_BYTES} {STACK_RESERVED}, align {SHARED_ALIGN} {FRAME_ALIGN} {CONTAINER_ALIGN}"));
    lines.push(format!("sections {CONTAINER_SECTION} {INDEX_SECTION}"));
    lines.push(format!("ptx {} {} {}", ptx::SLOTS, ptx::PANIC_CLAIM, ptx::PANIC_RECORD));
    let unit = Unit { package: "photo", version: "0.1.0", kind: "bin", crate_name: "photo", test: true };
    lines.push(format!("image {}", image_symbol(&unit)));
    lines.extend(KINDS.iter().map(|kind| format!("panic {} {kind:?}", *kind as u32)));
    lines.extend(FIXED_MESSAGES.iter().enumerate().map(|(i, message)| format!("message {i} {message}")));
    lines.push("container".to_owned());
    lines.extend(encode(&sample()).chunks(32).map(|row| {
        row.iter().fold(String::new(), |mut line, byte| {
            write!(line, "{byte:02x}").expect("a string takes all");
            line
        })
    }));
    lines.join("\n") + "\n"
}

const KINDS: [PanicKind; 8] = [
    PanicKind::Text,
    PanicKind::Bounds,
    PanicKind::SliceRange,
    PanicKind::Fixed,
    PanicKind::CopyLength,
    PanicKind::Template,
    PanicKind::ResultUnwrap,
    PanicKind::StrRange,
];

/// A container with every variant of everything in it, and no two numbers alike where they could be swapped.
fn sample() -> Container<'static> {
    let word = Layout { name: "u32".into(), size: 4, align: 8, fields: vec![] };
    let pair = Layout { name: "Pair".into(), size: 16, align: 32, fields: vec![("a".into(), 5, word)] };
    let param = Param { name: "x".into(), ty: "Pair".into(), offset: 300, layout: pair };
    let table = LaunchTable { records: vec![3, 400], offset: 500, indirect: true };
    let kernel = |delivery| Kernel {
        name: "a::k<f32>".into(),
        entry: "a_k_01234567".into(),
        params: vec![param.clone()],
        size: 24,
        align: 64,
        can_panic: true,
        cooperates: false,
        reads: vec![2, 300],
        delivery,
    };
    let kernels = [Delivery::Patch, Delivery::Table(table), Delivery::Bake].map(kernel).into();
    let load = |library: Option<&str>| Target::Load { symbol: "s".into(), ty: "y".into(), library: library.map(Into::into), offset: 70000 };
    let parts = Part::ALL.map(Target::Expr);
    let others = [Target::Address, load(None), load(Some("/l")), Target::Bound { name: "b".into(), ty: "t".into() }];
    let record = |(i, target)| {
        let site = if i < 7 { Site::Slot } else { Site::Interior };
        Record { name: format!("r{i}"), site, offset: 8 * i as u64, target, in_block: i % 2 == 0 }
    };
    let records: Vec<Record> = parts.into_iter().chain(others).enumerate().map(record).collect();
    let source = |record: &Record| RecordSource { symbol: format!("__{}", record.name), source: "a.rs:1:2".into(), text: "t()".into() };
    let source_map = SourceMap {
        records: records.iter().map(source).collect(),
        kernels: vec!["a.rs:3:4".into()],
        locations: vec![("b.rs".into(), 5, 600)],
    };
    let unit = UnitName { package: "photo".into(), version: "0.1.0".into(), kind: "bin".into(), crate_name: "main".into(), test: true };
    Container {
        unit_hash: std::array::from_fn(|i| i as u8),
        manifest: Manifest { schema: SCHEMA, unit, kernels, records },
        source_map,
        ptx: vec![PtxEntry { arch: 75, isa: (6, 3), text: ".version 6.3".into(), baked: vec![(7, 80000)] }],
        cpu_levels: vec!["x86-64".into(), "x86-64-v3".into()],
    }
}

#[test]
fn a_stored_type_changes_with_the_schema_only() {
    let path = format!("{}/src/contract/stored/schema_{SCHEMA}.txt", env!("CARGO_MANIFEST_DIR"));
    let now = text();
    match std::fs::read_to_string(&path) {
        Ok(then) => {
            let changed: Vec<_> = then.lines().filter(|line| now.lines().all(|other| other != *line)).collect();
            assert!(now == then, "these lines of {path} no longer hold, so raise SCHEMA:\n{}\nnow:\n{now}", changed.join("\n"));
        }
        Err(_) if std::env::var_os("RELOCGPU_BLESS").is_some() => std::fs::write(&path, now).expect("the repository can be written"),
        Err(error) => panic!("{path}: {error}; for a new SCHEMA let RELOCGPU_BLESS=1 write it"),
    }
}
