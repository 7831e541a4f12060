//! Which functions wait at a barrier, and whether each wait is where a thread can be suspended.

use super::inline::CallGraph;
use super::names;
use crate::llvm::{self, Value};
use crate::symbols::path_of;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use relocgpu_runtime::contract::manifest::{KernelFault, Manifest, SourceMap};
use relocgpu_runtime::contract::names::Place;
use relocgpu_runtime::contract::names::intrinsic::BLOCK_BARRIER;
use std::collections::HashSet;

/// The barrier's declaration.
pub(super) fn barrier<'c>(module: &Module<'c>) -> Option<FunctionValue<'c>> {
    module.get_function(BLOCK_BARRIER)
}

/// Every function that calls the barrier by name, directly or not.
pub(super) fn reaching_barrier<'c>(module: &Module<'c>) -> HashSet<FunctionValue<'c>> {
    CallGraph::of(module).reaching(barrier(module))
}

/// After inlining: a barrier left outside the coroutines is a fault of each kernel that comes to it.
pub(super) fn check(module: &Module, manifest: &Manifest, source_map: &SourceMap) -> Result<(), Vec<KernelFault>> {
    let Some(barrier) = barrier(module) else { return Ok(()) };
    let graph = CallGraph::of(module);
    let mut faults = Vec::new();
    for call in Value::from(barrier).users().into_iter().filter(|user| user.is_call()) {
        let Some(holder) = call.function() else { continue };
        let holder_name = Value::from(holder).name();
        if holder_name.starts_with(names::THREAD) || holder_name.starts_with(names::PHASES) {
            continue;
        }
        let reaches = |index: usize| {
            let starts = [names::run(index), format!("{}{index}", names::THREAD), format!("{}{index}", names::BLOCK)];
            starts.iter().filter_map(|name| module.get_function(name)).any(|start| graph.reach(start).contains(&holder))
        };
        let mut kernels: Vec<usize> = (0..manifest.kernels.len()).filter(|index| reaches(*index)).collect();
        let by_name = !kernels.is_empty();
        if !by_name {
            // Reached through a pointer only: from which kernel cannot be told.
            kernels = (0..manifest.kernels.len()).collect();
        }
        let place = llvm::location_of(call).last().map(|frame| format!(" ({frame})")).unwrap_or_default();
        let holder_name = path_of(&holder_name);
        let why = if by_name { "calls itself" } else { "is called through a pointer (`dyn` or `fn`)" };
        for index in kernels {
            let message = format!(
                "the block barrier in `{holder_name}`{place} cannot be waited for: `{holder_name}` {why}, so it is not part of the kernel's own code. \
                 Call the barrier from the kernel, or from functions that are called by name and do not call themselves"
            );
            faults.push(fault(manifest, source_map, index, message));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// A fault at the place of a kernel.
fn fault(manifest: &Manifest, source_map: &SourceMap, index: usize, message: String) -> KernelFault {
    let place = source_map.kernels.get(index).and_then(|text| Place::parse(text));
    let name = &manifest.kernels[index].name;
    KernelFault {
        // An instance's name ends with its arguments, which the descriptor lacks.
        kernel: name.split('<').next().unwrap_or(name).into(),
        file: place.map_or("", |place| place.file).into(),
        line: place.map_or(0, |place| place.line),
        message,
    }
}
