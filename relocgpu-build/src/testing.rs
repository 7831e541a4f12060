//! The stages one by one, for relocgpu's own tests. Not for use elsewhere, and without any promise.

use crate::error::Stopped;
use crate::job::{self, Job};
use crate::keep::Keep;
use crate::relocate::Unit;
use crate::{link, llvm, lower, normalise, relocate, validate};
pub use relocgpu_runtime::contract::manifest::Kernel;
use relocgpu_runtime::contract::manifest::{KernelFault, Manifest, Part, Record, RecordSource, Site, SourceMap, Target, UnitName};
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

/// Links, normalises and freezes the bitcode file `root`, for the delivery of this name (`patch`, `table`, `bake`).
///
/// # Errors
/// What a stage says that cannot go on.
pub fn freeze(root: PathBuf, libraries: Vec<PathBuf>, std: Vec<PathBuf>, line_info: bool, delivery: &str) -> Result<Made, String> {
    let delivery = match delivery {
        "patch" => job::Delivery::Patch,
        "table" => job::Delivery::Table,
        "bake" => job::Delivery::Bake,
        other => return Err(format!("`{other}` is no delivery")),
    };
    let unit = UnitName { package: "t".into(), version: "0.1.0".into(), kind: "lib".into(), crate_name: "t".into(), test: false };
    let job = Job {
        unit,
        root,
        libraries,
        std,
        compiler: String::new(),
        architectures: Vec::new(),
        cpu_levels: Vec::new(),
        line_info,
        delivery,
        cache: PathBuf::new(),
        keep: None,
        out_dir: PathBuf::new(),
    };
    let context = llvm::new_context();
    let Some(linked) = link::run(&context, &job).map_err(|e| e.to_string())? else { return Ok(Made::Nothing) };
    let normalised = match normalise::run(linked) {
        Ok(normalised) => normalised,
        Err(Stopped::Faults(faults)) => return Ok(Made::Faults(faults)),
        Err(Stopped::Failed(error)) => return Err(error.to_string()),
    };
    let unit = relocate::run(normalised, &job).map_err(|e| e.to_string())?;
    Ok(Made::Frozen(Box::new(Frozen { ir: unit.text(), unit })))
}

/// Bitcode of IR text.
///
/// # Errors
/// What LLVM says.
pub fn bitcode(text: &str) -> Result<Vec<u8>, String> {
    llvm::assemble(text, "text")
}

impl Frozen {
    /// The same unit with records of words inside its globals, each a name and a byte offset: nothing that a user writes
    /// makes one yet.
    ///
    /// # Errors
    /// What validation says.
    pub fn with_interiors(&self, words: &[(String, u64)]) -> Result<Self, String> {
        let mut unit = self.unit.clone();
        for (name, offset) in words {
            let record =
                Record { name: name.clone(), site: Site::Interior, offset: *offset, target: Target::Expr(Part::Value), in_block: false };
            let source = RecordSource { symbol: "__relocgpu_host_interior".into(), source: "a.rs:1:1".into(), text: "x()".into() };
            let place = unit.manifest.records.partition_point(|other| (&other.name, other.offset) < (&record.name, record.offset));
            unit.manifest.records.insert(place, record);
            unit.source_map.records.insert(place, source);
        }
        let context = llvm::new_context();
        validate::unit(&llvm::load(&context, &unit.bitcode, "unit")?, &unit.manifest).map_err(|e| e.to_string())?;
        Ok(Self { unit, ir: self.ir.clone() })
    }

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

    /// PTX for `sm_<arch>`.
    ///
    /// # Errors
    /// What lowering says that cannot go on.
    pub fn ptx(&self, arch: u32) -> Result<String, String> {
        let ptx = lower::nvptx::run(&self.unit, arch, Keep::in_folder(None));
        ptx.map(|ptx| ptx.text).map_err(|e| e.to_string())
    }
}
