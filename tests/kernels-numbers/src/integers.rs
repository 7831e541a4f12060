//! Integers up to 64 bits.

use crate::binary_check;
use check::{Check, checks};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![bytes, shorts, words, longs, bits, arithmetic_in_64, characters, divisions]
}

fn mix_u8(a: u8, b: u8) -> [u8; 6] {
    [a.wrapping_add(b), a.saturating_sub(b), a.wrapping_mul(b), a / (b | 1), a % (b | 1), a.rotate_left(u32::from(b & 7))]
}

fn mix_i16(a: i16, b: i16) -> [i16; 6] {
    [a.wrapping_sub(b), a.saturating_add(b), a.wrapping_div(b | 1), a.wrapping_rem(b | 1), a.wrapping_shr(b as u32 & 15), a.wrapping_abs()]
}

fn mix_i32(a: i32, b: i32) -> [i32; 6] {
    let (sum, carried) = a.overflowing_add(b);
    [sum, i32::from(carried), a.checked_mul(b).unwrap_or(-7), a.wrapping_rem_euclid(b | 1), a.signum() - b.signum(), a.max(b) ^ a.min(b)]
}

fn mix_u64(a: u64, b: u64) -> [u64; 6] {
    [a.wrapping_mul(b), a / (b | 1), a % (b | 1), a.abs_diff(b), a.saturating_mul(b), a.checked_next_power_of_two().unwrap_or(b)]
}

fn mix_bits(a: u32, b: u32) -> [u32; 8] {
    [
        a.count_ones(),
        a.leading_zeros(),
        a.trailing_zeros(),
        a.swap_bytes() ^ b.reverse_bits(),
        a.rotate_left(b & 31),
        a.wrapping_shl(b),
        (a | 1).ilog2(),
        u32::from_be_bytes(a.to_le_bytes()) & !b,
    ]
}

fn mix_i64(a: i64, b: i64) -> [i64; 6] {
    [
        a.wrapping_mul(b),
        a.wrapping_div_euclid(b | 1),
        a.wrapping_rem(b | 1),
        a.leading_zeros() as i64,
        a >> (b & 63),
        (a as i32 as i64) + (b as u16 as i64),
    ]
}

fn shift_letter(a: char, b: char) -> u32 {
    let letter = char::from_u32(a as u32 ^ (b as u32 & 1)).unwrap_or('?');
    u32::from(letter.is_ascii_alphabetic())
        + 2 * u32::from(letter.is_ascii_digit())
        + 4 * letter.len_utf8() as u32
        + 64 * letter.to_ascii_uppercase() as u32
}

fn quotients(a: u32, b: u32) -> [u32; 4] {
    [a.div_ceil(b | 1), a.next_multiple_of(8).wrapping_add(b), a.isqrt(), a.checked_rem(b).unwrap_or(u32::MAX)]
}

binary_check!(bytes, bytes_kernel, mix_u8, u8, [u8; 6], [0u8, 1, 2, 3, 7, 127, 128, 200, 255], check::equal);
binary_check!(shorts, shorts_kernel, mix_i16, i16, [i16; 6], [0i16, 1, -1, 2, 300, -300, i16::MIN, i16::MAX], check::equal);
binary_check!(words, words_kernel, mix_i32, i32, [i32; 6], [0, 1, -1, 2, 65_537, -65_537, i32::MIN, i32::MAX], check::equal);
binary_check!(longs, longs_kernel, mix_u64, u64, [u64; 6], [0u64, 1, 2, 3, 1 << 32, (1 << 33) - 1, u64::MAX - 1, u64::MAX], check::equal);
binary_check!(bits, bits_kernel, mix_bits, u32, [u32; 8], [0u32, 1, 2, 31, 32, 0x8000_0000, 0xdead_beef, u32::MAX], check::equal);
binary_check!(arithmetic_in_64, signed_kernel, mix_i64, i64, [i64; 6], [0i64, 1, -1, 5, -(1 << 40), i64::MIN, i64::MAX], check::equal);
binary_check!(characters, characters_kernel, shift_letter, char, u32, ['\0', '0', 'a', 'Z', 'ß', 'λ', '字', '🦀', char::MAX], check::equal);
binary_check!(divisions, divisions_kernel, quotients, u32, [u32; 4], [0u32, 1, 2, 7, 8, 9, 65_535, 65_536, u32::MAX - 9], check::equal);
