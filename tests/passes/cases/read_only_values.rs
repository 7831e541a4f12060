//@ ptx: add.rn.f64
//@ ptx: st.global.b64
//@ ptx-not: ld.global.nc
// A large value that is only read is passed by address like a slice, but no load from there is an invariant one: the
// entry has written the memory before, and what reads it must not be `undef`.
use prelude::*;

kernel! { fn pick(weights: [f64; 100], out: *mut f64) {
    let i = index();
    unsafe { *out.add(i) = weights[i % 100] + weights[99 - i % 100] }
} }
