; The C library's memory functions. Each is linked only where something calls it.

define linkonce_odr i32 @memcmp(ptr %a, ptr %b, i64 %n) nounwind {
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

define linkonce_odr i32 @bcmp(ptr %a, ptr %b, i64 %n) nounwind {
  %r = call i32 @memcmp(ptr %a, ptr %b, i64 %n)
  ret i32 %r
}

define linkonce_odr i64 @strlen(ptr %s) nounwind {
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

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define linkonce_odr ptr @memcpy(ptr %d, ptr %s, i64 %n) alwaysinline nounwind {
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)
  ret ptr %d
}

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
define linkonce_odr ptr @memmove(ptr %d, ptr %s, i64 %n) alwaysinline nounwind {
  call void @llvm.memmove.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)
  ret ptr %d
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define linkonce_odr ptr @memset(ptr %d, i32 %c, i64 %n) alwaysinline nounwind {
  %b = trunc i32 %c to i8
  call void @llvm.memset.p0.i64(ptr %d, i8 %b, i64 %n, i1 false)
  ret ptr %d
}
