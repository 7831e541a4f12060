//! The report for people.

use super::json::site;
use super::scan::printable;
use super::{Contents, Image, hex};
use relocgpu_runtime::contract::manifest::{Delivery, Kernel, Manifest, Part, Record, Site, Target};
use std::fmt::{self, Write};

/// The report as indented text, one block an image.
pub fn text(contents: &Contents) -> String {
    let mut out = String::new();
    for (index, image) in contents.images.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        write_image(&mut out, image).expect("writing to a string");
    }
    out
}

fn write_image(out: &mut String, image: &Image) -> fmt::Result {
    let container = &image.container;
    let manifest = &container.manifest;
    let unit = &manifest.unit;
    let test = if unit.test { ", unit tests" } else { "" };
    writeln!(
        out,
        "image {}: package {} {}, {} {}{test}",
        image.name,
        printable(&unit.package),
        printable(&unit.version),
        printable(&unit.kind),
        printable(&unit.crate_name)
    )?;
    if let Some(member) = &image.member {
        writeln!(out, "  in        {}", printable(member))?;
    }
    writeln!(out, "  hash      {}", hex(&container.unit_hash))?;
    let ptx: Vec<_> = container
        .ptx
        .iter()
        .map(|entry| format!("sm_{} (PTX {}.{}, {} bytes)", entry.arch, entry.isa.0, entry.isa.1, entry.text.len()))
        .collect();
    writeln!(out, "  GPU code  {}", or_none(ptx.join(", ")))?;
    writeln!(out, "  CPU code  {}", or_none(printable(&container.cpu_levels.join(", "))))?;
    write_kernels(out, image)?;
    write_records(out, image)
}

fn write_kernels(out: &mut String, image: &Image) -> fmt::Result {
    let container = &image.container;
    writeln!(out, "  kernels   {}", container.manifest.kernels.len())?;
    for (index, kernel) in container.manifest.kernels.iter().enumerate() {
        let traits = [(kernel.can_panic, ", can panic"), (kernel.cooperates, ", threads wait for one another")];
        let traits: String = traits.iter().filter(|(holds, _)| *holds).map(|(_, text)| *text).collect();
        writeln!(
            out,
            "    {}  {}{}{traits}",
            printable(&kernel.name),
            source(container.source_map.kernels.get(index).map(String::as_str)),
            format_args!(", {} parameter bytes", kernel.size)
        )?;
        let width = |text: fn(&relocgpu_runtime::contract::manifest::Param) -> &str| {
            kernel.params.iter().map(|param| printable(text(param)).chars().count()).max().unwrap_or(0).min(40)
        };
        let (names, types) = (width(|param| &param.name), width(|param| &param.ty));
        for param in &kernel.params {
            writeln!(
                out,
                "      {:names$}  {:types$}  {} bytes at {}, aligned to {}",
                printable(&param.name),
                printable(&param.ty),
                param.layout.size,
                param.offset,
                param.layout.align
            )?;
        }
        writeln!(out, "      {}", reads(kernel))?;
    }
    Ok(())
}

pub(super) fn words(count: usize) -> String {
    format!("{count} word{}", if count == 1 { "" } else { "s" })
}

fn reads(kernel: &Kernel) -> String {
    let count = match kernel.reads.len() {
        0 => return "reads no host references".to_owned(),
        1 => "1 host reference".to_owned(),
        count => format!("{count} host references"),
    };
    let place = match &kernel.delivery {
        Delivery::Patch => "in the module".to_owned(),
        Delivery::Table(table) if table.indirect => {
            format!("{} in device memory, their address at byte {} of the launch", words(table.records.len()), table.offset)
        }
        Delivery::Table(table) => format!("{} at byte {} of the launch", words(table.records.len()), table.offset),
        Delivery::Bake => "in the code".to_owned(),
    };
    format!("reads {count}, delivered by {}: {place}", kernel.delivery.name())
}

fn write_records(out: &mut String, image: &Image) -> fmt::Result {
    let container = &image.container;
    let records = &container.manifest.records;
    writeln!(out, "  records   {}", records.len())?;
    for (index, record) in records.iter().enumerate() {
        let origin = container.source_map.records.get(index);
        writeln!(out, "    {:8}  {}", site(record.site), place(record))?;
        let text = origin.map_or("", |origin| &origin.text);
        let text = if text.is_empty() { String::new() } else { format!(": {}", printable(text)) };
        writeln!(out, "              {}{text}", target(&record.target))?;
        writeln!(out, "              {}", source(origin.map(|origin| origin.source.as_str())))?;
        writeln!(out, "              {}", readers(&container.manifest, index, record))?;
    }
    Ok(())
}

/// A site: its name, and the byte in it.
pub(super) fn place(record: &Record) -> String {
    let name = printable(&record.name);
    match record.site {
        Site::Slot => name,
        Site::Interior => format!("{name}+{}", record.offset),
    }
}

/// Which kernels read a record, each with its delivery. Words of constants are patched whichever it is.
fn readers(manifest: &Manifest, number: usize, record: &Record) -> String {
    let reads = |kernel: &&Kernel| kernel.reads.iter().any(|read| *read as usize == number);
    let reader = |kernel: &Kernel| {
        let delivery = if record.site == Site::Interior { &Delivery::Patch } else { &kernel.delivery };
        format!("{} ({})", printable(&kernel.name), delivery.name())
    };
    let readers: Vec<_> = manifest.kernels.iter().filter(reads).map(reader).collect();
    format!("read by {}", or_none(readers.join(", ")))
}

fn target(target: &Target) -> String {
    match target {
        Target::Expr(Part::Value) => "value of an expression".to_owned(),
        Target::Expr(Part::TablePtr) => "address of a table".to_owned(),
        Target::Expr(Part::TableLen) => "length of a table".to_owned(),
        Target::Expr(Part::DeviceValue) => "value of an expression, for each device".to_owned(),
        Target::Expr(Part::Mapped) => "address of mapped host memory".to_owned(),
        Target::Expr(Part::Static) => "address of a device static".to_owned(),
        Target::Address => "address of a host item".to_owned(),
        Target::Load { symbol, ty, library, offset } => {
            let library = library.as_deref().map_or(String::new(), |library| format!(" of {}", printable(library)));
            format!("{} stored at {}+{offset}{library}", printable(ty), printable(symbol))
        }
        Target::Bound { name, ty } => format!("{} bound to `{}`", printable(ty), printable(name)),
    }
}

fn source(source: Option<&str>) -> String {
    source.filter(|source| !source.is_empty()).map_or_else(|| "source unknown".to_owned(), printable)
}

fn or_none(text: String) -> String {
    if text.is_empty() { "none".to_owned() } else { text }
}
