//! Overflow, which panics where debug assertions are on.
// The overflow is what is tested.
#![allow(clippy::manual_div_ceil)]

use crate::panic_check;
use check::{Check, checks};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    if cfg!(debug_assertions) { checks![sum, difference, product, shift, negation] } else { Vec::new() }
}

panic_check!(sum, adds_too_much, "overflow.rs", "attempt to add with overflow");
#[gpu_kernel]
fn adds_too_much(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let much = if x == 0 { u32::MAX } else { 1 };
        let one = (much + 1) / 2; // panics in adds_too_much
        *out = x + one;
    }
}

panic_check!(difference, subtracts_too_much, "overflow.rs", "attempt to subtract with overflow");
#[gpu_kernel]
fn subtracts_too_much(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let one = (x - 1) / x + 1; // panics in subtracts_too_much
        *out = x + one;
    }
}

panic_check!(product, multiplies_too_much, "overflow.rs", "attempt to multiply with overflow");
#[gpu_kernel]
fn multiplies_too_much(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let much = if x == 0 { 1 << 31 } else { 1 };
        let one = much * 2 / 2; // panics in multiplies_too_much
        *out = x + one;
    }
}

panic_check!(shift, shifts_too_far, "overflow.rs", "attempt to shift left with overflow");
#[gpu_kernel]
fn shifts_too_far(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let far = if x == 0 { 32 } else { 0 };
        let one = 1 << far; // panics in shifts_too_far
        *out = x + one;
    }
}

panic_check!(negation, negates_the_least, "overflow.rs", "attempt to negate with overflow");
#[gpu_kernel]
fn negates_the_least(input: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = input[i.get()];
        let least = if x == 0 { i32::MIN } else { -1 };
        let one = (-least) as u32; // panics in negates_the_least
        *out = x + one;
    }
}
