//! The C library's memory functions, where something calls them: PTX has no library to take them from.

use super::STAGE;
use crate::llvm;
use crate::stage_error::StageError;
use inkwell::module::Module;

const BODIES: [(&str, &str); 6] = [
    (
        "memcmp",
        "define i32 @memcmp(ptr %a, ptr %b, i64 %n) nounwind {
start:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %same, label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %equal ]
  %pa = getelementptr i8, ptr %a, i64 %i
  %pb = getelementptr i8, ptr %b, i64 %i
  %xa = load i8, ptr %pa, align 1
  %xb = load i8, ptr %pb, align 1
  %eq = icmp eq i8 %xa, %xb
  br i1 %eq, label %equal, label %differ
equal:
  %next = add nuw i64 %i, 1
  %end = icmp eq i64 %next, %n
  br i1 %end, label %same, label %loop
differ:
  %wa = zext i8 %xa to i32
  %wb = zext i8 %xb to i32
  %d = sub nsw i32 %wa, %wb
  ret i32 %d
same:
  ret i32 0
}
",
    ),
    (
        "bcmp",
        "declare i32 @memcmp(ptr, ptr, i64)
define i32 @bcmp(ptr %a, ptr %b, i64 %n) nounwind {
  %r = call i32 @memcmp(ptr %a, ptr %b, i64 %n)
  ret i32 %r
}
",
    ),
    (
        "strlen",
        "define i64 @strlen(ptr %s) nounwind {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %p = getelementptr i8, ptr %s, i64 %i
  %x = load i8, ptr %p, align 1
  %next = add nuw i64 %i, 1
  %end = icmp eq i8 %x, 0
  br i1 %end, label %done, label %loop
done:
  ret i64 %i
}
",
    ),
    (
        "memcpy",
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define ptr @memcpy(ptr %d, ptr %s, i64 %n) alwaysinline nounwind {
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)
  ret ptr %d
}
",
    ),
    (
        "memmove",
        "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
define ptr @memmove(ptr %d, ptr %s, i64 %n) alwaysinline nounwind {
  call void @llvm.memmove.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)
  ret ptr %d
}
",
    ),
    (
        "memset",
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define ptr @memset(ptr %d, i32 %c, i64 %n) alwaysinline nounwind {
  %b = trunc i32 %c to i8
  call void @llvm.memset.p0.i64(ptr %d, i8 %b, i64 %n, i1 false)
  ret ptr %d
}
",
    ),
];

/// Runs the pass.
pub(super) fn run(module: &Module) -> Result<(), StageError> {
    let wanted = |name: &str| module.get_function(name).is_some_and(|f| f.count_basic_blocks() == 0);
    // `bcmp` calls `memcmp`.
    for (name, text) in BODIES.iter().rev() {
        if wanted(name) {
            llvm::link_text(module, text).map_err(StageError::llvm(STAGE, *name))?;
        }
    }
    Ok(())
}
