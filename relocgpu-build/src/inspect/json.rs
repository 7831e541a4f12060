//! The report for programs.

use super::{Contents, Image, hex};
use relocgpu_runtime::contract::manifest::{Delivery, Kernel, LaunchTable, Record, RecordSource, Site, Target};
use serde::Serialize;
use std::collections::HashMap;

/// The report as one JSON object with a final newline. Fields may be added; those that are there keep their meaning.
pub fn json(contents: &Contents) -> String {
    let report = Report {
        images: contents.images.iter().map(image).collect(),
        faults: contents.faults.iter().map(|fault| fault.0.as_str()).collect(),
    };
    let mut text = serde_json::to_string_pretty(&report).expect("strings and numbers only");
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Report<'a> {
    images: Vec<ImageJson<'a>>,
    faults: Vec<&'a str>,
}

#[derive(Serialize)]
struct ImageJson<'a> {
    name: &'a str,
    hash: String,
    architectures: Vec<String>,
    kernels: Vec<KernelJson<'a>>,
    records: Vec<RecordJson<'a>>,
    package: &'a str,
    version: &'a str,
    target_kind: &'a str,
    crate_name: &'a str,
    test: bool,
    schema: u32,
    member: Option<&'a str>,
    ptx: Vec<PtxJson>,
    cpu_levels: &'a [String],
}

#[derive(Serialize)]
struct PtxJson {
    architecture: String,
    isa: String,
    bytes: usize,
}

#[derive(Serialize)]
struct KernelJson<'a> {
    name: &'a str,
    params: Vec<ParamJson<'a>>,
    entry: &'a str,
    size: u64,
    align: u64,
    source: &'a str,
    can_panic: bool,
    cooperates: bool,
    delivery: &'static str,
    /// Numbers of the records that it reads.
    reads: &'a [u32],
    table: Option<TableJson<'a>>,
}

/// The words behind a kernel's parameters.
#[derive(Serialize)]
struct TableJson<'a> {
    offset: u64,
    indirect: bool,
    records: &'a [u32],
}

#[derive(Serialize)]
struct ParamJson<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    ty: &'a str,
    size: u64,
    align: u64,
    offset: u64,
}

#[derive(Serialize)]
struct RecordJson<'a> {
    name: &'a str,
    kind: &'static str,
    offset: u64,
    target: TargetJson<'a>,
    source: &'a str,
    symbol: &'a str,
    text: &'a str,
    in_block: bool,
    /// Its word's number in the block of slots.
    slot: Option<usize>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum TargetJson<'a> {
    Expr {
        part: &'static str,
    },
    Address,
    Load {
        symbol: &'a str,
        #[serde(rename = "type")]
        ty: &'a str,
        library: Option<&'a str>,
        offset: u64,
    },
    Bound {
        name: &'a str,
        #[serde(rename = "type")]
        ty: &'a str,
    },
}

fn image<'a>(image: &'a Image<'a>) -> ImageJson<'a> {
    let container = &image.container;
    let unit = &container.manifest.unit;
    let sources = &container.source_map;
    let slots: HashMap<usize, usize> = container.manifest.slots().enumerate().map(|(slot, (number, _))| (number, slot)).collect();
    ImageJson {
        name: &image.name,
        hash: hex(&container.unit_hash),
        architectures: container.ptx.iter().map(|entry| format!("sm_{}", entry.arch)).collect(),
        kernels: container.manifest.kernels.iter().enumerate().map(|(index, k)| kernel(k, sources.kernels.get(index))).collect(),
        records: container
            .manifest
            .records
            .iter()
            .enumerate()
            .map(|(index, r)| record(r, sources.records.get(index), slots.get(&index)))
            .collect(),
        package: &unit.package,
        version: &unit.version,
        target_kind: &unit.kind,
        crate_name: &unit.crate_name,
        test: unit.test,
        schema: container.manifest.schema,
        member: image.member.as_deref(),
        ptx: container
            .ptx
            .iter()
            .map(|entry| PtxJson {
                architecture: format!("sm_{}", entry.arch),
                isa: format!("{}.{}", entry.isa.0, entry.isa.1),
                bytes: entry.text.len(),
            })
            .collect(),
        cpu_levels: &container.cpu_levels,
    }
}

fn kernel<'a>(kernel: &'a Kernel, source: Option<&'a String>) -> KernelJson<'a> {
    let param = |param: &'a relocgpu_runtime::contract::manifest::Param| ParamJson {
        name: &param.name,
        ty: &param.ty,
        size: param.layout.size,
        align: param.layout.align,
        offset: param.offset,
    };
    KernelJson {
        name: &kernel.name,
        params: kernel.params.iter().map(param).collect(),
        entry: &kernel.entry,
        size: kernel.size,
        align: kernel.align,
        source: source.map_or("", String::as_str),
        can_panic: kernel.can_panic,
        cooperates: kernel.cooperates,
        delivery: kernel.delivery.name(),
        reads: &kernel.reads,
        table: match &kernel.delivery {
            Delivery::Table(LaunchTable { records, offset, indirect }) => Some(TableJson { offset: *offset, indirect: *indirect, records }),
            Delivery::Patch | Delivery::Bake => None,
        },
    }
}

fn record<'a>(record: &'a Record, source: Option<&'a RecordSource>, slot: Option<&usize>) -> RecordJson<'a> {
    RecordJson {
        name: &record.name,
        kind: site(record.site),
        offset: record.offset,
        target: match &record.target {
            Target::Expr(part) => TargetJson::Expr { part: part.name() },
            Target::Address => TargetJson::Address,
            Target::Load { symbol, ty, library, offset } => TargetJson::Load { symbol, ty, library: library.as_deref(), offset: *offset },
            Target::Bound { name, ty } => TargetJson::Bound { name, ty },
        },
        source: source.map_or("", |source| &source.source),
        symbol: source.map_or("", |source| &source.symbol),
        text: source.map_or("", |source| &source.text),
        in_block: record.in_block,
        slot: slot.copied(),
    }
}

pub(super) fn site(site: Site) -> &'static str {
    match site {
        Site::Slot => "slot",
        Site::Interior => "interior",
    }
}
