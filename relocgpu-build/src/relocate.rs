//! Relocate: from a linked, normalised module to a frozen unit.

mod deliveries;
mod items;
mod locations;
mod names;
mod order;
mod prune;
mod records;

use crate::error::{Error, Stage};
use crate::job::Job;
use crate::link::LinkedKernel;
use crate::llvm::{self, Value};
use crate::normalise::Normalised;
use crate::reach::References;
use crate::step;
use crate::symbols::PANIC_INTERFACE;
use crate::validate;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetMachine;
use inkwell::values::FunctionValue;
use relocgpu_runtime::contract::SCHEMA;
use relocgpu_runtime::contract::manifest::{Delivery, Kernel, Manifest, Record, RecordSource, SourceMap};
use relocgpu_runtime::contract::names::{fnv1a, intrinsic, readable};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

const STAGE: Stage = Stage::Relocate;

/// A relocatable unit: what every target is lowered from.
///
/// The bitcode holds, after [`run`]:
///
/// | what | form |
/// |---|---|
/// | kernels | external `void @<Kernel.entry>(ptr %params)`, one for each kernel of the manifest and in its order; it loads its arguments from the parameter block and calls the user's function |
/// | panics | `void @__relocgpu_report(i32, i64, i64, i64, ptr, i64, i64)` and `@__relocgpu_store_record(ptr, ptr, ptr)`: external definitions, only if there is a panic in the code; every panic of `core` is a call of the first |
/// | slots | `@<Record.name> = external constant i64`, one for each slot record |
/// | shared memory | globals whose section starts with [`SHARED_SECTION`](relocgpu_runtime::contract::names::SHARED_SECTION) |
/// | intrinsics | declarations named as in [`intrinsic`](relocgpu_runtime::contract::names::intrinsic), only those in use |
/// | C library | declarations of its [memory functions](crate::symbols::MEMORY) where something calls them, and LLVM's intrinsics |
/// | all else | internal, named after their Rust paths, in an order that follows from the kernels alone |
///
/// Every function, indirect call and inline assembly is `convergent`. There is no personality, no unwinding, no alias,
/// no `comdat`, no attribute that belongs to the host's CPU, no inline assembly but the empty one. The module still
/// has its host's triple and data layout. There is debug information only if the job asks for line information.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Deterministic bitcode of the device module.
    pub(crate) bitcode: Vec<u8>,
    /// Kernels and records.
    pub(crate) manifest: Manifest,
    /// What moves when source lines move.
    pub(crate) source_map: SourceMap,
    /// SHA-256 of manifest (postcard) and bitcode.
    pub(crate) hash: [u8; 32],
}

impl Unit {
    /// The device module as text.
    pub(crate) fn text(&self) -> String {
        let context = llvm::new_context();
        let module = llvm::load(&context, &self.bitcode, "unit");
        module.map_or_else(|message| message, |module| module.print_to_string().to_string())
    }
}

