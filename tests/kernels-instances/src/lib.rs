//! Launches another crate's kernels: generic ones with types of its own, and one that is not generic.

use check::{Check, Outcome, checks, equal, that};
use kernels_generics::{
    Bright, Join, Number, Tone, brightens, combine, combines, develop, develops, doubled, reduce_rows, reduces, square, tones,
};
use relocgpu_runtime::prelude::*;
use std::ops::{Add, Mul};

/// The checks of this crate.
pub fn checks() -> Vec<Check> {
    checks![own_type, the_same_type, own_strategy, inner_launch, not_generic, words_of_instances]
}

/// A residue modulo 65521.
#[derive(Clone, Copy, Debug, PartialEq, DeviceData)]
#[repr(C)]
pub struct Residue {
    value: u32,
}

const MODULUS: u32 = 65_521;

impl Add for Residue {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { value: (self.value + other.value) % MODULUS }
    }
}

impl Mul for Residue {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self { value: (u64::from(self.value) * u64::from(other.value) % u64::from(MODULUS)) as u32 }
    }
}

impl Number for Residue {
    fn from_count(count: u16) -> Self {
        Self { value: u32::from(count) * 60_000 % MODULUS }
    }
}

fn own_type(device: &Device) -> Outcome {
    combines::<Residue>(device, |d, g, a, x, y| combine::launch(d, g, a, x, y))
}

/// `kernels-generics` has this instance as well.
fn the_same_type(device: &Device) -> Outcome {
    combines::<f32>(device, |d, g, a, x, y| combine::launch(d, g, a, x, y))
}

enum Both {}

impl Join for Both {
    const START: u32 = u32::MAX;
    fn join(a: u32, b: u32) -> u32 {
        a & b.rotate_left(1)
    }
}

fn own_strategy(device: &Device) -> Outcome {
    reduces::<Both>(device, |d, g, x, w, out| reduce_rows::launch::<Both>(d, g, x, w, out))
}

fn inner_launch(device: &Device) -> Outcome {
    let xs: Vec<Residue> = (0..400).map(Residue::from_count).collect();
    equal("doubled", &doubled(device, &xs)?, &xs.iter().map(|&x| Residue::from_count(1) * x + x).collect::<Vec<_>>())
}

fn not_generic(device: &Device) -> Outcome {
    let mut x = device.upload(&(0..513).collect::<Vec<u64>>())?;
    square::launch(device, Grid::over(513), &mut x)?;
    equal("square", &x.download()?, &(0..513).map(|x| x * x).collect::<Vec<u64>>())
}

tones! {
    /// Leaves as it is.
    Neutral 1.0
}

/// The values of an own instance, and of one that `kernels-generics` has as well.
fn words_of_instances(device: &Device) -> Outcome {
    develops::<Neutral>(device, (1.0, 2), |d, g, x, y| develop::launch::<Neutral, 2>(d, g, x, y))?;
    brightens(device)?;
    let before = Bright::evaluations();
    develops::<Bright>(device, (4.5, 3), |d, g, x, y| develop::launch::<Bright, 3>(d, g, x, y))?;
    that(Bright::evaluations() == before, "an instance that another crate has launched was evaluated again")
}
