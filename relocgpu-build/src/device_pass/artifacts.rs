//! From cargo's messages to units with their bitcode.
//!
//! Files are chosen by the messages and never by searching: bitcode of other flags and older versions lies beside it.

use super::cargo::{Artifact, Compiled};
use super::unit::{BitcodeUnit, TargetKind, unit_name};
use crate::env::Env;
use crate::error::Error;
use relocgpu_runtime::contract::manifest::UnitName;
use relocgpu_runtime::contract::names::intrinsic;
use std::path::{Path, PathBuf};

/// The units that a nested compile has made of the package.
pub(super) struct Units {
    /// Those that mention a kernel.
    pub with_kernels: Vec<BitcodeUnit>,
    /// The names of all.
    pub all: Vec<UnitName>,
    /// Lists of the sources of all.
    pub lists: Vec<PathBuf>,
}

/// Finds the units of the package.
pub(super) fn units(env: &Env, package_id: &str, device_dir: &Path, compiled: &Compiled) -> Result<Units, Error> {
    let (mut units, mut all) = (Vec::new(), Vec::new());
    // Cargo reports a unit after those it depends on.
    let mut libraries: Vec<(PathBuf, bool)> = Vec::new();
    for artifact in &compiled.artifacts {
        let Some((kind, bitcode)) = TargetKind::of(&artifact.target).zip(bitcode(artifact, device_dir)) else { continue };
        if !bitcode.exists() {
            return Err(Error::NoBitcode { path: bitcode });
        }
        let is_own = artifact.package_id == package_id;
        let is_library = kind == TargetKind::Lib && !artifact.profile.test;
        if is_own {
            let name = unit_name(env, &artifact.target, kind, artifact.profile.test);
            all.push(name.clone());
            units.push(BitcodeUnit {
                name,
                kind,
                target_name: artifact.target.name.clone(),
                bitcode: bitcode.clone(),
                libraries: Vec::new(),
            });
        }
        if is_library {
            libraries.insert(0, (bitcode, is_own));
        }
    }
    let lists = units.iter().map(|unit| unit.bitcode.with_extension("d")).collect();
    let mut with_kernels = Vec::new();
    for mut unit in units {
        if !mentions_kernel(&unit.bitcode)? {
            continue;
        }
        // A library does not depend on itself, nor its unit tests on it.
        let own_library = unit.kind != TargetKind::Lib;
        unit.libraries = libraries.iter().filter(|(_, is_own)| own_library || !is_own).map(|(path, _)| path.clone()).collect();
        with_kernels.push(unit);
    }
    Ok(Units { with_kernels, all, lists })
}

/// `<dir>/lib<crate>-<hash>.rmeta` has its bitcode in `<dir>/<crate>-<hash>.bc`; `None` for host units.
pub(super) fn bitcode(artifact: &Artifact, device_dir: &Path) -> Option<PathBuf> {
    let rmeta = artifact.filenames.iter().find(|f| f.extension().is_some_and(|e| e == "rmeta"))?;
    let stem = rmeta.file_stem()?.to_str()?.strip_prefix("lib")?;
    rmeta.starts_with(device_dir).then(|| rmeta.with_file_name(format!("{stem}.bc")))
}

/// Whether a crate marks any kernel instance: bitcode holds the names of functions as they are.
fn mentions_kernel(bitcode: &Path) -> Result<bool, Error> {
    let bytes = std::fs::read(bitcode).map_err(Error::file("read", bitcode))?;
    let marker = intrinsic::KERNEL.as_bytes();
    // `position` of the first byte is a fast search even in an unoptimised build script.
    let mut rest = &bytes[..];
    while let Some(at) = rest.iter().position(|b| *b == marker[0]) {
        if rest[at..].starts_with(marker) {
            return Ok(true);
        }
        rest = &rest[at + 1..];
    }
    Ok(false)
}
