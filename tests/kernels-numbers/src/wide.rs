//! 128-bit integers.

use crate::binary_check;
use check::{Check, checks};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![unsigned, signed, wide_casts, products_of_longs]
}

fn mix_u128(a: u128, b: u128) -> [u128; 6] {
    [
        a.wrapping_add(b),
        a.wrapping_mul(b),
        a / (b | 1),
        a % (b | 1),
        a.rotate_left(b as u32 & 127),
        u128::from(a.leading_zeros() + b.count_ones()),
    ]
}

fn mix_i128(a: i128, b: i128) -> [i128; 6] {
    [a.wrapping_sub(b), a.wrapping_mul(b), a.wrapping_div(b | 1), a.wrapping_rem(b | 1), a >> (b & 127), i128::from(a < b)]
}

fn cast_wide(a: i128, b: i128) -> [u64; 4] {
    [(a as f64).to_bits(), u64::from((b as u128 as f32).to_bits()), (a as f32 as i128) as u64, (a as u64).wrapping_add((b >> 64) as u64)]
}

fn multiply_high(a: u64, b: u64) -> [u64; 2] {
    let product = u128::from(a) * u128::from(b);
    [product as u64, (product >> 64) as u64]
}

const U128: [u128; 8] = [0, 1, 2, 3, 1 << 64, (1 << 65) - 1, u128::MAX / 3, u128::MAX];
const I128: [i128; 8] = [0, 1, -1, 7, 1 << 70, -(1 << 90) - 5, i128::MIN, i128::MAX];

binary_check!(unsigned, unsigned_kernel, mix_u128, u128, [u128; 6], U128, check::equal);
binary_check!(signed, signed_kernel, mix_i128, i128, [i128; 6], I128, check::equal);
binary_check!(wide_casts, wide_casts_kernel, cast_wide, i128, [u64; 4], I128, check::equal);
binary_check!(
    products_of_longs,
    products_kernel,
    multiply_high,
    u64,
    [u64; 2],
    [0u64, 1, 3, 1 << 32, u64::MAX / 5, u64::MAX],
    check::equal
);
