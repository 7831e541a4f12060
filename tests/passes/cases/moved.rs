//@ same-unit-as: unmoved.rs
// The same functions in another order and on other lines give the same unit.

use prelude::*;

#[inline(never)]
fn second(x: &[u32], i: usize) -> u32 {

    x[i + 1]
}

kernel! { fn b(x: Slice<u32>, out: *mut u32) {
    unsafe { *out = second(x, 4) / x[5] }
} }

#[inline(never)]
fn first(x: &[u32], i: usize) -> u32 {
    x[i] + second(x, i)
}

kernel! { fn a(x: Slice<u32>, out: *mut u32) {

    unsafe { *out = first(x, index()) }
} }
