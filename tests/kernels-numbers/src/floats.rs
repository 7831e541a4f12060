//! `f32` and `f64`: operations whose results IEEE 754 fixes to the bit, and casts.

use crate::binary_check;
use check::{Check, checks};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![
        basic,
        remainder,
        remainder_in_64,
        roundings,
        comparisons,
        casts_to_integers,
        casts_from_integers,
        doubles,
        powers,
        powers_in_64
    ]
}

/// A NaN's payload is not fixed by the standard: all NaNs count as one.
fn bits(x: f32) -> u32 {
    if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }
}

fn bits64(x: f64) -> u64 {
    if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() }
}

/// A product and a sum are rounded one by one: contraction would show in the last bit.
fn basics(a: f32, b: f32) -> [u32; 6] {
    [bits(a + b), bits(a - b), bits(a * b), bits(a / b), bits(a * b + a), bits(a.abs().sqrt())]
}

fn remainders(a: f32, b: f32) -> u32 {
    bits(a % b)
}

fn remainders64(a: f64, b: f64) -> u64 {
    bits64(a % b)
}

fn round_all(a: f32, b: f32) -> [u32; 6] {
    [bits(a.floor()), bits(a.ceil()), bits(a.trunc()), bits(a.round()), bits(a.round_ties_even()), bits(a.copysign(b))]
}

fn compare(a: f32, b: f32) -> [u32; 8] {
    [
        u32::from(a < b),
        u32::from(a <= b),
        u32::from(a == b),
        u32::from(a != b),
        bits(a.min(b)) & 0x7fff_ffff,
        bits(a.max(b)) & 0x7fff_ffff,
        a.total_cmp(&b) as i32 as u32,
        a.partial_cmp(&b).map_or(9, |order| order as i32 as u32),
    ]
}

fn to_integers(a: f32, b: f32) -> [u64; 6] {
    [
        a as u8 as u64,
        a as i32 as u64,
        b as u32 as u64,
        a as i64 as u64,
        b as u64,
        u64::from(a.is_nan()) + 2 * u64::from(b.is_sign_negative()),
    ]
}

fn from_integers(a: i64, b: i64) -> [u64; 6] {
    [
        bits(a as f32).into(),
        bits64(a as f64),
        bits(b as u64 as f32).into(),
        bits64(b as u64 as f64),
        bits(a as i8 as f32).into(),
        bits(b as u16 as f32).into(),
    ]
}

fn in_64(a: f64, b: f64) -> [u64; 6] {
    [bits64(a + b), bits64(a * b - b), bits64(a / b), bits64(a.abs().sqrt()), bits(a as f32).into(), bits64(f64::from(b as f32))]
}

/// Powers of integers are products in a fixed order, the same on the host: `compiler_builtins` has them for both.
fn raise(a: f32, b: f32) -> [u32; 5] {
    [bits(a.powi(b as i32)), bits(a.powi(b as i8 as i32)), bits(a.powi(7)), bits(a.powi(-3)), bits(a.powi(0))]
}

fn raise_in_64(a: f64, b: f64) -> [u64; 5] {
    [bits64(a.powi(b as i32)), bits64(a.powi(b as i8 as i32)), bits64(a.powi(11)), bits64(a.powi(-2)), bits64(a.powi(1))]
}

const F32: [f32; 12] = [0.0, -0.0, 1.0, -1.5, 0.1, 3.0e38, 1.0e-40, 255.5, -129.25, f32::INFINITY, f32::NAN, 1.000_000_1];
const F64: [f64; 11] = [0.0, -0.0, 1.0, -1.5, 0.1, 1.0e308, 1.0e-310, 255.5, f64::NEG_INFINITY, f64::NAN, 1.0 + f64::EPSILON];

binary_check!(basic, basic_kernel, basics, f32, [u32; 6], F32, check::equal);
binary_check!(remainder, remainder_kernel, remainders, f32, u32, F32, check::equal);
binary_check!(remainder_in_64, remainder64_kernel, remainders64, f64, u64, F64, check::equal);
binary_check!(
    roundings,
    roundings_kernel,
    round_all,
    f32,
    [u32; 6],
    [0.5f32, -0.5, 1.5, 2.5, -2.5, 0.49, 1e10, -0.0, f32::NAN],
    check::equal
);
binary_check!(comparisons, comparisons_kernel, compare, f32, [u32; 8], F32, check::equal);
binary_check!(casts_to_integers, to_integers_kernel, to_integers, f32, [u64; 6], F32, check::equal);
binary_check!(
    casts_from_integers,
    from_integers_kernel,
    from_integers,
    i64,
    [u64; 6],
    [0i64, 1, -1, 16_777_217, -(1 << 53) - 1, i64::MIN, i64::MAX],
    check::equal
);
binary_check!(doubles, doubles_kernel, in_64, f64, [u64; 6], F64, check::equal);
binary_check!(
    powers,
    powers_kernel,
    raise,
    f32,
    [u32; 5],
    [0.0f32, -0.0, 1.000_01, -1.5, 0.3, 7.0, -12.0, 40.5, 1e-9, -3e9, f32::INFINITY, f32::NAN],
    check::equal
);
binary_check!(
    powers_in_64,
    powers64_kernel,
    raise_in_64,
    f64,
    [u64; 5],
    [0.0f64, -0.0, 1.000_01, -1.5, 0.3, 7.0, -12.0, 40.5, 1e-9, -3e9, f64::INFINITY, f64::NAN],
    check::equal
);
