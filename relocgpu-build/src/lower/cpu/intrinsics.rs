//! Bodies of the device intrinsics: loads from the context at the top of the stack.
//!
//! All are inlined. Loads that do not change while a block runs are marked invariant, so that they leave the loops over
//! its threads whatever is stored there.

use relocgpu_runtime::contract::cpu::{CpuContext, SHARED_ALIGN, STACK_BYTES, STACK_RESERVED};
use relocgpu_runtime::contract::names::intrinsic as i;
use std::fmt::Write;
use std::mem::offset_of;

/// The names that this file gives a body.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    [i::THREAD_IDX, i::BLOCK_IDX, i::BLOCK_DIM, i::GRID_DIM].into_iter().flatten().chain([
        i::BLOCK_BARRIER,
        i::PANIC,
        CONTEXT,
        SHARED,
        STORE_THREAD,
        FRAMES,
        FRAME_STRIDE,
        DRIVE,
        DIVERGE,
    ])
}

/// Those that give one value as long as a block runs.
pub(super) const PURE: [&str; 10] = [
    i::BLOCK_IDX[0],
    i::BLOCK_IDX[1],
    i::BLOCK_IDX[2],
    i::BLOCK_DIM[0],
    i::BLOCK_DIM[1],
    i::BLOCK_DIM[2],
    i::GRID_DIM[0],
    i::GRID_DIM[1],
    i::GRID_DIM[2],
    SHARED,
];

/// `() -> ptr`: the [`CpuContext`].
const CONTEXT: &str = "__relocgpu_context";
/// `() -> ptr`: the block's shared memory.
pub(super) const SHARED: &str = "__relocgpu_shared";
/// `(i32, i32, i32)`: notes the thread's index in the context, for functions that were not inlined.
pub(super) const STORE_THREAD: &str = "__relocgpu_store_thread";
/// `() -> ptr`: the memory for what threads keep while they wait.
pub(super) const FRAMES: &str = "__relocgpu_frames";
/// `() -> i64`: bytes from one thread's frame to the next.
pub(super) const FRAME_STRIDE: &str = "__relocgpu_frame_stride";
/// `()`: the runtime resumes all threads until they have ended.
pub(super) const DRIVE: &str = "__relocgpu_drive";
/// `(i64 waiting, i64 ended)`: some threads wait and the others have ended; does not return.
pub(super) const DIVERGE: &str = "__relocgpu_diverge";

/// A module with all bodies, as IR text.
pub(super) fn text() -> String {
    let mut out = format!(
        "declare ptr @llvm.frameaddress.p0(i32)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
define ptr @{CONTEXT}() alwaysinline nounwind {{
  %here = call ptr @llvm.frameaddress.p0(i32 0)
  %stack = call ptr @llvm.ptrmask.p0.i64(ptr %here, i64 -{STACK_BYTES})
  %context = getelementptr i8, ptr %stack, i64 {}
  ret ptr %context
}}
",
        STACK_BYTES - STACK_RESERVED
    );
    // Ranges as the launch checks them, see the fields of `CpuContext`. A thread's index changes from call to call.
    for (names, offset, range, invariant) in [
        (i::THREAD_IDX, offset_of!(CpuContext, thread_idx), "!0", ""),
        (i::BLOCK_IDX, offset_of!(CpuContext, block_idx), "!1", INVARIANT),
        (i::BLOCK_DIM, offset_of!(CpuContext, block_dim), "!2", INVARIANT),
        (i::GRID_DIM, offset_of!(CpuContext, grid_dim), "!3", INVARIANT),
    ] {
        for (axis, name) in names.iter().enumerate() {
            out += &load(name, "i32", offset + 4 * axis, &format!(", !range {range}{invariant}"));
        }
    }
    out += &load(SHARED, "ptr", offset_of!(CpuContext, shared), &format!(", !nonnull !4, !align !5{INVARIANT}"));
    out += &load(FRAMES, "ptr", offset_of!(CpuContext, frames), INVARIANT);
    out += &load(FRAME_STRIDE, "i64", offset_of!(CpuContext, frame_stride), INVARIANT);
    write!(
        out,
        "define void @{STORE_THREAD}(i32 %x, i32 %y, i32 %z) alwaysinline nounwind {{
  %context = call ptr @{CONTEXT}()
  %to.x = getelementptr i8, ptr %context, i64 {thread}
  store i32 %x, ptr %to.x
  %to.y = getelementptr i8, ptr %context, i64 {thread_y}
  store i32 %y, ptr %to.y
  %to.z = getelementptr i8, ptr %context, i64 {thread_z}
  store i32 %z, ptr %to.z
  ret void
}}
define void @{panic}(ptr %report) noinline noreturn cold nounwind {{
  %context = call ptr @{CONTEXT}()
  %at = getelementptr i8, ptr %context, i64 {panic_at}
  %function = load ptr, ptr %at
  call void %function(ptr %context, ptr %report) noreturn
  unreachable
}}
define void @{DRIVE}() alwaysinline nounwind {{
  %context = call ptr @{CONTEXT}()
  %at = getelementptr i8, ptr %context, i64 {drive_at}
  %function = load ptr, ptr %at
  call void %function(ptr %context)
  ret void
}}
define void @{DIVERGE}(i64 %waiting, i64 %ended) noinline noreturn cold nounwind {{
  %context = call ptr @{CONTEXT}()
  %at = getelementptr i8, ptr %context, i64 {diverge_at}
  %function = load ptr, ptr %at
  call void %function(ptr %context, i64 %waiting, i64 %ended) noreturn
  unreachable
}}
declare i8 @llvm.coro.suspend(token, i1)
define i32 @{barrier}() alwaysinline nounwind {{
  %woken = call i8 @llvm.coro.suspend(token none, i1 false)
  %ended = sext i8 %woken to i32
  ret i32 %ended
}}
!0 = !{{i32 0, i32 1024}}
!1 = !{{i32 0, i32 2147483647}}
!2 = !{{i32 1, i32 1025}}
!3 = !{{i32 1, i32 -2147483648}}
!4 = !{{}}
!5 = !{{i64 {SHARED_ALIGN}}}
",
        thread = offset_of!(CpuContext, thread_idx),
        thread_y = offset_of!(CpuContext, thread_idx) + 4,
        thread_z = offset_of!(CpuContext, thread_idx) + 8,
        panic = i::PANIC,
        panic_at = offset_of!(CpuContext, panic),
        drive_at = offset_of!(CpuContext, drive),
        diverge_at = offset_of!(CpuContext, diverge),
        barrier = i::BLOCK_BARRIER,
    )
    .expect("a String takes all text");
    out
}

const INVARIANT: &str = ", !invariant.load !4";

/// A function that loads one field of the context.
fn load(name: &str, ty: &str, offset: usize, metadata: &str) -> String {
    format!(
        "define {ty} @{name}() alwaysinline nounwind {{
  %context = call ptr @{CONTEXT}()
  %at = getelementptr i8, ptr %context, i64 {offset}
  %value = load {ty}, ptr %at, align {align}{metadata}
  ret {ty} %value
}}
",
        align = if ty == "i32" { 4 } else { 8 }
    )
}
