//! Images made by hand, for unit tests.

use crate::contract::image::{Container, RawImage, TableThunk, ValueThunk, encode};
use crate::contract::layout::{Layout, TypeLayout};
use crate::contract::manifest::{Kernel, Manifest, Part, Record, RecordSource, Site, SourceMap, Target, UnitName};
use crate::image::Image;

/// One record.
pub(crate) enum Item {
    Value(&'static str, ValueThunk),
    TablePtr(&'static str, TableThunk),
    TableLen(&'static str, TableThunk),
    Null(&'static str),
    /// A word inside the global of this name, at this byte.
    Interior(&'static str, u64, ValueThunk),
    /// Of this target, with this word in the host table.
    Of(&'static str, Target, *const ()),
}

/// An image of `package` with these kernels and records; record `i` comes from line `i + 1`.
pub(crate) fn image_of(package: &str, kernels: Vec<Kernel>, items: &[Item]) -> &'static Image {
    let (mut records, mut sources, mut table) = (Vec::new(), Vec::new(), Vec::new());
    for (line, item) in items.iter().enumerate() {
        let (name, target, host) = match item {
            Item::Value(name, thunk) | Item::Interior(name, _, thunk) => (*name, Target::Expr(Part::Value), *thunk as *const ()),
            Item::TablePtr(name, thunk) => (*name, Target::Expr(Part::TablePtr), *thunk as *const ()),
            Item::TableLen(name, thunk) => (*name, Target::Expr(Part::TableLen), *thunk as *const ()),
            Item::Null(name) => (*name, Target::Expr(Part::Value), std::ptr::null()),
            Item::Of(name, target, host) => (*name, target.clone(), *host),
        };
        let (site, offset) = if let Item::Interior(_, offset, _) = *item { (Site::Interior, offset) } else { (Site::Slot, 0) };
        // The two records of a table have one source.
        let line = if target == Target::Expr(Part::TablePtr) { line } else { line + 1 };
        records.push(Record { name: name.into(), site, offset, target, in_block: site == Site::Slot });
        sources.push(RecordSource { symbol: String::new(), source: format!("src/main.rs:{line}:1"), text: "x".into() });
        table.push(host);
    }
    let unit = UnitName { package: package.into(), version: "1.2.3".into(), kind: "lib".into(), crate_name: package.into(), test: false };
    let places = kernels.iter().map(|_| "src/lib.rs:1:1".to_owned()).collect();
    let container = Container {
        unit_hash: [package.len() as u8; 32],
        manifest: Manifest { schema: crate::contract::SCHEMA, unit, kernels, records },
        source_map: SourceMap { records: sources, kernels: places, locations: vec![("src/lib.rs".into(), 7, 9)] },
        ptx: Vec::new(),
        cpu_levels: Vec::new(),
    };
    let (bytes, table) = (encode(&container).leak(), table.leak());
    let raw = RawImage {
        schema: crate::contract::SCHEMA,
        reserved: 0,
        container: bytes.as_ptr(),
        container_len: bytes.len(),
        host_table: table.as_ptr(),
        host_table_len: table.len(),
        cpu: std::ptr::null(),
    };
    // SAFETY: all of it is leaked.
    Box::leak(Box::new(unsafe { Image::read(Box::leak(Box::new(raw))) }.unwrap()))
}

/// The layout as the build stores it.
pub(crate) fn owned(layout: &TypeLayout) -> Layout {
    Layout {
        name: layout.name.into(),
        size: layout.size as u64,
        align: layout.align as u64,
        fields: layout.fields.iter().map(|f| (f.name.into(), f.offset as u64, owned(f.layout))).collect(),
    }
}

/// An image with records only.
pub(crate) fn image(items: &[Item]) -> &'static Image {
    image_of("handmade", Vec::new(), items)
}
