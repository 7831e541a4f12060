//@ ptx-not: .extern
//@ unit: declare i32 @memcmp(
// Comparison of slices, copies, 128-bit casts, sorting, parsing: nothing is left to a library.
use prelude::*;

kernel! { fn compare(x: Slice<u8>, out: *mut u8, n: usize) {
    unsafe { *out = (x[..n] == x[n..2 * n]) as u8 + (x[..n] < x[1..n]) as u8 }
} }

kernel! { fn wide(x: *mut i128, f: *mut f64, g: *mut f32) {
    unsafe {
        *f = *x as f64;
        *g = *x as u128 as f32;
        *x = *f.add(1) as i128 / 7 + (*g.add(1) as u128) as i128;
    }
} }

kernel! { fn sort(p: *mut u32, n: usize) {
    let words = unsafe { std::slice::from_raw_parts_mut(p, n) };
    words.sort_unstable();
    words.copy_within(1.., 0);
} }

kernel! { fn parse(x: Slice<u8>, out: *mut f32) {
    unsafe { *out = std::str::from_utf8(x).ok().and_then(|text| text.parse().ok()).unwrap_or(-1.0) }
} }
