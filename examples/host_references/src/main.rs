//! Host references: words that only the running process knows, named symbolically in the kernels and delivered when the
//! program starts. Prints each one with its target and the word it was resolved to, then what the kernels made of them.
//!
//! Run it twice: addresses and times move, the PTX hash and the results do not.

mod kinds;

use relocgpu_runtime::prelude::*;
use sha2::{Digest, Sha256};
use std::fmt::Debug;
use std::process::ExitCode;
use std::time::Instant;

/// What the kernels of one kind made, and what they had to.
pub struct Shown {
    kind: &'static str,
    result: String,
    expected: Option<String>,
}

impl Shown {
    /// Compares them.
    pub fn new<T: Debug + PartialEq>(kind: &'static str, result: &[T], expected: &[T]) -> Self {
        Self { kind, result: format!("{result:?}"), expected: (result != expected).then(|| format!("{expected:?}")) }
    }
}

fn main() -> relocgpu_runtime::Result<ExitCode> {
    let started = Instant::now();
    kinds::bound::bind()?;
    relocgpu_runtime::init()?;
    let device = Device::best()?;
    let shown = [
        kinds::value::show,
        kinds::pointer::show,
        kinds::device_value::show,
        kinds::table::show,
        kinds::mapped::show,
        kinds::device_static::show,
        kinds::item::show,
        kinds::function::show,
        kinds::symbol::show,
        kinds::bound::show,
    ]
    .map(|show| show(&device));
    // Before the last kind changes a value.
    let references = device.references()?;
    let deliveries = kinds::deliveries::show(&device);
    let shown = shown.into_iter().chain([deliveries]).collect::<relocgpu_runtime::Result<Vec<_>>>()?;
    let ready = started.elapsed();

    println!("backend: {}", device.name());
    println!("references:");
    for reference in references {
        println!("  {}  {}  0x{:016x}", reference.name, reference.target, reference.word);
    }
    for image in relocgpu_runtime::images()? {
        for (arch, text) in &image.ptx {
            println!("ptx of {} for sm_{arch}: {}", image.name, hex(&Sha256::digest(text)));
        }
    }
    println!("results:");
    for Shown { kind, result, .. } in &shown {
        println!("  {kind}: {result}");
    }
    println!("time from start to results: {:.3} ms", ready.as_secs_f64() * 1e3);

    let wrong: Vec<_> = shown.iter().filter_map(|shown| Some((shown.kind, shown.expected.as_ref()?))).collect();
    for (kind, expected) in &wrong {
        eprintln!("{kind}: expected {expected}");
    }
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
