//! Generic kernels, instantiated here and, through `kernels-instances`, in a crate that has none of its own.

use check::{Check, Outcome, checks, equal, that};
use relocgpu_runtime::DeviceData;
use relocgpu_runtime::prelude::*;
use std::ops::{Add, Mul};

/// The checks of this crate.
pub fn checks() -> Vec<Check> {
    checks![types, constants, strategies, inner_launch, words_of_instances, a_word_that_panics, many_words]
}

/// What [`combine()`] computes with.
pub trait Number: DeviceData + Copy + Add<Output = Self> + Mul<Output = Self> + PartialEq + std::fmt::Debug {
    /// A number from a small count.
    fn from_count(count: u16) -> Self;
}

macro_rules! numbers {
    ($($t:ty),*) => { $(impl Number for $t {
        fn from_count(count: u16) -> Self {
            count as $t
        }
    })* };
}
numbers!(u32, i64, f32, f64, u128);

/// `a * x + y`, whatever the numbers are.
#[gpu_kernel]
pub fn combine<T: Number>(a: T, x: &[T], mut y: DisjointSlice<T>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = a * x[i.get()] + *y;
    }
}

/// Launches [`combine()`] for one type and compares.
pub fn combines<T: Number>(
    device: &Device,
    launch: impl Fn(&Device, Grid, T, &Buffer<T>, &mut Buffer<T>) -> relocgpu_runtime::Result<()>,
) -> Outcome {
    for n in [1, 256, 1000] {
        let xs: Vec<T> = (0..n).map(|i| T::from_count(i as u16)).collect();
        let ys: Vec<T> = (0..n).map(|i| T::from_count((3 * i % 64) as u16)).collect();
        let mut y = device.upload(&ys)?;
        launch(device, Grid::over(n), T::from_count(5), &device.upload(&xs)?, &mut y)?;
        let expected: Vec<T> = xs.iter().zip(&ys).map(|(&x, &y)| T::from_count(5) * x + y).collect();
        equal(std::any::type_name::<T>(), &y.download()?, &expected)?;
    }
    Ok(())
}

fn types(device: &Device) -> Outcome {
    combines::<u32>(device, |d, g, a, x, y| combine::launch(d, g, a, x, y))?;
    combines::<i64>(device, |d, g, a, x, y| combine::launch(d, g, a, x, y))?;
    combines::<f32>(device, |d, g, a, x, y| combine::launch(d, g, a, x, y))?;
    combines::<u128>(device, |d, g, a, x, y| combine::launch(d, g, a, x, y))
}

/// The sum of `N` neighbours, to the right and around the end.
#[gpu_kernel]
pub fn window_sums<const N: usize>(x: &[u32], mut out: DisjointSlice<[u32; N]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = sums(x, i.get());
    }
}

/// What [`window_sums()`] computes for one element.
pub fn sums<const N: usize>(x: &[u32], at: usize) -> [u32; N] {
    let mut sum = 0u32;
    std::array::from_fn(|k| {
        sum = sum.wrapping_add(x[(at + k) % x.len()]);
        sum
    })
}

fn constants(device: &Device) -> Outcome {
    let xs: Vec<u32> = check::random(1).map(|word| word as u32).take(300).collect();
    let x = device.upload(&xs)?;
    let mut three = device.zeroed::<[u32; 3]>(xs.len())?;
    window_sums::launch(device, Grid::over(xs.len()), &x, &mut three)?;
    equal("3", &three.download()?, &(0..xs.len()).map(|i| sums(&xs, i)).collect::<Vec<_>>())?;
    let mut eleven = device.zeroed::<[u32; 11]>(xs.len())?;
    window_sums::launch(device, Grid::over(xs.len()), &x, &mut eleven)?;
    equal("11", &eleven.download()?, &(0..xs.len()).map(|i| sums(&xs, i)).collect::<Vec<_>>())
}

/// How [`reduce_rows()`] joins two values.
pub trait Join: 'static {
    /// Where it starts.
    const START: u32;
    /// Joins.
    fn join(a: u32, b: u32) -> u32;
}

/// The greatest.
pub enum Greatest {}
/// The exclusive or.
pub enum Parity {}

impl Join for Greatest {
    const START: u32 = 0;
    fn join(a: u32, b: u32) -> u32 {
        a.max(b)
    }
}

