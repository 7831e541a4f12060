;@ interior: table 8
;@ interior: table 24
;@ interior: word 0
;@ interior-not: table 25
;@ interior-not: table 18446744073709551615
;@ interior-not: nowhere 0
;@ record: table __relocgpu_host_interior a.rs:1:1
;@ record: word __relocgpu_host_interior a.rs:1:1
;@ ptx: .visible .global .align 16 .b8 table[32] = {10
;@ ptx: .visible .global .align 8 .b8 word[8]
;@ ptx-not: .extern
;@ ptx-count: 3 ld.global.b64
; Words inside constants that the loader writes: found by name, and read by the code whatever stands there in the unit.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%descriptor = type { ptr, i64, ptr, i64, ptr, i64, i64, i64, i32, i32, i32 }
@name = private constant [1 x i8] c"k"
@file = private constant [4 x i8] c"k.ll"
@descriptor = private constant %descriptor { ptr @name, i64 1, ptr @file, i64 4, ptr inttoptr (i64 8 to ptr), i64 0, i64 8, i64 8, i32 3, i32 4, i32 0 }
@table = internal constant { i64, i64, i64, i64 } { i64 10, i64 0, i64 30, i64 0 }, align 16
@word = internal constant { i64 } zeroinitializer, align 8

declare void @__relocgpu_kernel(ptr, ptr, ptr)

define { ptr, i64 } @type_name() {
  ret { ptr, i64 } { ptr @name, i64 1 }
}

define void @entry(ptr %params) {
  %out = load ptr, ptr %params, align 8
  %b = load i64, ptr getelementptr (i8, ptr @table, i64 8), align 8
  %d = load i64, ptr getelementptr (i8, ptr @table, i64 24), align 8
  %w = load i64, ptr @word, align 8
  %x = mul i64 %b, %d
  %y = add i64 %x, %w
  store i64 %y, ptr %out, align 8
  ret void
}

define void @root() {
  call void @__relocgpu_kernel(ptr @entry, ptr @type_name, ptr @descriptor)
  ret void
}
