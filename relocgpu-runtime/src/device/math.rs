//! The float functions that GPUs have no instruction for: `f32::sin` and its like end up here, on every device alike.
//!
//! The build calls these in place of LLVM's intrinsics and of the C library, whose functions do not exist on a GPU.
//! The `libm` crate's results are within one unit in the last place.

/// Exports a function of `libm` under the name that the build looks for: see `contract::names::MATH_PREFIX`.
macro_rules! export {
    ($($ty:ty: $($name:ident($($argument:ident),+)),+;)+) => {$($(
        #[unsafe(export_name = concat!("relocgpu_math_", stringify!($name)))]
        extern "C" fn $name($($argument: $ty),+) -> $ty {
            libm::$name($($argument),+)
        }
    )+)+};
}

export! {
    f32: sinf(x), cosf(x), tanf(x), asinf(x), acosf(x), atanf(x), atan2f(y, x), sinhf(x), coshf(x), tanhf(x),
        expf(x), exp2f(x), exp10f(x), expm1f(x), logf(x), log2f(x), log10f(x), log1pf(x), powf(x, y), cbrtf(x), hypotf(x, y);
    f64: sin(x), cos(x), tan(x), asin(x), acos(x), atan(x), atan2(y, x), sinh(x), cosh(x), tanh(x),
        exp(x), exp2(x), exp10(x), expm1(x), log(x), log2(x), log10(x), log1p(x), pow(x, y), cbrt(x), hypot(x, y);
}
