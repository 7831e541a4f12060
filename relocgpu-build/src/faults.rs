//! Faults in the user's code, on their way to `#[gpu_kernel]`.

use crate::device_pass::{self, BitcodeUnit, DevicePass};
use crate::env::Env;
use crate::error::Error;
use relocgpu_runtime::contract::manifest::{Faults, KernelFault, Rejection};
use relocgpu_runtime::contract::names::{env as word, fnv1a, pass};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The faults of all units of the package.
pub(crate) struct Collected {
    faults: Faults,
    /// Root of source paths.
    workspace_root: PathBuf,
    /// How the device pass writes the package's folder where it lies outside the workspace.
    remapped: String,
    manifest_dir: PathBuf,
    /// Sources of the package's units.
    sources: HashSet<PathBuf>,
}

impl Collected {
    /// Starts with what the nested compile rejected.
    pub fn new(env: &Env, pass: &DevicePass) -> Self {
        Self {
            faults: Faults { kernels: Vec::new(), rejected: pass.rejected.clone() },
            workspace_root: pass.workspace_root.clone(),
            remapped: format!("{}@{}/", env.package, env.version),
            manifest_dir: env.manifest_dir.clone(),
            sources: pass.own_lists.iter().flat_map(|list| device_pass::sources(list, &pass.workspace_root)).collect(),
        }
    }

    /// Adds a unit's faults: those of the package's own kernels go to their kernels, those of other packages' kernels
    /// to the unit that launches them.
    pub fn add(&mut self, unit: &BitcodeUnit, found: Vec<KernelFault>) -> Result<(), Error> {
        let (own, foreign): (Vec<_>, Vec<_>) = found.into_iter().partition(|fault| self.is_own(fault));
        let shown_by_own = !own.is_empty();
        for fault in own {
            // Library and unit tests find the same fault twice.
            if !self.faults.kernels.contains(&fault) {
                self.faults.kernels.push(fault);
            }
        }
        if foreign.is_empty() {
            return Ok(());
        }
        let text = foreign.iter().map(|f| format!("{}:{}: {}", f.file, f.line, f.message)).collect::<Vec<_>>().join("\n");
        if !shown_by_own && !self.has_kernels(unit) {
            return Err(Error::ForeignFaults { unit: unit.label(), text });
        }
        self.faults.rejected.push(Rejection { unit: unit.name.clone(), text });
        Ok(())
    }

    /// Other members of the workspace may lie inside this package's folder, and own sources outside of it.
    fn is_own(&self, fault: &KernelFault) -> bool {
        let file = self.workspace_root.join(&fault.file);
        let nearest = || file.ancestors().skip(1).find(|dir| dir.join("Cargo.toml").is_file());
        let is_inside = file.is_file() && nearest() == Some(Path::new(&self.manifest_dir));
        fault.file.starts_with(&self.remapped) || self.sources.contains(&file) || is_inside
    }

    /// Whether any kernel of the unit can carry a message: its own sources have the attribute.
    fn has_kernels(&self, unit: &BitcodeUnit) -> bool {
        let files = device_pass::sources(&unit.bitcode.with_extension("d"), &self.workspace_root);
        let mut rust = files.iter().filter(|f| f.extension().is_some_and(|e| e == "rs"));
        rust.any(|f| fs::read_to_string(f).is_ok_and(|text| text.contains("gpu_kernel")))
    }

    /// Writes the faults for the macros, if there are any; returns the state of the pass.
    pub fn hand_over(self, env: &Env) -> Result<&'static str, Error> {
        if self.faults == Faults::default() {
            return Ok(pass::LINKED);
        }
        let (path, text) = (env.out_dir.join("relocgpu-faults"), self.faults.to_text());
        fs::write(&path, &text).map_err(Error::file("write", &path))?;
        println!("cargo::rustc-env={}={}#{:016x}", word::FAULTS, path.display(), fnv1a(text.as_bytes()));
        Ok(pass::REJECTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_inside_the_root_packages_folder_is_another_package() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("klib/src")).unwrap();
        fs::create_dir_all(dir.path().join("src/bin")).unwrap();
        fs::write(dir.path().join("Cargo.toml"), "").unwrap();
        fs::write(dir.path().join("klib/Cargo.toml"), "").unwrap();
        for file in ["src/lib.rs", "src/bin/tool.rs", "klib/src/lib.rs"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        fs::write(dir.path().join("own.d"), "own.bc: src/lib.rs shared/kernels.rs\n").unwrap();
        let env = Env::of_package(dir.path(), dir.path());
        let pass = DevicePass { workspace_root: dir.path().to_owned(), own_lists: vec![dir.path().join("own.d")], ..DevicePass::default() };
        let collected = Collected::new(&env, &pass);
        let is_own = |file: &str| {
            let fault = KernelFault { kernel: "k".into(), file: file.into(), line: 1, message: String::new() };
            collected.is_own(&fault)
        };
        for own in ["src/lib.rs", "src/bin/tool.rs", "shared/kernels.rs", "p@1.0.0/src/lib.rs"] {
            assert!(is_own(own), "{own}");
        }
        for foreign in ["klib/src/lib.rs", "q@1.0.0/src/lib.rs"] {
            assert!(!is_own(foreign), "{foreign}");
        }
    }
}