/// Freezes a normalised module: its references are recorded, what is not reached is gone, names and order follow from
/// the code alone.
pub(crate) fn run(normalised: Normalised, job: &Job) -> Result<Unit, Error> {
    step::begin("recording host references");
    let Normalised { module, kernels: linked, machine } = &normalised;
    if !job.line_info {
        module.strip_debug_info();
    }
    items::in_code(module)?;
    let left = prune::Left::find(module, machine)?;
    left.prune(module);
    let mut kernels = describe(module, linked, &job.unit.version, &left);
    drop_unused_reporter(module)?;
    drop_dead(module, machine)?;
    let mut records = records::run(module)?;
    let roots: Vec<_> =
        linked.iter().map(|kernel| kernel.function).chain(PANIC_INTERFACE.iter().filter_map(|name| module.get_function(name))).collect();
    let locations = locations::run(module, &order::walk(&roots));
    // What only the old locations used.
    drop_dead(module, machine)?;
    canonicalise(module, &roots, &kernels, &records);
    records.extend(items::in_constants(module)?);
    records.sort_by(|(a, _), (b, _)| (&a.name, a.offset).cmp(&(&b.name, b.offset)));
    deliveries::run(module, linked, job.delivery, &mut kernels, &mut records)?;
    llvm::set_identity(module, &job.unit.crate_name);
    let source_kernels = linked.iter().map(|kernel| kernel.descriptor.place().to_string()).collect();
    let (records, source_records) = records.into_iter().unzip();
    let manifest = Manifest { schema: SCHEMA, unit: job.unit.clone(), kernels, records };
    validate::unit(module, &manifest)?;
    let bitcode = llvm::without_origin(module).map_err(Error::llvm(STAGE, "the finished unit"))?;
    let hash = hash(&manifest, &bitcode)?;
    Ok(Unit { bitcode, manifest, source_map: SourceMap { records: source_records, kernels: source_kernels, locations }, hash })
}

/// Names and orders everything anew; `roots` begin with the kernels.
fn canonicalise<'c>(module: &Module<'c>, roots: &[FunctionValue<'c>], kernels: &[Kernel], records: &[(Record, RecordSource)]) {
    for (function, kernel) in roots.iter().zip(kernels) {
        names::claim(module, Value::from(*function), &kernel.entry);
    }
    let mut order = order::walk(roots);
    let roots = roots.iter().map(|function| Value::from(*function).name());
    names::run(&order, roots.chain(records.iter().map(|(record, _)| record.name.clone())).collect());
    order::apply(module, &mut order);
}

fn hash(manifest: &Manifest, bitcode: &[u8]) -> Result<[u8; 32], Error> {
    let manifest = postcard::to_allocvec(manifest).map_err(|e| Error::broken(STAGE, format!("the manifest cannot be encoded: {e}")))?;
    Ok(Sha256::new().chain_update(manifest).chain_update(bitcode).finalize().into())
}

fn drop_dead(module: &Module, machine: &TargetMachine) -> Result<(), Error> {
    llvm::run_passes(module, "globaldce", machine).map_err(Error::llvm(STAGE, "globaldce"))
}

fn describe<'c>(module: &Module<'c>, kernels: &[LinkedKernel<'c>], version: &str, left: &prune::Left) -> Vec<Kernel> {
    let references = References::new(module);
    let describe = |kernel: &LinkedKernel<'c>| {
        let reached: HashSet<_> = references.from(kernel.function).order.iter().map(|function| Value::from(*function).name()).collect();
        let hash = fnv1a(format!("{}\u{1f}{version}", kernel.name).as_bytes()) as u32;
        Kernel {
            entry: format!("{}_{hash:08x}", readable(&kernel.descriptor.name)),
            name: kernel.name.clone(),
            params: kernel.descriptor.params.clone(),
            size: kernel.descriptor.size,
            align: kernel.descriptor.align,
            can_panic: left.panics(kernel.function.into()),
            cooperates: reached.contains(intrinsic::BLOCK_BARRIER),
            reads: Vec::new(),
            delivery: Delivery::Patch,
        }
    };
    kernels.iter().map(describe).collect()
}

/// A unit without panics does without the device library's reporter.
fn drop_unused_reporter(module: &Module) -> Result<(), Error> {
    let used = module.get_function(intrinsic::REPORT).is_some_and(|report| Value::from(report).is_used());
    for name in PANIC_INTERFACE {
        let Some(function) = module.get_function(name) else { continue };
        let defined = function.count_basic_blocks() != 0;
        if !used && defined {
            function.set_linkage(Linkage::Internal);
        } else if used && !defined {
            let what = format!("no crate of this unit defines `{name}`");
            return Err(Error::Refused { stage: STAGE, what, help: "let the package depend on relocgpu-runtime, of the same version" });
        }
    }
    Ok(())
}
