//! Panics: each comes back as an error with its place at the next synchronisation, and the device goes on working.

mod after;
mod kinds;
mod overflow;

use check::{Check, Outcome, Panic, panicked};
use relocgpu_runtime::prelude::*;

/// The checks of this crate.
pub fn checks() -> Vec<Check> {
    [kinds::checks(), overflow::checks(), after::checks()].concat()
}

/// A launch of one kernel.
type Launch = fn(&Device, Grid, &Buffer<u32>, &mut Buffer<u32>) -> relocgpu_runtime::Result<()>;

/// The thread that has something to panic about: number 11 of block 2, where a block has 64 threads.
const VICTIM: usize = 2 * 64 + 11;

/// A panic that a source file marks by a comment at the end of its line.
struct Expected<'a> {
    kernel: &'a str,
    message: &'a str,
    file: &'a str,
    text: &'a str,
}

/// Launches over 300 elements, where the victim's is 0 and the others count from 1. Compares the panic, and then the
/// elements: each has its old value or its right one, `input + 1`.
fn check_panic(device: &Device, launch: Launch, expected: &Expected) -> Outcome {
    let input: Vec<u32> = (0..300).map(|i| if i == VICTIM { 0 } else { i as u32 + 1 }).collect();
    let mut out = device.upload(&vec![u32::MAX; 300])?;
    launch(device, Grid::over(300).with_block(64), &device.upload(&input)?, &mut out)?;
    let marker = format!("// panics in {}", expected.kernel);
    let line = 1 + expected.text.lines().position(|line| line.ends_with(&marker)).ok_or("no line is marked")?;
    let panic = Panic {
        kernel: &format!("::{}", expected.kernel),
        message: expected.message,
        file: expected.file,
        line: line as u32,
        thread: [11, 0, 0],
        block: [2, 0, 0],
    };
    panicked(device.synchronize(), &panic)?;
    let out = out.download()?;
    check::that(out[VICTIM] == u32::MAX, "the thread that panicked has written")?;
    let torn = (0..300).find(|&i| out[i] != u32::MAX && out[i] != input[i] + 1);
    check::that(torn.is_none(), format!("element {torn:?} has neither its old value nor its right one"))
}

/// A check of one kernel's panic in the file that invokes this.
macro_rules! panic_check {
    ($check:ident, $kernel:ident, $file:literal, $message:expr) => {
        fn $check(device: &relocgpu_runtime::Device) -> check::Outcome {
            let expected =
                crate::Expected { kernel: stringify!($kernel), message: $message, file: concat!("src/", $file), text: include_str!($file) };
            crate::check_panic(device, |d, g, x, y| $kernel::launch(d, g, x, y), &expected)
        }
    };
}
use panic_check;
