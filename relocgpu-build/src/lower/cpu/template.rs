//! The IR text of block functions and thread functions.

use super::intrinsics::{DIVERGE, DRIVE, FRAME_STRIDE, FRAMES};
use super::names::{BLOCK, BODY, FRAME_BYTES, PHASES, THIS_THREAD, THREAD};
use relocgpu_runtime::contract::cpu::FRAME_ALIGN;
use relocgpu_runtime::contract::names::intrinsic::BLOCK_DIM;

/// What the templates know of a body.
pub(super) struct Body {
    /// Number of the kernel.
    pub(super) index: usize,
    /// Types of the parameters.
    pub(super) types: Vec<String>,
    /// Values that are passed by address, and are the body's to change: number of the parameter, bytes, alignment.
    pub(super) owned: Vec<(usize, u64, u64)>,
}

impl Body {
    /// Room for one thread's own values.
    fn room(&self) -> String {
        self.owned.iter().map(|(i, bytes, align)| format!("  %own.{i} = alloca [{bytes} x i8], align {align}\n")).collect()
    }

    /// Names the thread and calls the body for it, with fresh copies of the values that it may change. `tag` ends the
    /// names of the thread's index, `at` stands for `@`.
    fn call(&self, tag: &str, at: &str) -> String {
        let copies = self.owned.iter().map(|(i, bytes, align)| {
            format!("  call void {at}llvm.memcpy.p0.p0.i64(ptr align {align} %own.{i}, ptr align {align} %{i}, i64 {bytes}, i1 false)\n")
        });
        let own = |i: usize| self.owned.iter().any(|(owned, ..)| *owned == i);
        let arguments = self.types.iter().enumerate().map(|(i, ty)| format!("{ty} %{}{i}", if own(i) { "own." } else { "" }));
        format!(
            "{}  call void {at}{THIS_THREAD}(i32 %tx{tag}, i32 %ty{tag}, i32 %tz{tag})\n  call void {at}{BODY}{}({})\n",
            copies.collect::<String>(),
            self.index,
            arguments.collect::<Vec<_>>().join(", ")
        )
    }

