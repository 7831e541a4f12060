; Bytes of a `fmt::Arguments` template before its terminator. See core's own comment on `fmt::Arguments`: 0 ends,
; 1..=127 is a literal of that length, 128 is followed by a u16 length and a literal, anything else is a placeholder
; whose low four bits tell which of flags (u32), width, precision and index (u16 each) follow.
define i64 @relocgpu.template_len(ptr %text) nounwind {
start:
  br label %next
next:
  %at = phi i64 [ 0, %start ], [ %past, %literal ], [ %past.long, %long ], [ %past.hole, %hole ]
  %p = getelementptr i8, ptr %text, i64 %at
  %byte = load i8, ptr %p, align 1
  %wide = zext i8 %byte to i64
  %after = add i64 %at, 1
  %end = icmp eq i8 %byte, 0
  br i1 %end, label %done, label %some
some:
  %short = icmp ult i8 %byte, 128
  br i1 %short, label %literal, label %more
literal:
  %past = add i64 %after, %wide
  br label %next
more:
  %is.long = icmp eq i8 %byte, 128
  br i1 %is.long, label %long, label %hole
long:
  %q = getelementptr i8, ptr %text, i64 %after
  %length = load i16, ptr %q, align 1
  %length.wide = zext i16 %length to i64
  %past.length = add i64 %after, 2
  %past.long = add i64 %past.length, %length.wide
  br label %next
hole:
  %flags = and i64 %wide, 1
  %flags.bytes = shl i64 %flags, 2
  %rest = lshr i64 %wide, 1
  %width = and i64 %rest, 1
  %precision.bit = lshr i64 %wide, 2
  %precision = and i64 %precision.bit, 1
  %index.bit = lshr i64 %wide, 3
  %index = and i64 %index.bit, 1
  %pairs.a = add i64 %width, %precision
  %pairs = add i64 %pairs.a, %index
  %pairs.bytes = shl i64 %pairs, 1
  %fields = add i64 %flags.bytes, %pairs.bytes
  %past.hole = add i64 %after, %fields
  br label %next
done:
  ret i64 %at
}
