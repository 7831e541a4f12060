//@ ptx: fmodf
//@ ptx: fmod,
//@ ptx-not: .extern
// `%` of floats is exact: NVPTX's own expansion is not.
use prelude::*;

kernel! { fn rem(x: *mut f32, y: *mut f64) {
    unsafe {
        *x = *x % 0.1 + (*x).rem_euclid(3.0);
        *y %= *y.add(1);
    }
} }
