//! Gives each kernel its block function: the loops over a block's threads, around the body or around its coroutines.
//!
//! The unit's entry unpacks the parameters and calls the kernel's body:
//!
//! ```text
//! define void @entry(ptr %params) { …; call void @body(ptr %x, i64 %n, …); ret void }
//! ```
//!
//! Here the call is redirected to a function of the same type, whose loops call the body. It has the body's own
//! parameter attributes: rustc's `noalias readonly` of a `&[T]` then holds for all threads of the block at once, where
//! after inlining into the loop it would hold for one iteration, and no vector loop would come of it.
//!
//! ```text
//! define internal void @relocgpu_block_0(ptr noalias readonly %0, i64 %1, …) noinline {
//!   …three nested loops: tz, ty, tx…
//!     call void @relocgpu_this_thread(i32 %tx, i32 %ty, i32 %tz)
//!     call void @body(ptr %0, i64 %1, …)
//! }
//! ```
//!
//! A kernel that reaches a barrier gets a coroutine as well; the loops then start one for each thread, which runs it to
//! its first barrier, and hand the rest to the runtime:
//!
//! ```text
//! define internal ptr @relocgpu_thread_0(ptr %0, i64 %1, …, i32 %tx, i32 %ty, i32 %tz, ptr %frame) presplitcoroutine {
//!   …coro.id, coro.size, coro.begin…
//!   call void @relocgpu_this_thread(i32 %tx, i32 %ty, i32 %tz)
//!   call void @body(ptr %0, i64 %1, …)
//!   …final coro.suspend, coro.end…
//! }
//! ```

use super::{Shape, names};
use crate::llvm::{self, Value, link_text};
use inkwell::attributes::AttributeLoc;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::{Linkage, Module};
use inkwell::values::FunctionValue;
use relocgpu_runtime::contract::cpu::FRAME_ALIGN;
use std::fmt::Write;

/// Makes the block function of kernel number `index`, named `names::run(index)`.
pub(super) fn run(module: &Module, index: usize, entry: FunctionValue, shape: Shape) -> Result<(), String> {
    let call = body_call(entry);
    let body = call.map_or(entry, |(_, body)| body);
    let body_name = format!("{}{index}", names::BODY);
    body.as_global_value().set_name(&body_name);
    // The templates name it, and linking sees external names only.
    body.set_linkage(Linkage::External);
    body.set_call_conventions(0);

    let types: Vec<String> = body.get_type().get_param_types().iter().map(|t| t.print_to_string().to_string()).collect();
    let text = match shape {
        Shape::Loop => looped(index, &body_name, &types),
        Shape::Coroutine => coroutine(index, &body_name, &types),
    };
    link_text(module, &text)?;
    let block = module.get_function(&format!("{}{index}", names::BLOCK)).ok_or("the block function was not linked")?;
    for param in 0..body.count_params() {
        for attribute in body.attributes(AttributeLoc::Param(param)) {
            block.add_attribute(AttributeLoc::Param(param), attribute);
        }
    }
    body.set_linkage(Linkage::Internal);
    block.set_linkage(Linkage::Internal);
    let run = match call {
        Some((call, _)) => {
            let callee = call.operands().len() - 1;
            call.set_operand(callee as u32, block.into());
            entry
        }
        None => block,
    };
    run.as_global_value().set_name(&names::run(index));
    run.set_linkage(Linkage::External);
    Ok(())
}

/// The call of the body in an entry, if it is the one call there that nothing but the end follows.
fn body_call<'c>(entry: FunctionValue<'c>) -> Option<(Value<'c>, FunctionValue<'c>)> {
    let calls: Vec<_> = llvm::instructions(entry).into_iter().filter_map(|i| Some((i, i.called_function()?))).collect();
    let mut bodies = calls.iter().filter(|(call, f)| is_defined_procedure(*f) && ends_after(*call));
    let found = *bodies.next()?;
    let only = calls.iter().filter(|(_, f)| *f == found.1).count() == 1;
    (only && bodies.next().is_none()).then_some(found)
}

fn is_defined_procedure(function: FunctionValue) -> bool {
    function.count_basic_blocks() > 0 && function.get_type().get_return_type().is_none()
}

/// Whether a call is followed by `ret`, or by a jump to it.
fn ends_after(call: Value) -> bool {
    let Some(next) = call.as_instruction().and_then(|i| i.get_next_instruction()) else { return false };
    let last = match Value::from(next).opcode() {
        Some(LLVMOpcode::LLVMBr) if next.get_num_operands() == 1 => {
            next.get_operand(0).and_then(|o| o.block()).and_then(|b| b.get_first_instruction())
        }
        _ => Some(next),
    };
    last.is_some_and(|i| Value::from(i).opcode() == Some(LLVMOpcode::LLVMRet))
}

/// `<type> %0, <type> %1, …`, which are both the parameters of a definition and the arguments of a call.
fn numbered(types: &[String]) -> Vec<String> {
    types.iter().enumerate().map(|(i, ty)| format!("{ty} %{i}")).collect()
}

