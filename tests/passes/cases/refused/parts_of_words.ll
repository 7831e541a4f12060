;@ refused: a.rs:1:1: `host!(item: A)` is only part of a word of the constant `moved`
;@ refused: a.rs:2:1: `host!(item: B)` is only part of a word of the constant `cut`
;@ refused: help: keep the reference whole
; A constant can hold a reference's whole word and nothing else of it.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%descriptor = type { ptr, i64, ptr, i64, ptr, i64, i64, i64, i32, i32, i32 }
@name = private constant [1 x i8] c"k"
@file = private constant [4 x i8] c"k.ll"
@descriptor = private constant %descriptor { ptr @name, i64 1, ptr @file, i64 4, ptr inttoptr (i64 8 to ptr), i64 0, i64 8, i64 8, i32 3, i32 4, i32 0 }
@"relocgpu\1Fitem\1F__relocgpu_host_a\1Fcase\1F1.2.3\1Fcase\1F000000a100000000\1Fa.rs:1:1\1F\1Fitem: A" = external global i8
@"relocgpu\1Fitem\1F__relocgpu_host_b\1Fcase\1F1.2.3\1Fcase\1F000000a200000000\1Fa.rs:2:1\1F\1Fitem: B" = external global i8
@moved = internal constant { ptr, i64 } { ptr getelementptr (i8, ptr @"relocgpu\1Fitem\1F__relocgpu_host_a\1Fcase\1F1.2.3\1Fcase\1F000000a100000000\1Fa.rs:1:1\1F\1Fitem: A", i64 4), i64 1 }, align 8
@cut = internal constant { i32, i32 } { i32 trunc (i64 ptrtoint (ptr @"relocgpu\1Fitem\1F__relocgpu_host_b\1Fcase\1F1.2.3\1Fcase\1F000000a200000000\1Fa.rs:2:1\1F\1Fitem: B" to i64) to i32), i32 1 }, align 8

define void @entry(ptr %params) {
  %out = load ptr, ptr %params, align 8
  %i = load i64, ptr %out, align 8
  %at = getelementptr i32, ptr @moved, i64 %i
  %a = load i32, ptr %at, align 4
  %in = getelementptr i32, ptr @cut, i64 %i
  %b = load i32, ptr %in, align 4
  %sum = add i32 %a, %b
  store i32 %sum, ptr %out, align 8
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
