//! One macro by example that makes the same `host!` several times: each is a reference of its own.

use check::{Check, Outcome, checks, equal};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![in_a_repetition, twice_in_one_kernel]
}

/// In each module the same words mean another function.
macro_rules! modules {
    ($($name:ident = $value:literal),*) => {$(
        mod $name {
            use relocgpu_runtime::prelude::*;

            fn value() -> u32 {
                std::hint::black_box($value)
            }

            fn helper() -> u32 {
                host!(value())
            }

            #[gpu_kernel]
            pub fn fill(mut out: DisjointSlice<u32>) {
                let i = thread::index_1d();
                if let Some(out) = out.get_mut(i) {
                    *out = host!(value()) * 1000 + helper() + i.get() as u32;
                }
            }
        }
    )*};
}

modules!(first = 10, second = 20, third = 30);

fn in_a_repetition(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(300)?;
    let expected = |value: u32| (0..300).map(|i| value * 1000 + value + i).collect::<Vec<u32>>();
    first::fill::launch(device, Grid::over(300), &mut out)?;
    equal("first", &out.download()?, &expected(10))?;
    second::fill::launch(device, Grid::over(300), &mut out)?;
    equal("second", &out.download()?, &expected(20))?;
    third::fill::launch(device, Grid::over(300), &mut out)?;
    equal("third", &out.download()?, &expected(30))
}

fn one() -> u32 {
    std::hint::black_box(1)
}

macro_rules! sum {
    ($($word:ident)*) => { 0 $(+ (host!(one()), stringify!($word)).0)* };
}

#[gpu_kernel]
fn sums(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = sum!(a b c) + sum!(a b);
    }
}

fn twice_in_one_kernel(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(300)?;
    sums::launch(device, Grid::over(300), &mut out)?;
    equal("sums", &out.download()?, &[5; 300])
}