impl Join for Parity {
    const START: u32 = 0x55;
    fn join(a: u32, b: u32) -> u32 {
        a ^ b
    }
}

/// Joins each row of `width` values.
#[gpu_kernel]
pub fn reduce_rows<J: Join>(x: &[u32], width: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let start = i.get() * width as usize;
        *out = x[start..start + width as usize].iter().fold(J::START, |a, &b| J::join(a, b));
    }
}

/// Launches [`reduce_rows()`] and compares.
pub fn reduces<J: Join>(
    device: &Device,
    launch: impl Fn(&Device, Grid, &Buffer<u32>, u32, &mut Buffer<u32>) -> relocgpu_runtime::Result<()>,
) -> Outcome {
    for width in [1, 7, 64] {
        let xs: Vec<u32> = check::random(2).map(|word| word as u32).take(129 * width).collect();
        let mut out = device.zeroed::<u32>(129)?;
        launch(device, Grid::over(129), &device.upload(&xs)?, width as u32, &mut out)?;
        let expected: Vec<u32> = xs.chunks(width).map(|row| row.iter().fold(J::START, |a, &b| J::join(a, b))).collect();
        equal(std::any::type_name::<J>(), &out.download()?, &expected)?;
    }
    Ok(())
}

fn strategies(device: &Device) -> Outcome {
    reduces::<Greatest>(device, |d, g, x, w, out| reduce_rows::launch::<Greatest>(d, g, x, w, out))?;
    reduces::<Parity>(device, |d, g, x, w, out| reduce_rows::launch::<Parity>(d, g, x, w, out))
}

/// A generic function of the host that launches: its instance is found where it is instantiated.
pub fn doubled<T: Number>(device: &Device, xs: &[T]) -> relocgpu_runtime::Result<Vec<T>> {
    let x = device.upload(xs)?;
    let mut y = device.upload(xs)?;
    combine::launch(device, Grid::over(xs.len()), T::from_count(1), &x, &mut y)?;
    y.download()
}

fn inner_launch(device: &Device) -> Outcome {
    let xs: Vec<f64> = (0..300).map(f64::from).collect();
    equal("doubled", &doubled(device, &xs)?, &xs.iter().map(|x| x + x).collect::<Vec<_>>())
}

/// A kernel that is not generic: its image is this package's, whoever launches it.
#[gpu_kernel]
pub fn square(mut x: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(x) = x.get_mut(i) {
        *x *= *x;
    }
}

/// Host values that depend on a type.
pub trait Tone: 'static {
    /// A factor.
    fn gain() -> f32;
    /// How often [`gain`](Self::gain) was evaluated.
    fn evaluations() -> u32;
}

