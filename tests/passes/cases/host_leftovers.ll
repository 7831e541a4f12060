;@ ptx-not: .alias
;@ ptx-not: personality
;@ ptx-not: .extern
;@ ptx: .visible .entry k_
;@ unit: define internal
; Aliases, personalities, cleanup blocks, host attributes, sections and calling conventions are gone.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%descriptor = type { ptr, i64, ptr, i64, ptr, i64, i64, i64, i32, i32, i32 }
@name = private constant [1 x i8] c"k"
@file = private constant [4 x i8] c"k.ll"
@descriptor = private constant %descriptor { ptr @name, i64 1, ptr @file, i64 4, ptr inttoptr (i64 8 to ptr), i64 0, i64 8, i64 8, i32 3, i32 4, i32 0 }
@twin = alias void (ptr), ptr @work

declare void @__relocgpu_kernel(ptr, ptr, ptr)
declare i32 @rust_eh_personality(...)

define { ptr, i64 } @type_name() {
  ret { ptr, i64 } { ptr @name, i64 1 }
}

define fastcc void @work(ptr %p) #0 section ".text.hot" personality ptr @rust_eh_personality {
  store i32 1, ptr %p, align 4
  ret void
cleanup:
  %pad = insertvalue { ptr, i32 } poison, i32 0, 1
  resume { ptr, i32 } %pad
}

define void @entry(ptr %params) #0 {
  %out = load ptr, ptr %params, align 8
  call fastcc void @work(ptr %out)
  call fastcc void @twin(ptr %out)
  ret void
}

define void @root() {
  call void @__relocgpu_kernel(ptr @entry, ptr @type_name, ptr @descriptor)
  ret void
}

attributes #0 = { noinline sspstrong uwtable "frame-pointer"="all" "probe-stack"="inline-asm" "target-cpu"="x86-64" }
