;@ record: case_1_2_3_case_000000a1 __relocgpu_host_a a.rs:1:1
;@ record: case_1_2_3_case_000000a2 __relocgpu_host_b a.rs:2:1
;@ record: packed __relocgpu_host_a a.rs:1:1
;@ ptx: .visible .const .align 8 .b8 relocgpu_slots[16];
;@ ptx: .visible .global .align 1 .b8 packed[17]
;@ ptx-not: .extern
; Each form that an item's address takes in code ends as a load of its slot; in a packed constant it is a word at any byte.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%descriptor = type { ptr, i64, ptr, i64, ptr, i64, i64, i64, i32, i32, i32 }
@name = private constant [1 x i8] c"k"
@file = private constant [4 x i8] c"k.ll"
@descriptor = private constant %descriptor { ptr @name, i64 1, ptr @file, i64 4, ptr inttoptr (i64 8 to ptr), i64 0, i64 8, i64 8, i32 3, i32 4, i32 0 }
@"relocgpu\1Fitem\1F__relocgpu_host_a\1Fcase\1F1.2.3\1Fcase\1F000000a100000000\1Fa.rs:1:1\1F\1Fitem: A" = external global i8
@"relocgpu\1Fitem\1F__relocgpu_host_b\1Fcase\1F1.2.3\1Fcase\1F000000a200000000\1Fa.rs:2:1\1F\1Fitem: B" = external global i8
@packed = internal constant <{ i8, ptr, [8 x i8] }> <{ i8 7, ptr @"relocgpu\1Fitem\1F__relocgpu_host_a\1Fcase\1F1.2.3\1Fcase\1F000000a100000000\1Fa.rs:1:1\1F\1Fitem: A", [8 x i8] zeroinitializer }>, align 1

define void @entry(ptr %params) {
  %out = load ptr, ptr %params, align 8
  store <2 x ptr> <ptr @"relocgpu\1Fitem\1F__relocgpu_host_a\1Fcase\1F1.2.3\1Fcase\1F000000a100000000\1Fa.rs:1:1\1F\1Fitem: A", ptr @"relocgpu\1Fitem\1F__relocgpu_host_b\1Fcase\1F1.2.3\1Fcase\1F000000a200000000\1Fa.rs:2:1\1F\1Fitem: B">, ptr %out, align 8
  %p1 = getelementptr i8, ptr %out, i64 16
  store { i64, [2 x { ptr, ptr }] } { i64 5, [2 x { ptr, ptr }] [{ ptr, ptr } { ptr @"relocgpu\1Fitem\1F__relocgpu_host_a\1Fcase\1F1.2.3\1Fcase\1F000000a100000000\1Fa.rs:1:1\1F\1Fitem: A", ptr @"relocgpu\1Fitem\1F__relocgpu_host_b\1Fcase\1F1.2.3\1Fcase\1F000000a200000000\1Fa.rs:2:1\1F\1Fitem: B" }, { ptr, ptr } { ptr @"relocgpu\1Fitem\1F__relocgpu_host_b\1Fcase\1F1.2.3\1Fcase\1F000000a200000000\1Fa.rs:2:1\1F\1Fitem: B", ptr null }] }, ptr %p1, align 8
  %p2 = getelementptr i8, ptr %out, i64 64
  store i64 xor (i64 ptrtoint (ptr @"relocgpu\1Fitem\1F__relocgpu_host_a\1Fcase\1F1.2.3\1Fcase\1F000000a100000000\1Fa.rs:1:1\1F\1Fitem: A" to i64), i64 ptrtoint (ptr @"relocgpu\1Fitem\1F__relocgpu_host_b\1Fcase\1F1.2.3\1Fcase\1F000000a200000000\1Fa.rs:2:1\1F\1Fitem: B" to i64)), ptr %p2, align 8
  %p3 = getelementptr i8, ptr %out, i64 72
  store ptr getelementptr (i8, ptr @"relocgpu\1Fitem\1F__relocgpu_host_a\1Fcase\1F1.2.3\1Fcase\1F000000a100000000\1Fa.rs:1:1\1F\1Fitem: A", i64 12), ptr %p3, align 8
  %asked = load i64, ptr %out, align 8
  %yes = icmp eq i64 %asked, 0
  br i1 %yes, label %left, label %right
left:
  br label %join
right:
  br label %join
join:
  %phi = phi ptr [ @"relocgpu\1Fitem\1F__relocgpu_host_a\1Fcase\1F1.2.3\1Fcase\1F000000a100000000\1Fa.rs:1:1\1F\1Fitem: A", %left ], [ @"relocgpu\1Fitem\1F__relocgpu_host_b\1Fcase\1F1.2.3\1Fcase\1F000000a200000000\1Fa.rs:2:1\1F\1Fitem: B", %right ]
  %select = select i1 %yes, ptr @"relocgpu\1Fitem\1F__relocgpu_host_b\1Fcase\1F1.2.3\1Fcase\1F000000a200000000\1Fa.rs:2:1\1F\1Fitem: B", ptr %phi
  %word = call i64 @__relocgpu_identity(ptr %select)
  %p4 = getelementptr i8, ptr %out, i64 80
  store i64 %word, ptr %p4, align 8
  %in = load i64, ptr getelementptr (i8, ptr @packed, i64 1), align 1
  %p5 = getelementptr i8, ptr %out, i64 88
  store i64 %in, ptr %p5, align 8
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
