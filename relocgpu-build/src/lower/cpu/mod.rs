//! Native code: each kernel becomes a function that runs one block, in an object file for each level of CPU.
//!
//! The steps, each a file:
//!
//! | step | what it does |
//! |---|---|
//! | `prepare` | what steers another target goes, all but the entries is internal |
//! | `slots`, `shared` | where the loader's words and block-shared memory lie |
//! | `block` | the loops over a block's threads, as `template` writes them; for kernels that `waits` finds to wait, what runs one thread |
//! | `inline` | all that a body calls becomes part of it, where that is possible |
//! | `waits` | a barrier that is not in a kernel's own code by now is a fault |
//! | `nowrap`, `threads` | what is known of indices, and which thread runs each function |
//! | `phases` | kernels that wait: split at the barriers that `flow` finds, or left as coroutines; then the loops for them |
//! | `intrinsics` | bodies of the device library's declarations |
//! | `emit` | optimisation and object file, once for each level |

mod block;
mod emit;
mod flow;
mod inline;
mod intrinsics;
pub(crate) mod names;
mod nowrap;
mod phases;
mod prepare;
mod shared;
mod slots;
mod template;
#[cfg(test)]
mod tests;
mod threads;
mod waits;

use crate::deliver;
use crate::error::{Error, Stage, Stopped};
use crate::llvm;
use crate::relocate::Unit;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

const STAGE: Stage = Stage::LowerCpu;

/// Native code of one unit.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Native {
    /// Symbol of the slots, which the levels refer to and the image defines; hidden.
    pub(crate) slots: String,
    /// One object a level, levels rising.
    pub(crate) levels: Vec<NativeLevel>,
}

/// Native code for one level of CPU.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NativeLevel {
    /// LLVM's name of the target CPU.
    pub(crate) name: String,
    /// The object file.
    pub(crate) object: Vec<u8>,
    /// In manifest order.
    pub(crate) kernels: Vec<NativeKernel>,
    /// Symbol and byte offset of each interior record's word, in manifest order.
    pub(crate) interiors: Vec<(String, u64)>,
}

/// What an entry of the image's CPU table says of a kernel.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NativeKernel {
    /// Hidden symbol of the block function.
    pub(crate) symbol: String,
    /// Bytes that a thread keeps while it waits.
    pub(crate) frame_bytes: u64,
    /// Bytes of block-shared memory.
    pub(crate) shared_bytes: u64,
}

/// The module whose functions run blocks, the same for every level.
struct Shaped {
    bitcode: Vec<u8>,
    /// For each kernel, the bytes that a thread keeps while it waits; `None` if only LLVM can tell, later.
    frame_bytes: Vec<Option<u64>>,
    shared_bytes: u64,
    interiors: Vec<slots::Interior>,
}

/// Lowers a relocatable unit for each of `levels`.
pub(crate) fn run(unit: &Unit, levels: &[String]) -> Result<Native, Stopped> {
    let prefix = names::prefix(&unit.manifest.unit);
    let shaped = shape(&llvm::new_context(), unit, &prefix)?;
    let levels = std::thread::scope(|scope| {
        let (shaped, prefix) = (&shaped, &prefix);
        let running: Vec<_> = levels.iter().map(|level| scope.spawn(move || emit::run(shaped, prefix, level))).collect();
        running.into_iter().map(|level| level.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect::<Result<_, _>>()
    })?;
    Ok(Native { slots: names::slots(&prefix), levels })
}

fn shape(context: &Context, unit: &Unit, prefix: &str) -> Result<Shaped, Stopped> {
    let Unit { bitcode, manifest, source_map, .. } = unit;
    let module = llvm::load(context, bitcode, "unit").map_err(Error::llvm(STAGE, "the unit"))?;
    deliver::run(context, &module, unit, false)?;
    prepare::run(&module, &manifest.kernels.iter().map(|k| k.entry.as_str()).collect());
    let interiors = slots::run(&module, manifest, prefix)?;
    let shared_bytes = shared::run(&module)?;

    let (reaching, mut waiting, mut keep) = (waits::reaching_barrier(&module), Vec::new(), HashSet::new());
    for (index, kernel) in manifest.kernels.iter().enumerate() {
        let entry = module
            .get_function(&kernel.entry)
            .ok_or_else(|| Error::broken(STAGE, format!("kernel `{}` has no entry `{}`", kernel.name, kernel.entry)))?;
        waiting.push(block::run(&module, index, entry, reaching.contains(&entry))?);
        let made = [names::BLOCK, names::THREAD, names::PHASES].map(|prefix| format!("{prefix}{index}"));
        keep.extend(made.iter().chain([&names::run(index)]).filter_map(|name| module.get_function(name)));
    }

    let machine = llvm::host_machine().map_err(Error::llvm(STAGE, "the host's target"))?;
    let inline = || llvm::run_passes(&module, "always-inline,globaldce", &machine).map_err(Error::llvm(STAGE, "inlining"));
    inline::mark(&module, &keep, waits::barrier(&module));
    inline()?;
    waits::check(&module, manifest, source_map).map_err(Stopped::Faults)?;
    module.strip_debug_info();
    nowrap::run(&module, &machine)?;
    threads::run(&module);
    let mut frame_bytes = Vec::new();
    for waiting in &waiting {
        frame_bytes.push(match waiting {
            Some(waiting) => block::finish(&module, waiting, &machine)?,
            None => Some(0),
        });
    }
    let threads = (0..waiting.len()).flat_map(|index| [names::THREAD, names::PHASES].map(|prefix| format!("{prefix}{index}")));
    internal(&module, threads);
    llvm::run_passes(&module, "globaldce", &machine).map_err(Error::llvm(STAGE, "globaldce"))?;
    llvm::link_text(&module, &intrinsics::text()).map_err(Error::llvm(STAGE, "the device intrinsics"))?;
    internal(&module, intrinsics::names().map(str::to_owned));
    inline()?;
    module.verify().map_err(|e| Error::llvm(STAGE, "the shaped module")(e.to_string()))?;
    Ok(Shaped { bitcode: llvm::write_bitcode(&module), frame_bytes, shared_bytes, interiors })
}

/// Hides the functions of these names that have a body.
fn internal(module: &Module, names: impl Iterator<Item = String>) {
    let functions = names.filter_map(|name| module.get_function(&name)).filter(|f| f.count_basic_blocks() > 0);
    functions.for_each(|f| f.set_linkage(Linkage::Internal));
}
