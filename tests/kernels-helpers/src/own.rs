//! Functions, methods, traits, closures, constants and statics of this crate.

use check::{Check, Outcome, checks, equal};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![functions_and_constants, state_machine, recursion, dynamic_dispatch, another_kernel_as_a_function]
}

const OFFSETS: [i32; 4] = [3, -1, 4, 1];
static NAMES: [&str; 3] = ["rot", "grün", "blau"];

#[derive(Clone, Copy, PartialEq)]
enum Token {
    Digit(u32),
    Plus,
    Times,
    End,
}

/// Evaluates digits with `+` and `*`, left to right.
struct Calculator<'a> {
    text: &'a [u8],
    at: usize,
}

impl Calculator<'_> {
    fn next(&mut self) -> Token {
        let token = match self.text.get(self.at) {
            Some(digit @ b'0'..=b'9') => Token::Digit(u32::from(digit - b'0')),
            Some(b'+') => Token::Plus,
            Some(b'*') => Token::Times,
            _ => Token::End,
        };
        self.at += 1;
        token
    }

    fn run(mut self) -> u32 {
        let (mut value, mut pending) = (0, Token::Plus);
        loop {
            match self.next() {
                Token::Digit(digit) if pending == Token::Plus => value += digit,
                Token::Digit(digit) => value *= digit,
                Token::End => return value,
                operator => pending = operator,
            }
        }
    }
}

fn apply(f: impl Fn(i32) -> i32, times: usize, start: i32) -> i32 {
    (0..times).fold(start, |x, _| f(x))
}

fn mixed(i: usize) -> i32 {
    let by = OFFSETS[i % OFFSETS.len()];
    apply(|x| x * 3 + by, i % 5, i as i32) + NAMES[i % 3].len() as i32
}

#[gpu_kernel]
fn mix(mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = mixed(i.get());
    }
}

fn functions_and_constants(device: &Device) -> Outcome {
    for n in [1, 255, 256, 257, 5000] {
        let mut out = device.zeroed::<i32>(n)?;
        mix::launch(device, Grid::over(n), &mut out)?;
        equal("mix", &out.download()?, &(0..n).map(mixed).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Each thread evaluates the expression between two bounds.
#[gpu_kernel]
fn calculate(text: &[u8], bounds: &[(u32, u32)], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let (start, end) = bounds[i.get()];
        *out = Calculator { text: &text[start as usize..end as usize], at: 0 }.run();
    }
}

fn state_machine(device: &Device) -> Outcome {
    let expressions = ["1+2", "3*4+5", "9", "", "2*2*2*2*2+1", "7+x"];
    let mut text = Vec::new();
    let bounds: Vec<(u32, u32)> = expressions
        .iter()
        .map(|e| {
            let start = text.len() as u32;
            text.extend(e.bytes());
            (start, text.len() as u32)
        })
        .collect();
    let mut out = device.zeroed::<u32>(bounds.len())?;
    calculate::launch(device, Grid::over(bounds.len()), &device.upload(&text)?, &device.upload(&bounds)?, &mut out)?;
    equal("calculate", &out.download()?, &[3, 17, 9, 0, 33, 7])
}

fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

#[gpu_kernel]
fn recurse(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = ackermann(i.get() as u32 % 3, i.get() as u32 % 7);
    }
}

fn recursion(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(300)?;
    recurse::launch(device, Grid::over(300), &mut out)?;
    equal("recurse", &out.download()?, &(0..300).map(|i| ackermann(i % 3, i % 7)).collect::<Vec<_>>())
}

trait Shape {
    fn corners(&self) -> u32;
}

struct Square;
struct Star(u32);

impl Shape for Square {
    fn corners(&self) -> u32 {
        4
    }
}

impl Shape for Star {
    fn corners(&self) -> u32 {
        2 * self.0
    }
}

fn corners_of(i: usize) -> u32 {
    let star = Star(i as u32);
    let shape: &dyn Shape = if i.is_multiple_of(3) { &Square } else { &star };
    shape.corners()
}

#[gpu_kernel]
fn dispatch(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = corners_of(i.get());
    }
}

fn dynamic_dispatch(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(500)?;
    dispatch::launch(device, Grid::over(500), &mut out)?;
    equal("dispatch", &out.download()?, &(0..500).map(corners_of).collect::<Vec<_>>())
}

/// A kernel stays an ordinary function: this one calls another.
#[gpu_kernel]
fn mix_again(out: DisjointSlice<i32>) {
    mix(out);
}

fn another_kernel_as_a_function(device: &Device) -> Outcome {
    let mut out = device.zeroed::<i32>(700)?;
    mix_again::launch(device, Grid::over(700), &mut out)?;
    equal("mix_again", &out.download()?, &(0..700).map(mixed).collect::<Vec<_>>())
}
