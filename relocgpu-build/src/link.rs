//! Link: the kernels' reachable closure from the bitcode of the crate, its dependencies and the standard library.
//!
//! ```llvm
//! ; before: the crate's own module; each kernel instance is named by a call
//! call void @__relocgpu_kernel(ptr @entry, ptr @type_name, ptr @descriptor)
//! ; after: one module with all that the entries reach, the calls gone
//! define void @relocgpu.kernel.0(ptr %params) { … }
//! ```

mod archive;
mod descriptor;

use crate::job::Job;
use crate::llvm::{self, Value};
use crate::normalise::{formatters, libcalls, panics};
use crate::stage_error::StageError;
use crate::symbols::{PANIC_INTERFACE, is_ours};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetMachine;
use inkwell::values::{AsValueRef, FunctionValue};
use relocgpu_runtime::contract::manifest::Param;
use relocgpu_runtime::contract::names::{Place, intrinsic};
use std::collections::{HashMap, HashSet};
use std::path::Path;

const STAGE: &str = "link";

/// Name of a global that holds what must survive until the descriptors are read.
const KEEP: &str = "relocgpu.keep";

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
pub(crate) fn run<'c>(context: &'c Context, job: &Job) -> Result<Option<Linked<'c>>, StageError> {
    let machine = llvm::host_machine().map_err(StageError::llvm(STAGE, "the host's target"))?;
    let module = llvm::load(context, &read(&job.root)?, &job.root.to_string_lossy())
        .map_err(StageError::llvm(STAGE, job.root.display().to_string()))?;
    let marked = take_markers(&module)?;
    if marked.is_empty() {
        return Ok(None);
    }
    strip_to(context, &module, &marked, &machine)?;
    for path in &job.libraries {
        llvm::doing(format!("linking {}", path.display()));
        link_in(context, &module, &read(path)?, &path.to_string_lossy())?;
    }
    // The crates of a unit may call float functions only once they are there, so the device library is asked again.
    if libcalls::call_math(&module) {
        for path in &job.libraries {
            link_in(context, &module, &read(path)?, &path.to_string_lossy())?;
        }
    }
    // Formatting is never done on the device: what only panic messages refer to must not pull in `core::fmt`.
    formatters::forget(&module);
    drop_dead(&module, &machine)?;
    link_std(context, &module, &job.std)?;
    let kernels = read_kernels(&module, &marked)?;
    // Lowering calls them where nothing does yet.
    for name in PANIC_INTERFACE {
        if let Some(function) = module.get_function(name) {
            function.set_linkage(Linkage::External);
        }
    }
    if let Some(keep) = module.get_global(KEEP) {
        llvm::delete_global(keep);
    }
    drop_dead(&module, &machine)?;
    Ok(Some(Linked { module, kernels, machine }))
}

/// A kernel as its marker names it. Values belong to the module.
struct Marked<'c> {
    entry: FunctionValue<'c>,
    type_name: Value<'c>,
    descriptor: Value<'c>,
}

/// Takes the marker calls out of the unit's own module.
fn take_markers<'c>(module: &Module<'c>) -> Result<Vec<Marked<'c>>, StageError> {
    let Some(marker) = module.get_function(intrinsic::KERNEL) else { return Ok(Vec::new()) };
    let mut marked: Vec<Marked<'c>> = Vec::new();
    for call in Value::from(marker).users() {
        let not_constant = || StageError::unit(STAGE, format!("a kernel's marker is not as `#[gpu_kernel]` writes it: {call:?}"));
        let arguments = if call.is_call() { call.arguments() } else { return Err(not_constant()) };
        let [entry, type_name, descriptor] = arguments[..] else { return Err(not_constant()) };
        let entry = entry.as_function().ok_or_else(not_constant)?;
        if !type_name.is_global_value() || !descriptor.is_constant() {
            return Err(not_constant());
        }
        if marked.iter().all(|m| m.entry != entry) {
            marked.push(Marked { entry, type_name, descriptor });
        }
        call.erase();
    }
    Ok(marked)
}

/// Leaves of the unit's own module what its kernels reach.
fn strip_to<'c>(context: &'c Context, module: &Module<'c>, marked: &[Marked<'c>], machine: &TargetMachine) -> Result<(), StageError> {
    for name in ["llvm.used", "llvm.compiler.used", "llvm.global_ctors", "llvm.global_dtors"] {
        if let Some(list) = module.get_global(name) {
            llvm::delete_global(list);
        }
    }
    llvm::define_externals_once(module);
    for (number, kernel) in marked.iter().enumerate() {
        kernel.entry.set_linkage(Linkage::External);
        Value::from(kernel.entry).set_name(&format!("relocgpu.kernel.{number}"));
    }
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let word = context.i64_type();
    let report = context
        .void_type()
        .fn_type(&[context.i32_type().into(), word.into(), word.into(), word.into(), pointer.into(), word.into(), word.into()], false);
    let store = context.void_type().fn_type(&[pointer.into(), pointer.into(), pointer.into()], false);
    let declare = |name: &str, ty| module.get_function(name).unwrap_or_else(|| module.add_function(name, ty, None));
    let runtime = [declare(intrinsic::REPORT, report), declare(intrinsic::STORE_RECORD, store)].map(Value::from);
    let kept: Vec<_> = marked.iter().flat_map(|m| [m.type_name, m.descriptor]).chain(runtime).filter_map(Value::as_basic).collect();
    let kept: Vec<_> = kept.into_iter().map(|value| value.into_pointer_value()).collect();
    let list = llvm::add_global(module, pointer.array_type(kept.len() as u32).into(), 0, KEEP);
    list.set_initializer(&pointer.const_array(&kept));
    drop_dead(module, machine)
}

