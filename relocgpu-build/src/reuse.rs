//! Results of earlier runs that still hold.
//!
//! | file of the unit | spares | holds as long as |
//! |---|---|---|
//! | `outcome-of.json` | the whole child process | the job, the age of each of its inputs and the compiler are the same |
//! | `code-of.bin` | lowering | the unit's hash and the targets are the same: an edit of host code, or of lines above a kernel, changes the bitcode that the stages start from but not the unit |
//!
//! Both end with a change of the program that made them, which holds the stages, and neither is used where intermediates
//! are wanted.

use crate::error::{Error, Stopped};
use crate::job::{Job, Outcome};
use crate::lower::Code;
use crate::relocate::Unit;
use crate::toolchain::Toolchain;
use relocgpu_runtime::contract::names::fnv1a;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// A result, and all that it follows from.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    fingerprint: Option<u64>,
    result: T,
}

impl<T> Kept<T> {
    fn holds(&self, fingerprint: Option<u64>) -> bool {
        fingerprint.is_some() && self.fingerprint == fingerprint
    }
}

/// The outcome of a job: that of an earlier run, or what `make` comes to.
pub(crate) fn outcome(job: &Job, toolchain: &Toolchain, make: impl FnOnce() -> Result<Outcome, Error>) -> Result<Outcome, Error> {
    let path = job.out_dir.join("outcome-of.json");
    let inputs = [&job.root].into_iter().chain(&job.libraries).chain(&job.std);
    let fingerprint = fingerprint(&format!("{job:?}\n{}", toolchain.version), inputs);
    let kept = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Kept<Outcome>>(&text).ok());
    if let Some(kept) = kept.filter(|kept| job.keep.is_none() && kept.holds(fingerprint) && kept.result.is_there()) {
        return Ok(kept.result);
    }
    // Should this run die, no later one may take what it has half replaced.
    let _ = fs::remove_file(&path);
    let result = make()?;
    if !matches!(result, Outcome::Faults(_)) {
        store(&path, serde_json::to_vec(&Kept { fingerprint, result: &result }).ok());
    }
    Ok(result)
}

/// A unit's code: that of an earlier run, or what `make` comes to.
pub(crate) fn code(unit: &Unit, job: &Job, make: impl FnOnce() -> Result<Code, Stopped>) -> Result<Code, Stopped> {
    let path = job.out_dir.join("code-of.bin");
    let targets = format!("{:?} {:?} {:?} {}", unit.hash, job.architectures, job.cpu_levels, job.line_info);
    let fingerprint = fingerprint(&targets, []);
    let kept = fs::read(&path).ok().and_then(|bytes| postcard::from_bytes::<Kept<Code>>(&bytes).ok());
    if let Some(kept) = kept.filter(|kept| job.keep.is_none() && kept.holds(fingerprint)) {
        return Ok(kept.result);
    }
    let result = make()?;
    store(&path, postcard::to_allocvec(&Kept { fingerprint, result: &result }).ok());
    Ok(result)
}

/// Covers a text, the age of some files, and this program; `None` if one of the files is not there.
fn fingerprint<'a>(text: &str, files: impl IntoIterator<Item = &'a PathBuf>) -> Option<u64> {
    let mut covered = format!("{text}\n{}", age(&std::env::current_exe().ok()?)?);
    for path in files {
        covered += &format!("\n{}", age(path)?);
    }
    Some(fnv1a(covered.as_bytes()))
}

fn age(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    Some(format!("{} {} {:?}", path.display(), metadata.len(), metadata.modified().ok()?))
}

/// The next run does without if this fails.
fn store(path: &Path, bytes: Option<Vec<u8>>) {
    if let Some(bytes) = bytes {
        let _ = fs::write(path, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Image;
    use relocgpu_runtime::contract::manifest::UnitName;

    /// A job with one input and one object, both in `folder`.
    fn job(folder: &Path) -> Job {
        fs::write(folder.join("root.bc"), "1").unwrap();
        Job {
            unit: UnitName { package: "p".into(), version: "1.0.0".into(), kind: "lib".into(), crate_name: "p".into(), test: false },
            root: folder.join("root.bc"),
            libraries: Vec::new(),
            std: Vec::new(),
            architectures: vec![75],
            cpu_levels: Vec::new(),
            line_info: false,
            delivery: Default::default(),
            keep: None,
            out_dir: folder.to_owned(),
        }
    }

    /// Whether the outcome was made, not reused.
    fn is_made(job: &Job, rustc: &str) -> bool {
        let toolchain = Toolchain { version: rustc.to_owned(), llvm_dir: PathBuf::new(), std: Vec::new() };
        let mut made = false;
        let outcome = outcome(job, &toolchain, || {
            made = true;
            let object = job.out_dir.join("image.o");
            fs::write(&object, "").unwrap();
            Ok(Outcome::Built(Image { objects: vec![object], is_referred_to: true }))
        });
        assert!(matches!(outcome, Ok(Outcome::Built(_))));
        made
    }

    #[test]
    fn an_outcome_holds_until_something_that_it_follows_from_changes() {
        let folder = tempfile::tempdir().unwrap();
        let mut job = job(folder.path());
        assert!(is_made(&job, "rustc 1") && !is_made(&job, "rustc 1"));
        assert!(is_made(&job, "rustc 2"), "another compiler");
        fs::write(&job.root, "12").unwrap();
        assert!(is_made(&job, "rustc 2"), "another input");
        job.architectures.push(80);
        assert!(is_made(&job, "rustc 2"), "another job");
        fs::remove_file(folder.path().join("image.o")).unwrap();
        assert!(is_made(&job, "rustc 2"), "an object is gone");
        assert!(!is_made(&job, "rustc 2"));
        job.keep = Some(folder.path().join("kept"));
        assert!(is_made(&job, "rustc 2") && is_made(&job, "rustc 2"), "intermediates are wanted");
    }

    #[test]
    fn a_failed_run_leaves_nothing_to_reuse() {
        let folder = tempfile::tempdir().unwrap();
        let job = job(folder.path());
        assert!(is_made(&job, "rustc"));
        fs::write(&job.root, "12").unwrap();
        let toolchain = Toolchain { version: "rustc".to_owned(), llvm_dir: PathBuf::new(), std: Vec::new() };
        assert!(outcome(&job, &toolchain, || Err(Error::NotABuildScript { variable: "OUT_DIR" })).is_err());
        assert!(is_made(&job, "rustc"));
    }
}
