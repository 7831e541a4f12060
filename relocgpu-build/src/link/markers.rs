//! The calls by which `#[gpu_kernel]` names each kernel instance to the link stage.

use super::descriptor::Reader;
use super::{LinkedKernel, ONE_VERSION, STAGE};
use crate::error::Error;
use crate::llvm::{self, Value};
use inkwell::AddressSpace;
use inkwell::module::{Linkage, Module};
use inkwell::values::{FunctionValue, GlobalValue};
use relocgpu_runtime::contract::names::intrinsic;

/// A kernel as its marker names it.
pub(super) struct Marked<'c> {
    entry: FunctionValue<'c>,
    type_name: Value<'c>,
    descriptor: Value<'c>,
}

/// Takes the marker calls out of the unit's own module.
pub(super) fn take<'c>(module: &Module<'c>) -> Result<Vec<Marked<'c>>, Error> {
    let Some(marker) = module.get_function(intrinsic::KERNEL) else { return Ok(Vec::new()) };
    let mut marked: Vec<Marked<'c>> = Vec::new();
    for call in Value::from(marker).users() {
        let kernel = read(call).ok_or_else(|| Error::Refused {
            stage: STAGE,
            what: format!("a kernel's marker is not as `#[gpu_kernel]` writes it: {call:?}"),
            help: ONE_VERSION,
        })?;
        if marked.iter().all(|m| m.entry != kernel.entry) {
            marked.push(kernel);
        }
        call.erase();
    }
    Ok(marked)
}

fn read(call: Value) -> Option<Marked> {
    let [entry, type_name, descriptor] = call.is_call().then(|| call.arguments())?[..] else { return None };
    let are_constants = type_name.is_global_value() && descriptor.is_constant();
    are_constants.then_some(Marked { entry: entry.as_function()?, type_name, descriptor })
}

/// Makes all but the kernels droppable. The global that is returned keeps what [`describe`] reads, and the panic
/// interface, which nothing calls yet.
pub(super) fn strip_to<'c>(module: &Module<'c>, marked: &[Marked<'c>]) -> GlobalValue<'c> {
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
    let pointer = module.get_context().ptr_type(AddressSpace::default());
    let kept: Vec<_> = marked.iter().flat_map(|m| [m.type_name, m.descriptor]).chain(panic_interface(module)).collect();
    let kept: Vec<_> = kept.into_iter().filter_map(Value::as_basic).map(|value| value.into_pointer_value()).collect();
    let list = llvm::add_global(module, pointer.array_type(kept.len() as u32).into(), 0, "relocgpu.keep");
    list.set_initializer(&pointer.const_array(&kept));
    list
}

/// The functions of [`PANIC_INTERFACE`](crate::symbols::PANIC_INTERFACE), declared with the types that the contract says.
fn panic_interface<'c>(module: &Module<'c>) -> [Value<'c>; 2] {
    let context = module.get_context();
    let (kind, word, pointer) = (context.i32_type().into(), context.i64_type().into(), context.ptr_type(AddressSpace::default()).into());
    let report = context.void_type().fn_type(&[kind, word, word, word, pointer, word, word], false);
    let store = context.void_type().fn_type(&[pointer; 3], false);
    let declare = |name: &str, ty| module.get_function(name).unwrap_or_else(|| module.add_function(name, ty, None)).into();
    [declare(intrinsic::REPORT, report), declare(intrinsic::STORE_RECORD, store)]
}

/// Reads what the macro says of each kernel; sorted by name.
pub(super) fn describe<'c>(module: &Module<'c>, marked: &[Marked<'c>]) -> Result<Vec<LinkedKernel<'c>>, Error> {
    let reader = Reader::new(module);
    let mut kernels = Vec::with_capacity(marked.len());
    for kernel in marked {
        let descriptor = reader.kernel(kernel.descriptor)?;
        let name = format!("{}{}", descriptor.name, reader.instance(kernel.type_name)?);
        if kernel.entry.get_type().count_param_types() != 1 {
            return Err(Error::broken(STAGE, format!("the entry of `{name}` does not take one pointer: {:?}", kernel.entry)));
        }
        kernels.push(LinkedKernel { function: kernel.entry, descriptor, name });
    }
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    let Some(pair) = kernels.windows(2).find(|pair| pair[0].name == pair[1].name) else { return Ok(kernels) };
    let [one, other] = [0, 1].map(|n| {
        let at = pair[n].descriptor.place();
        format!("{}:{}:{}", at.file, at.line, at.column)
    });
    let help = if one == other { "give the types that they differ in names of their own" } else { "rename one of them" };
    Err(Error::Refused { stage: STAGE, what: format!("two kernels are both named `{}`, at {one} and {other}", pair[0].name), help })
}
