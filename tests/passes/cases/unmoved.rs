//@ kernel: case::a 24 8 panics
// See `moved.rs`.
use prelude::*;

kernel! { fn a(x: Slice<u32>, out: *mut u32) {
    unsafe { *out = first(x, index()) }
} }

#[inline(never)]
fn first(x: &[u32], i: usize) -> u32 {
    x[i] + second(x, i)
}

#[inline(never)]
fn second(x: &[u32], i: usize) -> u32 {
    x[i + 1]
}

kernel! { fn b(x: Slice<u32>, out: *mut u32) {
    unsafe { *out = second(x, 4) / x[5] }
} }
