//! Code of an earlier run, kept beside the image: where the relocatable unit comes out the same, nothing is lowered again.
//!
//! An edit of host code, or of lines above a kernel, changes the bitcode that the stages start from but not the unit.

use crate::job::Job;
use crate::lower::cpu::Native;
use crate::relocate::Unit;
use relocgpu_runtime::contract::image::PtxEntry;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// All code of one unit.
#[derive(Serialize, Deserialize)]
pub(crate) struct Lowered {
    key: Option<Key>,
    /// Architecture, PTX ISA version and text, by rising architecture.
    ptx: Vec<(u32, (u32, u32), String)>,
    /// Objects by rising level.
    pub(crate) native: Native,
}

impl Lowered {
    /// What was just made.
    pub(crate) fn new(unit: &Unit, job: &Job, ptx: Vec<PtxEntry>, native: Native) -> Self {
        let ptx = ptx.into_iter().map(|entry| (entry.arch, entry.isa, entry.text.into_owned())).collect();
        Self { key: Key::of(unit, job), ptx, native }
    }

    /// The PTX as the image holds it.
    pub(crate) fn ptx(&self) -> Vec<PtxEntry<'_>> {
        self.ptx.iter().map(|(arch, isa, text)| PtxEntry { arch: *arch, isa: *isa, text: text.as_str().into() }).collect()
    }

    /// Keeps it for the next run, which does without if this fails.
    pub(crate) fn store(&self, job: &Job) {
        if let Ok(bytes) = postcard::to_allocvec(self) {
            let _ = std::fs::write(path(job), bytes);
        }
    }
}

/// What code follows from.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Key {
    unit: [u8; 32],
    architectures: Vec<u32>,
    cpu_levels: Vec<String>,
    line_info: bool,
    /// The running program, which holds the stages: path, length, time of its last change.
    stages: String,
}

impl Key {
    fn of(unit: &Unit, job: &Job) -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        let metadata = program.metadata().ok()?;
        Some(Self {
            unit: unit.hash,
            architectures: job.architectures.clone(),
            cpu_levels: job.cpu_levels.clone(),
            line_info: job.line_info,
            stages: format!("{} {} {:?}", program.display(), metadata.len(), metadata.modified().ok()?),
        })
    }
}

fn path(job: &Job) -> PathBuf {
    job.out_dir.join("lowered.bin")
}

/// The code that an earlier run made of this very unit. Whoever wants to see intermediates has it made again.
pub(crate) fn load(unit: &Unit, job: &Job) -> Option<Lowered> {
    if job.keep.is_some() {
        return None;
    }
    let bytes = std::fs::read(path(job)).ok()?;
    let lowered: Lowered = postcard::from_bytes(&bytes).ok()?;
    (lowered.key.is_some() && lowered.key == Key::of(unit, job)).then_some(lowered)
}
