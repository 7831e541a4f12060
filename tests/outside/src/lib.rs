//! An ordinary library that knows nothing of devices; kernels of other crates call it.

/// A polynomial in Horner's form.
pub fn polynomial(x: f32, coefficients: &[f32]) -> f32 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Steps of the Collatz sequence down to 1.
#[inline(never)]
pub fn collatz(mut n: u64) -> u32 {
    let mut steps = 0;
    while n > 1 {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

/// Greatest common divisor, by recursion.
pub fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What a plane figure has.
pub trait Figure {
    /// Its area.
    fn area(&self) -> f32;
    /// Its area after scaling.
    fn scaled(&self, by: f32) -> f32 {
        self.area() * by * by
    }
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
}

impl Figure for Rectangle {
    fn area(&self) -> f32 {
        self.width * self.height
    }
}

/// A disc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Radius.
    pub radius: f32,
}

impl Figure for Disc {
    fn area(&self) -> f32 {
        std::f32::consts::PI * self.radius * self.radius
    }
}

/// A table that lives in this crate's constants.
pub static PRIMES: [u32; 10] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29];
