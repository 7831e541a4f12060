//! What belongs to the host's CPU, its linker and its unwinder is dropped.
//!
//! ```llvm
//! define linkonce_odr hidden fastcc void @f() #0 comdat personality ptr @rust_eh_personality   ; #0 = { uwtable "target-cpu"="x86-64" … }
//! define internal void @f() nounwind
//! ```

use crate::link::LinkedKernel;
use crate::llvm::{self, Value};
use crate::symbols::{PANIC_INTERFACE, is_shared};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::{Linkage, Module};
use inkwell::values::AnyValue;

/// Function attributes that say something about the code and not about the host.
const KEPT: &[&str] = &[
    "alwaysinline",
    "cold",
    "convergent",
    "inlinehint",
    "memory",
    "mustprogress",
    "nocallback",
    "nofree",
    "noinline",
    "norecurse",
    "noreturn",
    "nosync",
    "nounwind",
    "speculatable",
    "willreturn",
];

/// The same of calls. A call's own `noinline` would outlive the function's, which lowering decides on.
const KEPT_ON_CALLS: &[&str] = &["cold", "convergent", "memory", "nofree", "noreturn", "nosync", "nounwind", "willreturn"];

/// Runs the pass. Kernels stay external, as does the panic interface.
pub(super) fn run<'c>(module: &Module<'c>, kernels: &[LinkedKernel<'c>]) {
    llvm::replace_aliases(module);
    for function in llvm::functions(module) {
        if function.get_intrinsic_id() != 0 {
            continue;
        }
        llvm::clear_function_attributes(function, KEPT);
        llvm::add_attribute(function, llvm::Place::Function, "nounwind");
        function.set_call_conventions(0);
        llvm::clear_placement(function);
        if function.count_basic_blocks() == 0 {
            function.set_linkage(Linkage::External);
            continue;
        }
        for instruction in llvm::instructions(function) {
            normalise_instruction(module, instruction);
        }
        llvm::clear_personality(function);
        let name = Value::from(function).name();
        let external = kernels.iter().any(|kernel| kernel.function == function) || PANIC_INTERFACE.contains(&name.as_str());
        function.set_linkage(if external { Linkage::External } else { Linkage::Internal });
    }
    for global in llvm::globals(module) {
        if !is_shared(global) {
            global.set_section(None);
        }
        llvm::clear_comdat(global);
        global.set_linkage(if global.get_initializer().is_some() { Linkage::Internal } else { Linkage::External });
    }
    if let Some(personality) = module.get_function("rust_eh_personality").filter(|f| !Value::from(*f).is_used()) {
        llvm::delete_function(personality);
    }
}

fn normalise_instruction<'c>(module: &Module<'c>, instruction: Value<'c>) {
    if instruction.is_call() {
        if instruction.called_function().is_none_or(|f| f.get_intrinsic_id() == 0) {
            llvm::clear_call_attributes(instruction, KEPT_ON_CALLS);
            llvm::clear_call_convention(instruction);
        }
    } else if matches!(instruction.opcode(), Some(LLVMOpcode::LLVMResume)) {
        // Nothing unwinds: the blocks before it are dead, but the verifier wants a personality for it.
        let builder = module.get_context().create_builder();
        if let Some(at) = instruction.as_instruction() {
            builder.position_before(&at);
            let unreachable = builder.build_unreachable().map(|i| i.as_any_value_enum());
            debug_assert!(unreachable.is_ok());
            instruction.erase();
        }
    }
}
