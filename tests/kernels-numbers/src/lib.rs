//! Arithmetic: every width of integer, 128 bits, floats and their remainders, casts, bit operations.
//!
//! Each kernel applies one ordinary function to pairs of values, edge cases among them; the host calls the same
//! function, compiled by the ordinary compiler.

mod floats;
mod functions;
mod integers;
mod wide;

use check::Check;

/// The checks of this crate.
pub fn checks() -> Vec<Check> {
    [integers::checks(), floats::checks(), functions::checks(), wide::checks()].concat()
}

/// Launches over sizes around the block's, and over edge cases of both operands.
macro_rules! binary_check {
    ($check:ident, $kernel:ident, $function:path, $in:ty, $out:ty, $edges:expr, $equal:path) => {
        #[gpu_kernel]
        fn $kernel(a: &[$in], b: &[$in], mut out: DisjointSlice<$out>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                *out = $function(a[i.get()], b[i.get()]);
            }
        }

        fn $check(device: &Device) -> check::Outcome {
            let edges = $edges;
            for count in [1, edges.len() * edges.len(), 1000] {
                let pairs = edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b)));
                let (xs, ys): (Vec<$in>, Vec<$in>) = pairs.cycle().take(count).unzip();
                let mut out = device.zeroed::<$out>(count)?;
                $kernel::launch(device, Grid::over(count), &device.upload(&xs)?, &device.upload(&ys)?, &mut out)?;
                let expected: Vec<$out> = xs.iter().zip(&ys).map(|(&x, &y)| $function(x, y)).collect();
                $equal(stringify!($function), &out.download()?, &expected)?;
            }
            Ok(())
        }
    };
}
use binary_check;
