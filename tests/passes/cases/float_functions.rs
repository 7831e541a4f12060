//@ ptx-not: .extern
//@ ptx: sqrt.rn.f32
//@ ptx-not: sin.approx
//@ unit: @llvm.sqrt.f32
//@ unit: __powisf2
// Float functions of std are the device library's; square roots by hand and powers of integers find their way too.
use prelude::*;

fn root(mut x: f32) -> f32 {
    // As the `libm` crate has it.
    unsafe { std::arch::asm!("sqrtss {x}, {x}", x = inout(xmm_reg) x, options(nostack, nomem, pure)) };
    x
}

kernel! { fn waves(x: Slice<f32>, out: *mut f32, n: i32) {
    let x = x[index()];
    unsafe { *out = x.sin() + root(x) + x.powi(n) }
} }
