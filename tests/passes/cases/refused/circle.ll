;@ refused: holds host references and is part of a circle of statics
;@ refused: help: keep the references in a static that is not part of the circle
; PTX could not say where in the circle the word lies.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%descriptor = type { ptr, i64, ptr, i64, ptr, i64, i64, i64, i32, i32, i32 }
@name = private constant [1 x i8] c"k"
@file = private constant [4 x i8] c"k.ll"
@descriptor = private constant %descriptor { ptr @name, i64 1, ptr @file, i64 4, ptr inttoptr (i64 8 to ptr), i64 0, i64 8, i64 8, i32 3, i32 4, i32 0 }
@"relocgpu\1Fitem\1F__relocgpu_host_a\1Fcase\1F1.2.3\1Fcase\1F000000a100000000\1Fa.rs:1:1\1F\1Fitem: A" = external global i8
@one = internal constant { ptr, ptr } { ptr @two, ptr @"relocgpu\1Fitem\1F__relocgpu_host_a\1Fcase\1F1.2.3\1Fcase\1F000000a100000000\1Fa.rs:1:1\1F\1Fitem: A" }, align 8
@two = internal constant { ptr, i64 } { ptr @one, i64 1 }, align 8

define void @entry(ptr %params) {
  %out = load ptr, ptr %params, align 8
  %i = load i64, ptr %out, align 8
  %at = getelementptr ptr, ptr @one, i64 %i
  %a = load ptr, ptr %at, align 8
  store ptr %a, ptr %out, align 8
  ret void
}

declare void @__relocgpu_kernel(ptr, ptr, ptr)
declare i64 @__relocgpu_identity(ptr)

define { ptr, i64 } @type_name() {
  ret { ptr, i64 } { ptr @name, i64 1 }
}

define void @root() {
  call void @__relocgpu_kernel(ptr @entry, ptr @type_name, ptr @descriptor)
  ret void
}
