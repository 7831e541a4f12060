//@ ptx: ld.global.nc.b32
//@ ptx: ld.global.nc.b64
//@ ptx: st.global.b32
//@ ptx-not: .extern
//@ ptx: .version 6.3
//@ ptx: .target sm_75
//@ ptx: .visible .entry case__add_
//@ kernel: case::add 40 8 panics
//@ kernel: case::sum 24 8
// A slice that is only read goes through the read-only cache, also in a loop; what is written does not.
use prelude::*;

kernel! { fn add(x: Slice<f32>, y: *mut f32, n: usize, a: f32) {
    let i = index();
    if i < n {
        unsafe { *y.add(i) += a * x[i] }
    }
} }

kernel! { fn sum(x: Slice<u64>, out: *mut u64) {
    unsafe { *out = x.iter().sum() }
} }
