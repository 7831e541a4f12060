;@ refused: `__relocgpu_host_s` stands for two things: `host!(gain())` at a.rs:3:1 and `host!(|d| gain())` at a.rs:4:1
;@ refused: `n` is bound as two types: `host!(bound: n)` at a.rs:5:1 and `host!(bound: n)` at a.rs:6:1
;@ refused: help: give each `host!` a place of its own in the source, and each bound name one type
; All that conflicts is said at once, with both places.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%descriptor = type { ptr, i64, ptr, i64, ptr, i64, i64, i64, i32, i32, i32 }
@name = private constant [1 x i8] c"k"
@file = private constant [4 x i8] c"k.ll"
@descriptor = private constant %descriptor { ptr @name, i64 1, ptr @file, i64 4, ptr inttoptr (i64 8 to ptr), i64 0, i64 8, i64 8, i32 3, i32 4, i32 0 }
@"relocgpu\1Fvalue\1F__relocgpu_host_s\1Fcase\1F1.2.3\1Fcase\1F0123456789abcdef\1Fa.rs:3:1\1F\1Fgain()" = external global i64
@"relocgpu\1Fdevice_value\1F__relocgpu_host_s\1Fcase\1F1.2.3\1Fcase\1F0123456789abcdef\1Fa.rs:4:1\1F\1F|d| gain()" = external global i64
@"relocgpu\1Fbound\1F__relocgpu_host_n\1Fcase\1F1.2.3\1Fcase\1F0123456789abcdef\1Fa.rs:5:1\1Fn\1Eu64\1Fbound: n" = external global i64
@"relocgpu\1Fbound\1F__relocgpu_host_m\1Fcase\1F1.2.3\1Fcase\1F0123456789abcdef\1Fa.rs:6:1\1Fn\1Ef32\1Fbound: n" = external global i64

define void @entry(ptr %params) {
  %out = load ptr, ptr %params, align 8
  %v0 = load i64, ptr @"relocgpu\1Fvalue\1F__relocgpu_host_s\1Fcase\1F1.2.3\1Fcase\1F0123456789abcdef\1Fa.rs:3:1\1F\1Fgain()", align 8
  %p0 = getelementptr i64, ptr %out, i64 0
  store i64 %v0, ptr %p0, align 8
  %v1 = load i64, ptr @"relocgpu\1Fdevice_value\1F__relocgpu_host_s\1Fcase\1F1.2.3\1Fcase\1F0123456789abcdef\1Fa.rs:4:1\1F\1F|d| gain()", align 8
  %p1 = getelementptr i64, ptr %out, i64 1
  store i64 %v1, ptr %p1, align 8
  %v2 = load i64, ptr @"relocgpu\1Fbound\1F__relocgpu_host_n\1Fcase\1F1.2.3\1Fcase\1F0123456789abcdef\1Fa.rs:5:1\1Fn\1Eu64\1Fbound: n", align 8
  %p2 = getelementptr i64, ptr %out, i64 2
  store i64 %v2, ptr %p2, align 8
  %v3 = load i64, ptr @"relocgpu\1Fbound\1F__relocgpu_host_m\1Fcase\1F1.2.3\1Fcase\1F0123456789abcdef\1Fa.rs:6:1\1Fn\1Ef32\1Fbound: n", align 8
  %p3 = getelementptr i64, ptr %out, i64 3
  store i64 %v3, ptr %p3, align 8
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
