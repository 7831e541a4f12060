//! Bodies for what the device library only declares.
//!
//! Each is `convergent`: a barrier in a helper that is inlined later is copied before anybody sees what is in it.

use super::STAGE;
use crate::error::Error;
use crate::llvm;
use inkwell::module::Module;
use relocgpu_runtime::contract::names::{intrinsic, ptx};

/// Runs the pass: only what is declared gets a body.
pub(super) fn run(module: &Module) -> Result<(), Error> {
    let mut bodies: Vec<(&str, String)> = Vec::new();
    for (names, register) in
        [(intrinsic::THREAD_IDX, "tid"), (intrinsic::BLOCK_IDX, "ctaid"), (intrinsic::BLOCK_DIM, "ntid"), (intrinsic::GRID_DIM, "nctaid")]
    {
        bodies.extend(names.into_iter().zip(["x", "y", "z"]).map(|(name, axis)| (name, special_register(name, register, axis))));
    }
    bodies.push((intrinsic::BLOCK_BARRIER, barrier()));
    bodies.push((intrinsic::THREAD_END, thread_end()));
    bodies.push((intrinsic::PANIC, panic()));
    for (name, body) in bodies {
        if module.get_function(name).is_some_and(|function| function.count_basic_blocks() == 0) {
            llvm::link_text(module, &body).map_err(Error::llvm(STAGE, name))?;
        }
    }
    Ok(())
}

fn special_register(name: &str, register: &str, axis: &str) -> String {
    format!(
        "declare i32 @llvm.nvvm.read.ptx.sreg.{register}.{axis}()
define i32 @{name}() alwaysinline nounwind {{
  %value = call i32 @llvm.nvvm.read.ptx.sreg.{register}.{axis}()
  ret i32 %value
}}
"
    )
}

/// Threads that have ended are not waited for, so the answer is always to go on.
fn barrier() -> String {
    format!(
        "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define i32 @{}() alwaysinline convergent nounwind {{
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) convergent
  ret i32 0
}}
",
        intrinsic::BLOCK_BARRIER
    )
}

fn thread_end() -> String {
    format!(
        "declare void @llvm.nvvm.exit()
define void @{}() alwaysinline convergent noreturn nounwind {{
  call void @llvm.nvvm.exit()
  unreachable
}}
",
        intrinsic::THREAD_END
    )
}

/// The record lies in host memory, and its address is in a global that the loader has filled.
fn panic() -> String {
    let (claim, record) = (ptx::PANIC_CLAIM, ptx::PANIC_RECORD);
    format!(
        "@{claim} = addrspace(1) externally_initialized global i32 0, align 4
@{record} = addrspace(1) externally_initialized global i64 0, align 8
declare void @llvm.nvvm.exit()
declare void @{store}(ptr, ptr, ptr)
define void @{panic}(ptr %report) cold convergent noinline noreturn nounwind {{
  %address = load volatile i64, ptr addrspace(1) @{record}, align 8
  %record = inttoptr i64 %address to ptr
  call void @{store}(ptr %report, ptr %record, ptr addrspacecast (ptr addrspace(1) @{claim} to ptr))
  call void @llvm.nvvm.exit()
  unreachable
}}
",
        store = intrinsic::STORE_RECORD,
        panic = intrinsic::PANIC,
    )
}
