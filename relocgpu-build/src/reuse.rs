//! The outcome of an earlier run of the very same job, which spares the whole child process: it holds as long as the job,
//! the age of each of its inputs and this program, which holds the stages, are the same. It is not used where
//! intermediates are wanted.
//!
//! What only spares lowering is in `cache`.

use crate::error::Error;
use crate::job::{Job, Lowered, Origin, Outcome};
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
pub(crate) fn outcome(job: &Job, make: impl FnOnce() -> Result<Outcome, Error>) -> Result<Outcome, Error> {
    let path = job.out_dir.join("outcome-of.json");
    let inputs = [&job.root].into_iter().chain(&job.libraries).chain(&job.std);
    let fingerprint = fingerprint(&format!("{job:?}"), inputs);
    let kept = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Kept<Outcome>>(&text).ok());
    if let Some(kept) = kept.filter(|kept| job.keep.is_none() && kept.holds(fingerprint) && kept.result.is_there()) {
        return Ok(match kept.result {
            Outcome::Built(image, lowered) => Outcome::Built(image, Lowered { origin: Origin::Image, ..lowered }),
            other => other,
        });
    }
    // Should this run die, no later one may take what it has half replaced.
    let _ = fs::remove_file(&path);
    let result = make()?;
    if !matches!(result, Outcome::Faults(_)) {
        store(&path, serde_json::to_vec(&Kept { fingerprint, result: &result }).ok());
    }
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
            compiler: "rustc".into(),
            cache: folder.join("lowered"),
            keep: None,
            out_dir: folder.to_owned(),
        }
    }

    /// Whether the outcome was made, not reused.
    fn is_made(job: &Job, rustc: &str) -> bool {
        let job = &Job { compiler: rustc.into(), ..job.clone() };
        let mut made = false;
        let outcome = outcome(job, || {
            made = true;
            let object = job.out_dir.join("image.o");
            fs::write(&object, "").unwrap();
            let lowered = Lowered { key: "0".into(), origin: Origin::Made };
            Ok(Outcome::Built(Image { objects: vec![object], is_referred_to: true }, lowered))
        });
        let origin = if made { Origin::Made } else { Origin::Image };
        assert!(matches!(outcome, Ok(Outcome::Built(_, lowered)) if lowered.origin == origin));
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
        assert!(outcome(&job, || Err(Error::NotABuildScript { variable: "OUT_DIR" })).is_err());
        assert!(is_made(&job, "rustc"));
    }
}
