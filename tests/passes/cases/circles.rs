//@ ptx: relocgpu_circle_0_
//@ ptx-not: relocgpu_forward_
//@ ptx-not: .extern
// Constants that refer to themselves, to each other, and from outside.
use prelude::*;

struct Ring(&'static Ring, u64, &'static [u64]);
static A: Ring = Ring(&B, 1, &[4, 5]);
static B: Ring = Ring(&A, 2, &[6]);
static OWN: Ring = Ring(&OWN, 3, &[]);
static ALL: [&Ring; 3] = [&A, &B, &OWN];

kernel! { fn walk(out: *mut u64) {
    unsafe {
        let mut at = ALL[index() % 3];
        for _ in 0..*out {
            at = at.0;
        }
        *out = at.1 + at.2.len() as u64 + std::ptr::eq(at, &A) as u64;
    }
} }