    /// Declarations for it.
    fn declarations(&self) -> String {
        format!(
            "declare void @{BODY}{}({})
declare void @{THIS_THREAD}(i32, i32, i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
",
            self.index,
            self.types.join(", ")
        )
    }
}

/// `<type> %0, <type> %1, …`, which are both the parameters of a definition and the arguments of a call; then `more`.
fn arguments(types: &[String], more: &[&str]) -> String {
    let own = types.iter().enumerate().map(|(i, ty)| format!("{ty} %{i}"));
    own.chain(more.iter().map(|m| (*m).to_owned())).collect::<Vec<_>>().join(", ")
}

/// As [`arguments`], for a declaration.
fn parameters(types: &[String], more: &[&str]) -> String {
    types.iter().map(String::as_str).chain(more.iter().copied()).collect::<Vec<_>>().join(", ")
}

/// Arguments of a coroutine behind the body's.
const THREAD_ARGUMENTS: [&str; 4] = ["i32 %tx", "i32 %ty", "i32 %tz", "ptr %frame"];
/// Arguments of a thread's phases behind the body's.
const PHASE_ARGUMENTS: [&str; 7] = ["i32 %tx", "i32 %ty", "i32 %tz", "i64 %linear", "i64 %threads", "ptr %frames", "i32 %phase"];

/// The start of a block function: its dimensions.
fn start(index: usize, types: &[String]) -> String {
    let [x, y, z] = BLOCK_DIM;
    format!(
        "declare i32 @{x}()
declare i32 @{y}()
declare i32 @{z}()
define void @{BLOCK}{index}({}) noinline nounwind {{
entry:
  %nx = call i32 @{x}()
  %ny = call i32 @{y}()
  %nz = call i32 @{z}()
",
        arguments(types, &[])
    )
}

/// Three nested loops over the threads of a block, which begin at label `z` and come from label `from`; labels and
/// values end in `tag`. `inner` runs for each thread; at the end, at label `done`, all have.
fn loops(tag: &str, from: &str, inner: &str) -> String {
    "z@:
  %tz@ = phi i32 [ 0, %FROM ], [ %tz.next@, %z.next@ ]
  br label %y@
y@:
  %ty@ = phi i32 [ 0, %z@ ], [ %ty.next@, %y.next@ ]
  br label %x@
x@:
  %tx@ = phi i32 [ 0, %y@ ], [ %tx.next@, %x.next@ ]
INNER  br label %x.next@
x.next@:
  %tx.next@ = add nuw nsw i32 %tx@, 1
  %x.more@ = icmp ult i32 %tx.next@, %nx
  br i1 %x.more@, label %x@, label %y.next@
y.next@:
  %ty.next@ = add nuw nsw i32 %ty@, 1
  %y.more@ = icmp ult i32 %ty.next@, %ny
  br i1 %y.more@, label %y@, label %z.next@
z.next@:
  %tz.next@ = add nuw nsw i32 %tz@, 1
  %z.more@ = icmp ult i32 %tz.next@, %nz
  br i1 %z.more@, label %z@, label %done@
done@:
"
    .replace("INNER", inner)
    .replace("FROM", from)
    .replace('@', tag)
    // Symbols keep theirs.
    .replace('#', "@")
}

/// The linear index of a thread in its block.
const LINEAR: &str = "  %zy@ = mul nuw nsw i32 %tz@, %ny
  %zy.y@ = add nuw nsw i32 %zy@, %ty@
  %zyx@ = mul nuw nsw i32 %zy.y@, %nx
  %index@ = add nuw nsw i32 %zyx@, %tx@
  %linear@ = zext i32 %index@ to i64
";

/// A kernel without barriers: the body runs inside the loops.
pub(super) fn looped(body: &Body) -> String {
    let start = start(body.index, &body.types) + &body.room() + "  br label %z\n";
    body.declarations() + &start + &loops("", "entry", &body.call("@", "#")) + "  ret void\n}\n"
}

/// One thread of a kernel with barriers, twice: as a coroutine, and to be split into phases.
pub(super) fn threads(body: &Body) -> String {
    let Body { index, types, .. } = body;
    format!(
        "{declarations}declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare i64 @llvm.coro.size.i64()
declare ptr @llvm.coro.begin(token, ptr)
declare i8 @llvm.coro.suspend(token, i1)
declare void @llvm.coro.end(ptr, i1, token)
@{FRAME_BYTES}{index} = external global i64
define ptr @{THREAD}{index}({thread}) presplitcoroutine nounwind {{
entry:
{room}  %id = call token @llvm.coro.id(i32 {FRAME_ALIGN}, ptr null, ptr null, ptr null)
  %size = call i64 @llvm.coro.size.i64()
  store i64 %size, ptr @{FRAME_BYTES}{index}
  %handle = call ptr @llvm.coro.begin(token %id, ptr %frame)
{call}  br label %end
end:
  %last = call i8 @llvm.coro.suspend(token none, i1 true)
  br label %suspend
suspend:
  call void @llvm.coro.end(ptr %handle, i1 false, token none)
  ret ptr %handle
}}
define i32 @{PHASES}{index}({phase}) nounwind {{
{room}{call}  ret i32 0
}}
",
        declarations = body.declarations(),
        room = body.room(),
        call = body.call("", "@"),
        thread = arguments(types, &THREAD_ARGUMENTS),
        phase = arguments(types, &PHASE_ARGUMENTS),
    )
}

/// A kernel in coroutine form. Frames lie one stride apart, in the order of the threads' linear index.
pub(super) fn resumed(Body { index, types, .. }: &Body) -> String {
    let inner = format!(
        "{LINEAR}  %offset@ = mul nuw nsw i64 %linear@, %stride
  %frame@ = getelementptr inbounds i8, ptr %frames, i64 %offset@
  %handle@ = call ptr #{THREAD}{index}({})
",
        arguments(types, &THREAD_ARGUMENTS.map(|a| a.to_owned() + "@").each_ref().map(String::as_str))
    );
    format!(
        "declare ptr @{FRAMES}()
declare i64 @{FRAME_STRIDE}()
declare void @{DRIVE}()
declare ptr @{THREAD}{index}({})
{}  %frames = call ptr @{FRAMES}()
  %stride = call i64 @{FRAME_STRIDE}()
  br label %z
{}  call void @{DRIVE}()
  ret void
}}
",
        parameters(types, &["i32", "i32", "i32", "ptr"]),
        start(*index, types),
        loops("", "entry", &inner)
    )
}

/// A kernel in phases: a loop for each. In between, all threads must be waiting, or none.
pub(super) fn phased(Body { index, types, .. }: &Body, phases: usize) -> String {
    let mut text = format!(
        "declare ptr @{FRAMES}()
declare void @{DIVERGE}(i64, i64) noreturn
declare i32 @{PHASES}{index}({})
{}  %frames = call ptr @{FRAMES}()
  %nyx = mul nuw nsw i32 %nx, %ny
  %n = mul nuw nsw i32 %nyx, %nz
  %threads = zext i32 %n to i64
  %waiting = alloca i32
  br label %start.0
",
        parameters(types, &["i32", "i32", "i32", "i64", "i64", "ptr", "i32"]),
        start(*index, types),
    );
    for phase in 0..phases {
        let tag = format!(".{phase}");
        let own = ["i32 %tx@", "i32 %ty@", "i32 %tz@", "i64 %linear@", "i64 %threads", "ptr %frames", &format!("i32 {phase}")];
        let inner = format!(
            "{LINEAR}  %waits@ = call i32 #{PHASES}{index}({})
  %before@ = load i32, ptr %waiting
  %after@ = add nuw nsw i32 %before@, %waits@
  store i32 %after@, ptr %waiting
",
            arguments(types, &own)
        );
        text += &format!("start{tag}:\n  store i32 0, ptr %waiting\n  br label %z{tag}\n");
        text += &loops(&tag, &format!("start{tag}"), &inner);
        if phase + 1 < phases {
            let next = phase + 1;
            text += &format!(
                "  %count{tag} = load i32, ptr %waiting
  %all{tag} = icmp eq i32 %count{tag}, %n
  br i1 %all{tag}, label %start.{next}, label %part{tag}
part{tag}:
  %none{tag} = icmp eq i32 %count{tag}, 0
  br i1 %none{tag}, label %end, label %diverged{tag}
diverged{tag}:
  %wide{tag} = zext i32 %count{tag} to i64
  %ended{tag} = sub nuw i64 %threads, %wide{tag}
  call void @{DIVERGE}(i64 %wide{tag}, i64 %ended{tag}) noreturn
  unreachable
"
            );
        } else {
            text += "  br label %end\n";
        }
    }
    text + "end:\n  ret void\n}\n"
}
