;@ delivery: bake
;@ refused: is not read as a word
;@ refused: help: deliver it by patch
; Code that holds a word has no memory of which a part could be read.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%descriptor = type { ptr, i64, ptr, i64, ptr, i64, i64, i64, i32, i32, i32 }
@name = private constant [1 x i8] c"k"
@file = private constant [4 x i8] c"k.ll"
@descriptor = private constant %descriptor { ptr @name, i64 1, ptr @file, i64 4, ptr inttoptr (i64 8 to ptr), i64 0, i64 8, i64 8, i32 3, i32 4, i32 0 }
@"relocgpu\1Fvalue\1F__relocgpu_host_s\1Fcase\1F1.2.3\1Fcase\1F0123456789abcdef\1Fa.rs:3:1\1F\1Fgain()" = external global i64
define void @entry(ptr %params) {
  %out = load ptr, ptr %params, align 8
  %n = load i16, ptr getelementptr (i8, ptr @"relocgpu\1Fvalue\1F__relocgpu_host_s\1Fcase\1F1.2.3\1Fcase\1F0123456789abcdef\1Fa.rs:3:1\1F\1Fgain()", i64 2), align 2
  store i16 %n, ptr %out, align 8
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
