//! The same picture computed a second way: complex numbers as a type, orbits as iterators.

/// A complex number.
#[derive(Clone, Copy)]
struct Complex(f32, f32);

impl Complex {
    fn square(self) -> Self {
        Self(self.0 * self.0 - self.1 * self.1, 2.0 * self.0 * self.1)
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }

    fn norm(self) -> f32 {
        self.0 * self.0 + self.1 * self.1
    }
}

/// One colour of `palette` for each pixel, row by row.
pub fn draw(left: f32, top: f32, step: f32, width: u32, height: u32, palette: &[[u8; 3]]) -> Vec<[u8; 3]> {
    let mut pixels = Vec::with_capacity((width * height) as usize);
    for row in 0..height {
        for column in 0..width {
            let c = Complex(left + column as f32 * step, top - row as f32 * step);
            let orbit = std::iter::successors(Some(Complex(0.0, 0.0)), |z| Some(z.square().plus(c)));
            let steps = orbit.take(palette.len() - 1).take_while(|z| z.norm() <= 4.0).count();
            pixels.push(palette[steps]);
        }
    }
    pixels
}
