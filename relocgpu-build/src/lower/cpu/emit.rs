//! One level's object file.

use super::slots::Interior;
use super::{NativeKernel, NativeLevel, STAGE, Shaped, names};
use crate::error::Error;
use crate::llvm::{self, Value};
use inkwell::GlobalVisibility;
use inkwell::attributes::AttributeLoc;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;

/// The optimisation. A first pipeline that simplifies without vectorising or unrolling; then the loops over threads are
/// split into the range where no bounds check can fail and the rest; then everything else. Without the split a loop
/// with a panicking index is not vectorised, and after a full first pipeline its shape is no longer recognised.
pub(super) const PASSES: &str = "thinlto-pre-link<O3>,function(loop-simplify,lcssa,irce),default<O3>,globaldce";

/// Compiles the shaped module for one target CPU.
pub(super) fn run(shaped: &Shaped, prefix: &str, level: &str) -> Result<NativeLevel, Error> {
    let refused = |what: &str| Error::llvm(STAGE, format!("{what} for {level}"));
    let context = llvm::new_context();
    let module = llvm::load(&context, &shaped.bitcode, level).map_err(refused("the shaped module"))?;
    let triple = module.get_triple();
    let machine = llvm::machine(&triple.as_str().to_string_lossy(), level, "").map_err(refused("the target"))?;

    let symbol = |rest: &str| names::of_level(prefix, level, rest);
    for index in 0..shaped.frame_bytes.len() {
        let run = module.get_function(&names::run(index)).ok_or_else(|| Error::broken(STAGE, format!("block function {index} is lost")))?;
        run.as_global_value().set_visibility(GlobalVisibility::Hidden);
        Value::from(run).set_name(&symbol(&names::run(index)));
    }
    let interiors = shaped.interiors.iter().map(|i| Interior { symbol: symbol(&i.symbol), offset: i.offset }).collect::<Vec<_>>();
    for (old, new) in shaped.interiors.iter().zip(&interiors) {
        if let Some(site) = module.get_global(&old.symbol) {
            Value::from(site).set_name(&new.symbol);
        }
    }

    // A frame larger than the pages that guard the stack must not jump over them.
    let probe = context.create_string_attribute("probe-stack", "inline-asm");
    llvm::functions(&module)
        .into_iter()
        .filter(|f| f.count_basic_blocks() > 0)
        .for_each(|f| f.add_attribute(AttributeLoc::Function, probe));

    llvm::run_passes(&module, PASSES, &machine).map_err(refused("optimisation"))?;
    let kernels = (shaped.frame_bytes.iter().enumerate())
        .map(|(index, known)| {
            Ok(NativeKernel {
                symbol: symbol(&names::run(index)),
                frame_bytes: known.map_or_else(|| frame_bytes(&module, index), Ok)?,
                shared_bytes: shaped.shared_bytes,
            })
        })
        .collect::<Result<_, Error>>()?;
    llvm::run_passes(&module, "globaldce", &machine).map_err(refused("globaldce"))?;
    let object = llvm::object(&module, &machine).map_err(refused("the object file"))?;
    Ok(NativeLevel { name: level.into(), object, kernels, interiors: interiors.into_iter().map(|i| (i.symbol, i.offset)).collect() })
}

/// The size of a coroutine's frame, which LLVM knows only now: it is the constant that the coroutine stores to its global.
fn frame_bytes(module: &Module, index: usize) -> Result<u64, Error> {
    let Some(global) = module.get_global(&format!("{}{index}", names::FRAME_BYTES)) else { return Ok(0) };
    let mut bytes = 0;
    for user in Value::from(global).users() {
        let stored = (user.opcode() == Some(LLVMOpcode::LLVMStore)).then(|| user.operands()[0].as_u64()).flatten();
        bytes = stored
            .filter(|b| bytes == 0 || bytes == *b)
            .ok_or_else(|| Error::broken(STAGE, format!("the frame size of kernel {index} is no constant: {user:?}")))?;
        user.erase();
    }
    llvm::delete_global(global);
    Ok(bytes)
}
