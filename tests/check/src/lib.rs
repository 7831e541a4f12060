//! What every kernel crate under `tests/kernels-*` exposes: its checks, each a name and a function of a device.
//!
//! A test harness runs them on the CPU; an executable for machines with a GPU can run the same ones there.

use relocgpu_runtime::{Device, Error};
use std::fmt::Debug;

/// What a check says: nothing, or what went wrong.
pub type Outcome = Result<(), Box<dyn std::error::Error>>;

/// One check.
#[derive(Clone, Copy)]
pub struct Check {
    /// Unique within its crate.
    pub name: &'static str,
    /// Launches kernels and compares data with the host's own computation.
    pub run: fn(&Device) -> Outcome,
}

/// A `Vec<Check>` of functions, each named as it is.
#[macro_export]
macro_rules! checks {
    ($($function:path),* $(,)?) => { ::std::vec![$($crate::Check { name: ::std::stringify!($function), run: $function }),*] };
}

/// Compares element by element and names the first that differs.
pub fn equal<T: PartialEq + Debug>(what: &str, ours: &[T], expected: &[T]) -> Outcome {
    if ours.len() != expected.len() {
        return Err(format!("{what}: {} elements, expected {}", ours.len(), expected.len()).into());
    }
    let wrong: Vec<usize> = (0..ours.len()).filter(|&i| ours[i] != expected[i]).collect();
    match wrong.first() {
        None => Ok(()),
        Some(&i) => {
            Err(format!("{what}: {} of {} differ, first [{i}]: {:?}, expected {:?}", wrong.len(), ours.len(), ours[i], expected[i]).into())
        }
    }
}

/// Compares floats by their bits, so that a NaN equals itself and `-0.0` is not `0.0`.
pub fn equal_bits(what: &str, ours: &[f32], expected: &[f32]) -> Outcome {
    let bits = |values: &[f32]| {
        values.iter().map(|v| (v.to_bits(), *v)).map(|(b, v)| (if v.is_nan() { u32::MAX } else { b }, v.to_string())).collect::<Vec<_>>()
    };
    equal(what, &bits(ours), &bits(expected))
}

/// Fails with `message` unless `holds`.
pub fn that(holds: bool, message: impl Into<String>) -> Outcome {
    if holds { Ok(()) } else { Err(message.into().into()) }
}

/// Deterministic pseudo-random words: SplitMix64.
pub fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// What is expected of a launch that panics.
pub struct Panic<'a> {
    /// End of the kernel's name.
    pub kernel: &'a str,
    /// The whole message.
    pub message: &'a str,
    /// End of the file's name.
    pub file: &'a str,
    /// Line of the panicking expression.
    pub line: u32,
    /// Index of the thread in its block.
    pub thread: [u32; 3],
    /// Index of the block in the grid.
    pub block: [u32; 3],
}

/// Compares the result of the synchronisation after a launch with what was expected of it.
pub fn panicked(result: Result<(), Error>, expected: &Panic) -> Outcome {
    let error = result.err().ok_or("the launch did not panic")?;
    let Error::Panicked { kernel, message, file, line, thread, block, .. } = &error else {
        return Err(format!("another error than a panic: {error}").into());
    };
    that(kernel.ends_with(expected.kernel), format!("kernel `{kernel}`, expected `{}`", expected.kernel))?;
    that(message == expected.message, format!("message `{message}`, expected `{}`", expected.message))?;
    that(file.ends_with(expected.file), format!("file `{file}`, expected `{}`", expected.file))?;
    that(*line == expected.line, format!("line {line}, expected {}", expected.line))?;
    that(*thread == expected.thread, format!("thread {thread:?}, expected {:?}", expected.thread))?;
    that(*block == expected.block, format!("block {block:?}, expected {:?}", expected.block))
}
