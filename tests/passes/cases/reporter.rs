//@ unit: call void @llvm.trap()
//@ ptx-not: .extern
//@ kernel: case::check 24 8 panics
// What goes wrong in the reporter itself is no report: that would be a recursion without end, and ptxas would say so.
use prelude::*;

kernel! { fn check(x: Slice<u32>, out: *mut u32) {
    unsafe { *out = x[index()] }
} }
