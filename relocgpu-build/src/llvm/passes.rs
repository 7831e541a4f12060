//! LLVM's pass manager.

use super::take_errors;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use inkwell::values::FunctionValue;

/// Runs a pipeline in the syntax of `opt -passes=`.
pub(crate) fn run_passes(module: &Module, pipeline: &str, machine: &TargetMachine) -> Result<(), String> {
    let options = PassBuilderOptions::create();
    let result = module.run_passes(pipeline, machine, options);
    match (result, take_errors()) {
        (_, Some(message)) => Err(message),
        (Err(message), None) => Err(message.to_string()),
        (Ok(()), None) => Ok(()),
    }
}

/// Runs a pipeline of function passes on one function.
pub(crate) fn run_function_passes(function: FunctionValue, pipeline: &str, machine: &TargetMachine) -> Result<(), String> {
    let options = PassBuilderOptions::create();
    let result = function.run_passes(pipeline, machine, options);
    match (result, take_errors()) {
        (_, Some(message)) => Err(message),
        (Err(message), None) => Err(message.to_string()),
        (Ok(()), None) => Ok(()),
    }
}