fn drop_dead(module: &Module, machine: &TargetMachine) -> Result<(), StageError> {
    llvm::run_passes(module, "globaldce", machine).map_err(StageError::llvm(STAGE, "globaldce"))
}

fn link_in<'c>(context: &'c Context, module: &Module<'c>, bitcode: &[u8], name: &str) -> Result<(), StageError> {
    let library = llvm::load_lazily(context, bitcode, name).map_err(StageError::llvm(STAGE, name))?;
    llvm::define_externals_once(&library);
    llvm::link_lazily(module, library).map_err(StageError::llvm(STAGE, name))
}

/// Links `alloc`, `core` and what is needed of `compiler_builtins`.
fn link_std<'c>(context: &'c Context, module: &Module<'c>, archives: &[std::path::PathBuf]) -> Result<(), StageError> {
    let mut builtins = Vec::new();
    for path in archives {
        llvm::doing(format!("linking {}", path.display()));
        let name = path.to_string_lossy();
        let members = archive::members(path)?;
        if path.file_name().is_some_and(|file| file.to_string_lossy().contains("compiler_builtins")) {
            builtins.extend(members);
            continue;
        }
        for member in members {
            let library = llvm::load_lazily(context, &member, &name).map_err(StageError::llvm(STAGE, name.clone()))?;
            llvm::define_externals_once(&library);
            panics::define_before(module, &library);
            llvm::link_lazily(module, library).map_err(StageError::llvm(STAGE, name.clone()))?;
        }
    }
    libcalls::call_builtins(module);
    link_builtins(context, module, builtins)
}

/// Links members until nothing new is needed: one may need another.
///
/// Their own bitcode tells what they define: small helpers are shared between members there, and no longer in their
/// native symbols.
fn link_builtins<'c>(context: &'c Context, module: &Module<'c>, members: Vec<Vec<u8>>) -> Result<(), StageError> {
    const NAME: &str = "compiler_builtins";
    let mut defined: HashMap<String, usize> = HashMap::new();
    let mut tried = HashSet::new();
    loop {
        let wanted = llvm::functions(module).into_iter().filter(|f| is_undefined(*f) && f.get_intrinsic_id() == 0);
        let wanted: Vec<_> = wanted.map(|f| Value::from(f).name()).filter(|name| !is_ours(name)).collect();
        if !wanted.is_empty() && defined.is_empty() {
            for (number, bitcode) in members.iter().enumerate() {
                let member = llvm::load_lazily(context, bitcode, NAME).map_err(StageError::llvm(STAGE, NAME))?;
                defined.extend(llvm::external_definitions(&member).into_iter().map(|name| (name, number)));
            }
        }
        let found = wanted.into_iter().filter(|name| tried.insert(name.clone())).find_map(|name| defined.get(&name).copied());
        // A link takes only what is referred to by then, so a member may be linked again.
        let Some(number) = found else { return Ok(()) };
        link_in(context, module, &members[number], NAME)?;
    }
}

fn is_undefined(function: FunctionValue) -> bool {
    function.count_basic_blocks() == 0 && Value::from(function).is_used()
}

fn read_kernels<'c>(module: &Module<'c>, marked: &[Marked<'c>]) -> Result<Vec<LinkedKernel<'c>>, StageError> {
    let reader = descriptor::Reader::new(module);
    let mut kernels = Vec::with_capacity(marked.len());
    for kernel in marked {
        let descriptor = reader.kernel(kernel.descriptor)?;
        let name = format!("{}{}", descriptor.name, reader.instance(kernel.type_name)?);
        if kernel.entry.get_type().count_param_types() != 1 {
            return Err(StageError::unit(
                STAGE,
                format!("the entry of `{name}` does not take one pointer: {:?}", kernel.entry.as_value_ref()),
            ));
        }
        kernels.push(LinkedKernel { function: kernel.entry, descriptor, name });
    }
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = kernels.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(StageError::unit(
            STAGE,
            format!("two different kernel instances are both named `{}`; give the types they differ in names of their own", pair[0].name),
        ));
    }
    Ok(kernels)
}

fn read(path: &Path) -> Result<Vec<u8>, StageError> {
    std::fs::read(path).map_err(|source| StageError::File { path: path.into(), source })
}
