//! The stages one by one, for relocgpu's own tests. Not for use elsewhere, and without any promise.

use crate::job::Job;
use crate::relocate::Unit;
use crate::{link, llvm, lower, normalise, relocate};
pub use relocgpu_runtime::contract::manifest::Kernel;
use relocgpu_runtime::contract::manifest::{KernelFault, Manifest, SourceMap, UnitName};
use std::path::PathBuf;

/// A frozen unit.
#[derive(Clone, Debug)]
pub struct Frozen {
    unit: Unit,
    /// The device module as text.
    pub ir: String,
}

/// What became of a unit.
#[derive(Clone, Debug)]
pub enum Made {
    /// A unit.
    Frozen(Box<Frozen>),
    /// The root holds no kernel.
    Nothing,
    /// The user's faults.
    Faults(Vec<KernelFault>),
}

/// Links, normalises and freezes the bitcode file `root`.
///
/// # Errors
/// What a stage says that cannot go on.
pub fn freeze(root: PathBuf, libraries: Vec<PathBuf>, std: Vec<PathBuf>, line_info: bool) -> Result<Made, String> {
    let unit = UnitName { package: "t".into(), version: "0.1.0".into(), kind: "lib".into(), crate_name: "t".into(), test: false };
    let job = Job {
        unit,
        root,
        libraries,
        std,
        architectures: Vec::new(),
        cpu_levels: Vec::new(),
        line_info,
        debug_assertions: false,
        keep: None,
        out_dir: PathBuf::new(),
    };
    let context = llvm::new_context();
    let Some(linked) = link::run(&context, &job).map_err(|e| e.to_string())? else { return Ok(Made::Nothing) };
    let faults = normalise::run(&linked).map_err(|e| e.to_string())?;
    if !faults.is_empty() {
        return Ok(Made::Faults(faults));
    }
    let unit = relocate::run(&linked, &job).map_err(|e| e.to_string())?;
    let module = llvm::load(&context, &unit.bitcode, "unit")?;
    Ok(Made::Frozen(Box::new(Frozen { ir: module.print_to_string().to_string(), unit })))
}

/// Bitcode of IR text.
///
/// # Errors
/// What LLVM says.
pub fn bitcode(text: &str) -> Result<Vec<u8>, String> {
    llvm::assemble(text, "text")
}

impl Frozen {
    /// Bytes of the device module.
    pub fn bitcode(&self) -> &[u8] {
        &self.unit.bitcode
    }

    /// What the unit holds.
    pub fn manifest(&self) -> &Manifest {
        &self.unit.manifest
    }

    /// Where it comes from.
    pub fn source_map(&self) -> &SourceMap {
        &self.unit.source_map
    }

    /// SHA-256 of the unit.
    pub fn hash(&self) -> [u8; 32] {
        self.unit.hash
    }

    /// PTX for `sm_<arch>`, and the module's text just before and after optimisation.
    ///
    /// # Errors
    /// What lowering says that cannot go on.
    pub fn ptx(&self, arch: u32) -> Result<(String, Vec<(String, String)>), String> {
        let mut kept = Vec::new();
        let made = lower::nvptx::run(&self.unit, arch, &mut |name, text| {
            kept.push((name.to_owned(), text()));
            Ok(())
        });
        made.map(|ptx| (ptx.text, kept)).map_err(|e| e.to_string())
    }
}
