//! Every kind of panic, with its message and place.
// The panics are what is tested.
#![allow(clippy::eq_op, clippy::unnecessary_min_or_max)]

use crate::{VICTIM, panic_check};
use check::{Check, checks};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![
        bounds,
        slice_range,
        reversed_range,
        option_unwrap,
        option_expect,
        division,
        remainder,
        signed_division,
        literal,
        unreached,
        assertion,
        in_a_helper,
        in_core
    ]
}

panic_check!(bounds, reads_out_of_bounds, "kinds.rs", "index out of bounds: the len is 300 but the index is 1000000");
#[gpu_kernel]
fn reads_out_of_bounds(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let at = if x == 0 { 1_000_000 } else { VICTIM + 1 };
        let one = input[at] / input[at]; // panics in reads_out_of_bounds
        *out = x + one;
    }
}

panic_check!(slice_range, slices_out_of_range, "kinds.rs", "range end index 301 out of range for slice of length 300");
#[gpu_kernel]
fn slices_out_of_range(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let end = if x == 0 { 301 } else { 300 };
        let one = input[299..end].len() as u32; // panics in slices_out_of_range
        *out = x + one;
    }
}

panic_check!(reversed_range, slices_backwards, "kinds.rs", "slice index starts at 7 but ends at 5");
#[gpu_kernel]
fn slices_backwards(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let start = if x == 0 { 7 } else { 4 };
        let one = input[start..5].len() as u32; // panics in slices_backwards
        *out = x + one;
    }
}

panic_check!(option_unwrap, unwraps_none, "kinds.rs", "called `Option::unwrap()` on a `None` value");
#[gpu_kernel]
fn unwraps_none(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let one = x.checked_sub(1).map(|_| 1).unwrap(); // panics in unwraps_none
        *out = x + one;
    }
}

panic_check!(option_expect, expects_some, "kinds.rs", "an element is at least 1");
#[gpu_kernel]
fn expects_some(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let one = x.checked_sub(1).map(|_| 1).expect("an element is at least 1"); // panics in expects_some
        *out = x + one;
    }
}

panic_check!(division, divides_by_zero, "kinds.rs", "attempt to divide by zero");
#[gpu_kernel]
fn divides_by_zero(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let one = x / x; // panics in divides_by_zero
        *out = x + one;
    }
}

panic_check!(remainder, takes_remainder_by_zero, "kinds.rs", "attempt to calculate the remainder with a divisor of zero");
#[gpu_kernel]
fn takes_remainder_by_zero(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let one = 1 + 7 % x - 7 % x; // panics in takes_remainder_by_zero
        *out = x + one;
    }
}

panic_check!(signed_division, divides_the_least, "kinds.rs", "attempt to divide with overflow");
#[gpu_kernel]
fn divides_the_least(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let (least, by) = if x == 0 { (i32::MIN, -1) } else { (1, 1) };
        let one = (least / by) as u32; // panics in divides_the_least
        *out = x + one;
    }
}

panic_check!(literal, panics_in_words, "kinds.rs", "nothing to do");
#[gpu_kernel]
fn panics_in_words(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let one = if x == 0 { panic!("nothing to do") } else { 1 }; // panics in panics_in_words
        *out = x + one;
    }
}

panic_check!(unreached, reaches_the_unreachable, "kinds.rs", "internal error: entered unreachable code");
#[gpu_kernel]
fn reaches_the_unreachable(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let one = if x == 0 { unreachable!() } else { 1 }; // panics in reaches_the_unreachable
        *out = x + one;
    }
}

panic_check!(assertion, asserts, "kinds.rs", "element 0 is not there");
#[gpu_kernel]
fn asserts(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        assert!(x != 0, "element 0 is not there"); // panics in asserts
        *out = x + 1;
    }
}

/// Kept as a call, so that the panic happens in a function of its own.
#[inline(never)]
fn reciprocal(x: u32) -> u32 {
    u32::MAX / x // panics in calls_a_helper
}

panic_check!(in_a_helper, calls_a_helper, "kinds.rs", "attempt to divide by zero");
#[gpu_kernel]
fn calls_a_helper(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        *out = x + (reciprocal(x) / reciprocal(x));
    }
}

panic_check!(in_core, takes_a_logarithm, "kinds.rs", "argument of integer logarithm must be positive");
/// The place is that of the call: core's function tracks its caller.
#[gpu_kernel]
fn takes_a_logarithm(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let one = x.ilog2().min(0) + 1; // panics in takes_a_logarithm
        *out = x + one;
    }
}
