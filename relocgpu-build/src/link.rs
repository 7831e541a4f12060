//! Link: the kernels' reachable closure from the bitcode of the crate, its dependencies and the standard library.
//!
//! ```llvm
//! ; before: the crate's own module; each kernel instance is named by a call
//! call void @__relocgpu_kernel(ptr @entry, ptr @type_name, ptr @descriptor)
//! ; after: one module with all that the entries reach, the calls gone
//! define void @relocgpu.kernel.0(ptr %params) { … }
//! ```
//! A link takes only what is referred to by then. So what the device has of its own is put in place on the way: panics
//! and formatting before `core`, which would otherwise bring its own, arithmetic before the libraries that do it.

mod descriptor;
mod exports;
mod formatters;
mod libcalls;
mod markers;
pub(crate) mod panics;
mod rust_std;

use crate::error::{Error, Stage};
use crate::job::Job;
use crate::llvm;
use crate::step;
use crate::symbols::PANIC_INTERFACE;
use exports::Exports;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetMachine;
use inkwell::values::FunctionValue;
use relocgpu_runtime::contract::manifest::Param;
use relocgpu_runtime::contract::names::Place;
use std::path::Path;

const STAGE: Stage = Stage::Link;

const ONE_VERSION: &str = "use one version of relocgpu-build, relocgpu-macros and relocgpu-runtime";

/// One module with the kernels' closure.
pub(crate) struct Linked<'c> {
    /// The module.
    pub(crate) module: Module<'c>,
    /// Kernel instances, sorted by name.
    pub(crate) kernels: Vec<LinkedKernel<'c>>,
    /// Runs target-neutral passes.
    pub(crate) machine: TargetMachine,
}

/// One kernel instance.
#[derive(Clone)]
pub(crate) struct LinkedKernel<'c> {
    /// `void(ptr params)`.
    pub(crate) function: FunctionValue<'c>,
    /// What its descriptor says.
    pub(crate) descriptor: Descriptor,
    /// `module::path::function`, with `<…>` for an instance of a generic kernel.
    pub(crate) name: String,
}

/// A kernel's descriptor, read from the bitcode.
#[derive(Clone, Debug)]
pub(crate) struct Descriptor {
    /// `module::path::function`.
    pub(crate) name: String,
    /// Source file.
    pub(crate) file: String,
    /// Line of the kernel's name.
    pub(crate) line: u32,
    /// Column of the kernel's name.
    pub(crate) column: u32,
    /// How it wants its references delivered, as `contract::layout` numbers it.
    pub(crate) delivery: u32,
    /// Parameters in order.
    pub(crate) params: Vec<Param>,
    /// Bytes of the parameter block.
    pub(crate) size: u64,
    /// Alignment of the parameter block.
    pub(crate) align: u64,
}

impl Descriptor {
    /// Place of the kernel's name.
    pub(crate) fn place(&self) -> Place<'_> {
        Place { file: &self.file, line: self.line, column: self.column }
    }
}

/// Links a unit; `None` if it holds no kernel.
pub(crate) fn run<'c>(context: &'c Context, job: &Job) -> Result<Option<Linked<'c>>, Error> {
    step::begin(format!("linking {}", job.root.display()));
    let machine = llvm::host_machine().map_err(Error::llvm(STAGE, "the host's target"))?;
    let module =
        llvm::load(context, &read(&job.root)?, &job.root.to_string_lossy()).map_err(Error::llvm(STAGE, job.root.display().to_string()))?;
    let marked = markers::take(&module)?;
    if marked.is_empty() {
        return Ok(None);
    }
    let kept = markers::strip_to(&module, &marked);
    drop_dead(&module, &machine)?;
    let exports = link_crates(&module, &job.libraries)?;
    // What only the messages of panics refer to must not pull in `core::fmt`.
    panics::replace(&module);
    formatters::forget(&module);
    drop_dead(&module, &machine)?;
    exports.check(&module)?;
    rust_std::link(&module, &job.std)?;
    let kernels = markers::describe(&module, &marked)?;
    for function in PANIC_INTERFACE.iter().filter_map(|name| module.get_function(name)) {
        function.set_linkage(Linkage::External);
    }
    llvm::delete_global(kept);
    drop_dead(&module, &machine)?;
    Ok(Some(Linked { module, kernels, machine }))
}

/// Links the crates that the unit depends on; returns what they export.
fn link_crates(module: &Module, libraries: &[std::path::PathBuf]) -> Result<Exports, Error> {
    let mut exports = Exports::default();
    for path in libraries {
        step::begin(format!("linking {}", path.display()));
        link_prepared(module, &read(path)?, &path.to_string_lossy(), |library| exports.note(library, path))?;
    }
    // Which float functions they call is known only now, so the device library, which has them, is asked again.
    if libcalls::call_math(module) {
        libraries.iter().try_for_each(|path| link_in(module, &read(path)?, &path.to_string_lossy()))?;
    }
    Ok(exports)
}

fn link_in(module: &Module, bitcode: &[u8], name: &str) -> Result<(), Error> {
    link_prepared(module, bitcode, name, |_| ())
}

/// Links what `module` refers to, after `prepare` has seen the library.
fn link_prepared<'c>(module: &Module<'c>, bitcode: &[u8], name: &str, prepare: impl FnOnce(&Module<'c>)) -> Result<(), Error> {
    let library = llvm::load_lazily(module, bitcode, name).map_err(Error::llvm(STAGE, name))?;
    llvm::define_externals_once(&library);
    prepare(&library);
    llvm::link_lazily(module, library).map_err(Error::llvm(STAGE, name))
}

fn drop_dead(module: &Module, machine: &TargetMachine) -> Result<(), Error> {
    llvm::run_passes(module, "globaldce", machine).map_err(Error::llvm(STAGE, "globaldce"))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(Error::file("read", path))
}