/// Declarations that both forms need.
fn declarations(body: &str, types: &[String]) -> String {
    format!(
        "declare void @{body}({})\n\
         declare void @{}(i32, i32, i32)\n\
         declare i32 @__relocgpu_block_dim_x()\n\
         declare i32 @__relocgpu_block_dim_y()\n\
         declare i32 @__relocgpu_block_dim_z()\n",
        types.join(", "),
        names::THIS_THREAD
    )
}

/// Three nested loops over the threads of a block, at least one in each dimension, `inner` for each; then `after`.
fn loops(index: usize, types: &[String], before: &str, inner: &str, after: &str) -> String {
    format!(
        "define void @{}{index}({}) noinline nounwind {{
entry:
  %nx = call i32 @__relocgpu_block_dim_x()
  %ny = call i32 @__relocgpu_block_dim_y()
  %nz = call i32 @__relocgpu_block_dim_z()
{before}  br label %z
z:
  %tz = phi i32 [ 0, %entry ], [ %tz.next, %z.next ]
  br label %y
y:
  %ty = phi i32 [ 0, %z ], [ %ty.next, %y.next ]
  br label %x
x:
  %tx = phi i32 [ 0, %y ], [ %tx.next, %x.next ]
{inner}  br label %x.next
x.next:
  %tx.next = add nuw nsw i32 %tx, 1
  %x.more = icmp ult i32 %tx.next, %nx
  br i1 %x.more, label %x, label %y.next
y.next:
  %ty.next = add nuw nsw i32 %ty, 1
  %y.more = icmp ult i32 %ty.next, %ny
  br i1 %y.more, label %y, label %z.next
z.next:
  %tz.next = add nuw nsw i32 %tz, 1
  %z.more = icmp ult i32 %tz.next, %nz
  br i1 %z.more, label %z, label %done
done:
{after}  ret void
}}
",
        names::BLOCK,
        numbered(types).join(", ")
    )
}

/// The loop form: the body runs inside the loops.
fn looped(index: usize, body: &str, types: &[String]) -> String {
    let inner =
        format!("  call void @{}(i32 %tx, i32 %ty, i32 %tz)\n  call void @{body}({})\n", names::THIS_THREAD, numbered(types).join(", "));
    declarations(body, types) + &loops(index, types, "", &inner, "")
}

/// The coroutine form. Frames lie one stride apart, in the order of the threads' linear index.
fn coroutine(index: usize, body: &str, types: &[String]) -> String {
    let (thread, size, this) = (names::THREAD, names::FRAME_BYTES, names::THIS_THREAD);
    let own: Vec<String> = ["i32 %tx", "i32 %ty", "i32 %tz", "ptr %frame"].map(String::from).into();
    let all = [numbered(types), own].concat().join(", ");
    let args = numbered(types).join(", ");
    let before = "  %frames = call ptr @__relocgpu_frames()\n  %stride = call i64 @__relocgpu_frame_stride()\n";
    let inner = format!(
        "  %zy = mul nuw nsw i32 %tz, %ny
  %zy.y = add nuw nsw i32 %zy, %ty
  %zyx = mul nuw nsw i32 %zy.y, %nx
  %linear = add nuw nsw i32 %zyx, %tx
  %linear.wide = zext i32 %linear to i64
  %offset = mul nuw nsw i64 %linear.wide, %stride
  %frame = getelementptr inbounds i8, ptr %frames, i64 %offset
  %handle = call ptr @{thread}{index}({all})
"
    );
    let mut text = declarations(body, types);
    write!(
        text,
        "@{size}{index} = external global i64
declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare i64 @llvm.coro.size.i64()
declare ptr @llvm.coro.begin(token, ptr)
declare i8 @llvm.coro.suspend(token, i1)
declare void @llvm.coro.end(ptr, i1, token)
declare ptr @__relocgpu_frames()
declare i64 @__relocgpu_frame_stride()
declare void @__relocgpu_drive()
define internal ptr @{thread}{index}({all}) presplitcoroutine nounwind {{
entry:
  %id = call token @llvm.coro.id(i32 {FRAME_ALIGN}, ptr null, ptr null, ptr null)
  %size = call i64 @llvm.coro.size.i64()
  store i64 %size, ptr @{size}{index}
  %handle = call ptr @llvm.coro.begin(token %id, ptr %frame)
  call void @{this}(i32 %tx, i32 %ty, i32 %tz)
  call void @{body}({args})
  br label %end
end:
  %last = call i8 @llvm.coro.suspend(token none, i1 true)
  br label %suspend
suspend:
  call void @llvm.coro.end(ptr %handle, i1 false, token none)
  ret ptr %handle
}}
"
    )
    .expect("a String takes all text");
    text + &loops(index, types, before, &inner, "  call void @__relocgpu_drive()\n")
}