/// A [`Tone`] of a factor, whose evaluations are counted.
#[macro_export]
macro_rules! tones {
    ($($(#[$doc:meta])* $name:ident $gain:literal)*) => {$(
        $(#[$doc])*
        pub enum $name {}
        const _: () = {
            static EVALUATIONS: ::std::sync::atomic::AtomicU32 = ::std::sync::atomic::AtomicU32::new(0);
            impl $crate::Tone for $name {
                fn gain() -> f32 {
                    EVALUATIONS.fetch_add(1, ::std::sync::atomic::Ordering::Relaxed);
                    $gain
                }
                fn evaluations() -> u32 {
                    EVALUATIONS.load(::std::sync::atomic::Ordering::Relaxed)
                }
            }
        };
    )*};
}
tones! {
    /// Makes brighter.
    Bright 4.5
    /// Makes darker.
    Dark -0.25
    /// Never launched.
    Faint 0.5
}

/// A word of the instance beside one of all instances; two places share the word.
#[gpu_kernel]
pub fn develop<T: Tone, const N: usize>(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let offset = host!(N as f32 + 0.5);
        *y = if i.get().is_multiple_of(2) { host!(T::gain()) * x[i.get()] } else { x[i.get()] - host!(T::gain()) };
        *y += offset + host!(tenth());
    }
}

fn tenth() -> f32 {
    0.125
}

/// Launches [`develop()`] twice and compares; at most the first launch evaluates the host's value.
pub fn develops<T: Tone>(
    device: &Device,
    (gain, n): (f32, usize),
    launch: impl Fn(&Device, Grid, &Buffer<f32>, &mut Buffer<f32>) -> relocgpu_runtime::Result<()>,
) -> Outcome {
    let xs: Vec<f32> = (0..333_u16).map(f32::from).collect();
    let of = |i: usize, x: f32| if i.is_multiple_of(2) { gain * x } else { x - gain };
    let expected: Vec<f32> = xs.iter().enumerate().map(|(i, &x)| of(i, x) + (n as f32 + 0.5 + 0.125)).collect();
    let before = T::evaluations();
    for launches in 1..=2 {
        let mut y = device.zeroed::<f32>(xs.len())?;
        launch(device, Grid::over(xs.len()), &device.upload(&xs)?, &mut y)?;
        equal(std::any::type_name::<T>(), &y.download()?, &expected)?;
        let evaluations = T::evaluations() - before;
        that(evaluations <= 1, format!("{launches} launches evaluated {evaluations} times"))?;
    }
    that(T::evaluations() > 0, "never evaluated")
}

/// Launches this crate's instance for [`Bright`].
pub fn brightens(device: &Device) -> Outcome {
    develops::<Bright>(device, (4.5, 3), |d, g, x, y| develop::launch::<Bright, 3>(d, g, x, y))
}

fn words_of_instances(device: &Device) -> Outcome {
    brightens(device)?;
    develops::<Dark>(device, (-0.25, 3), |d, g, x, y| develop::launch::<Dark, 3>(d, g, x, y))?;
    develops::<Dark>(device, (-0.25, 7), |d, g, x, y| develop::launch::<Dark, 7>(d, g, x, y))?;
    // On the host it is the expression itself.
    let (xs, mut ys) = ([8.0, 9.0], [0.0; 2]);
    relocgpu_runtime::host::run(Grid::over(2), || develop::<Faint, 3>(&xs, DisjointSlice::from(&mut ys[..])));
    equal("on the host", &ys, &[0.5 * 8.0 + 3.625, 9.0 - 0.5 + 3.625])
}

/// Has no value.
pub enum Broken {}

impl Tone for Broken {
    fn gain() -> f32 {
        panic!("no gain for {}", "Broken")
    }
    fn evaluations() -> u32 {
        0
    }
}

fn a_word_that_panics(device: &Device) -> Outcome {
    let x = device.upload(&[1.0_f32])?;
    for _ in 0..2 {
        let mut y = device.upload(&[7.0_f32])?;
        let text = match develop::launch::<Broken, 1>(device, Grid::over(1), &x, &mut y) {
            Ok(()) => "launched".to_owned(),
            Err(error) => error.to_string(),
        };
        let parts = [
            "src/lib.rs:",
            "`host!(T::gain())`",
            "kernels_generics::develop<",
            "Broken, 1>",
            "its expression panicked: no gain for Broken",
        ];
        for part in parts {
            that(text.contains(part), format!("no {part} in {text}"))?;
        }
        equal("not launched", &y.download()?, &[7.0])?;
    }
    Ok(())
}

/// Words of each kind, behind a parameter that no word aligns.
#[gpu_kernel(delivery = table)]
pub fn kinds<T: Tone>(small: u8, mut out: DisjointSlice<(u64, i8, bool, char)>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let negative = host!(-(T::gain() as i8));
        out.0 = host!(T::gain().to_bits() as u64) + host!(u64::from(tenth().to_bits())) + u64::from(small);
        (out.1, out.2) = (negative, host!(T::gain() > 0.0));
        out.3 = host!(if T::gain() > 0.0 { '+' } else { '−' });
    }
}

tones! {
    /// For [`kinds()`].
    Loud 90.0
    /// For [`kinds()`].
    Quiet -5.0
}

fn kinds_of<T: Tone>(device: &Device, gain: f32) -> Outcome {
    let mut out = device.zeroed(70)?;
    kinds::launch::<T>(device, Grid::over(70), 3, &mut out)?;
    let word = u64::from(gain.to_bits()) + u64::from(tenth().to_bits()) + 3;
    equal("kinds", &out.download()?, &[(word, -(gain as i8), gain > 0.0, if gain > 0.0 { '+' } else { '−' }); 70])
}

fn many_words(device: &Device) -> Outcome {
    kinds_of::<Loud>(device, 90.0)?;
    kinds_of::<Quiet>(device, -5.0)
}
