//! Host references: words that only the running process knows, named symbolically in the kernels and written into the
//! image when the program starts. Prints each one with its target and the word it was resolved to.
//!
//! Run it twice: addresses and times move, the PTX hash and the results do not.

mod kernels;

use relocgpu_runtime::prelude::*;
use sha2::{Digest, Sha256};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> relocgpu_runtime::Result<ExitCode> {
    let started = Instant::now();
    relocgpu_runtime::init()?;
    let device = Device::best()?;
    let scaled = kernels::run_scale(&device)?;
    let named = kernels::run_identify(&device)?;
    let ready = started.elapsed();

    println!("backend: {}", device.name());
    println!("references:");
    for reference in device.references()? {
        println!("  {}  {}  0x{:016x}", reference.name, reference.target, reference.word);
    }
    for image in relocgpu_runtime::images()? {
        for (arch, text) in &image.ptx {
            println!("ptx of {} for sm_{arch}: {}", image.name, hex(&Sha256::digest(text)));
        }
    }
    println!("scaled: {scaled:?}");
    println!("identified: {named:?}");
    println!("time from start to results: {:.3} ms", ready.as_secs_f64() * 1e3);

    let right = scaled == kernels::expected_scale() && named == kernels::EXPECTED_IDENTITIES;
    if !right {
        eprintln!("expected: {:?} and {:?}", kernels::expected_scale(), kernels::EXPECTED_IDENTITIES);
    }
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
