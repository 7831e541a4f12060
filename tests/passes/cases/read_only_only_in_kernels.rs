//@ ptx-not: ld.global.nc
// A function that other device code calls too may see memory that changes.
use prelude::*;

#[inline(never)]
fn first(x: &[u32]) -> u32 {
    x[0]
}

kernel! { fn twice(p: *mut u32) {
    unsafe {
        let a = first(std::slice::from_raw_parts(p, 4));
        *p = a + 1;
        *p.add(1) = first(std::slice::from_raw_parts(p, 4));
    }
} }
