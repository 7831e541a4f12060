//! Relocate: from a linked, normalised module to a frozen unit.

mod locations;
mod names;
mod order;
mod prune;
mod records;

use crate::job::Job;
use crate::link::{Linked, LinkedKernel};
use crate::llvm::{self, Value};
use crate::normalise::reach::References;
use crate::stage_error::StageError;
use crate::symbols::PANIC_INTERFACE;
use crate::validate;
use inkwell::module::{Linkage, Module};
use relocgpu_runtime::contract::SCHEMA;
use relocgpu_runtime::contract::manifest::{Kernel, Manifest, SourceMap};
use relocgpu_runtime::contract::names::{fnv1a, intrinsic, sanitise};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

const STAGE: &str = "relocate";

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
/// | C library | declarations of `memcmp`, `bcmp`, `strlen`, `memcpy`, `memmove`, `memset` where something calls them, and LLVM's intrinsics |
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

/// Freezes a normalised module.
pub(crate) fn run(linked: &Linked, job: &Job) -> Result<Unit, StageError> {
    let module = &linked.module;
    if !job.line_info {
        module.strip_debug_info();
    }
    let left = prune::Left::find(module, &linked.machine)?;
    left.prune(module);
    let kernels = describe(module, &linked.kernels, &job.unit.version, &left);
    drop_unused_reporter(linked)?;
    let records = records::run(module)?;
    let external = PANIC_INTERFACE.into_iter().filter_map(|name| module.get_function(name));
    let roots: Vec<_> = linked.kernels.iter().map(|kernel| kernel.function).chain(external).collect();
    let mut order = order::walk(&roots);
    let locations = locations::run(module, &order);
    // What only the old locations used is gone now.
    llvm::run_passes(module, "globaldce", &linked.machine).map_err(StageError::llvm(STAGE, "globaldce"))?;
    order = order::walk(&roots);
    for (kernel, linked) in kernels.iter().zip(&linked.kernels) {
        Value::from(linked.function).set_name(&kernel.entry);
    }
    let mut taken: HashSet<String> = roots.iter().map(|function| Value::from(*function).name()).collect();
    taken.extend(records.iter().map(|(record, _)| record.name.clone()));
    names::run(&order, taken);
    order::apply(module, &mut order);
    llvm::set_identity(module, &job.unit.crate_name);
    let places = linked.kernels.iter().map(|k| k.descriptor.place().to_string()).collect();
    let (records, sources) = records.into_iter().unzip();
    let manifest = Manifest { schema: SCHEMA, unit: job.unit.clone(), kernels, records };
    validate::unit(module, &manifest)?;
    let bitcode = freeze(module)?;
    let mut hash = Sha256::new();
    hash.update(postcard::to_allocvec(&manifest).map_err(|e| StageError::unit(STAGE, format!("the manifest cannot be encoded: {e}")))?);
    hash.update(&bitcode);
    Ok(Unit { bitcode, manifest, source_map: SourceMap { records: sources, kernels: places, locations }, hash: hash.finalize().into() })
}

fn describe<'c>(module: &Module<'c>, kernels: &[LinkedKernel<'c>], version: &str, left: &prune::Left) -> Vec<Kernel> {
    let references = References::new(module);
    let describe = |kernel: &LinkedKernel<'c>| {
        let reached: HashSet<_> = references.from(kernel.function).order.iter().map(|function| Value::from(*function).name()).collect();
        let hash = fnv1a(format!("{}\u{1f}{version}", kernel.name).as_bytes()) as u32;
        Kernel {
            entry: format!("{}_{hash:08x}", sanitise(&kernel.descriptor.name)),
            name: kernel.name.clone(),
            params: kernel.descriptor.params.clone(),
            size: kernel.descriptor.size,
            align: kernel.descriptor.align,
            can_panic: left.panics(kernel.function.into()),
            cooperates: reached.contains(intrinsic::BLOCK_BARRIER),
        }
    };
    kernels.iter().map(describe).collect()
}

/// A unit without panics does without the device library's reporter.
fn drop_unused_reporter(linked: &Linked) -> Result<(), StageError> {
    let used = linked.module.get_function(intrinsic::REPORT).is_some_and(|report| Value::from(report).is_used());
    for name in PANIC_INTERFACE {
        let Some(function) = linked.module.get_function(name) else { continue };
        let defined = function.count_basic_blocks() != 0;
        if !used && defined {
            function.set_linkage(Linkage::Internal);
        } else if used && !defined {
            let message = format!("no crate of this unit defines `{name}`; does the package depend on relocgpu-runtime?");
            return Err(StageError::unit(STAGE, message));
        }
    }
    llvm::run_passes(&linked.module, "globaldce", &linked.machine).map_err(StageError::llvm(STAGE, "globaldce"))
}

/// The module's bytes, without what tells of how it was made.
fn freeze(module: &Module) -> Result<Vec<u8>, StageError> {
    llvm::without_origin(module).map_err(StageError::llvm(STAGE, "the finished unit"))
}
