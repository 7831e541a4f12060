; A kernel that reads words which the loader writes: two inside `table`, one that is all of `word`, and a slot.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@table = internal constant { i64, i64, i64, i64 } { i64 10, i64 0, i64 30, i64 0 }, align 16
@word = internal constant { i64 } zeroinitializer, align 8
@slot = external constant i64, align 8

define void @entry_read(ptr %params) {
  %out = load ptr, ptr %params, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %out, ptr align 8 @table, i64 32, i1 false)
  %word = load i64, ptr @word, align 8
  %to = getelementptr i8, ptr %out, i64 32
  store i64 %word, ptr %to, align 8
  %slot = load i64, ptr @slot, align 8
  %last = getelementptr i8, ptr %out, i64 40
  store i64 %slot, ptr %last, align 8
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
