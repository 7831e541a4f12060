//! The lowering process, from both ends.
//!
//! ```text
//! OUT_DIR/relocgpu/<unit>/job.json       what the child is asked
//!                         doing.txt      its last step, for when LLVM ends it
//!                         outcome.json   its answer
//!                         done.json      fingerprint of the job that the objects there belong to, and the answer
//! ```
//!
//! The child is the build script itself, started again: user code in front of `compile()` runs once more, and what it
//! prints is dropped.

use crate::device_pass::BitcodeUnit;
use crate::env::{self, Env};
use crate::error::Error;
use crate::job::{Built, Job, Outcome};
use crate::toolchain::Toolchain;
use crate::{Builder, pipeline};
use relocgpu_runtime::contract::names::fnv1a;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Lines of the child's standard error that an error report shows.
const STDERR_LINES: usize = 30;

/// Remembers a finished unit.
#[derive(Serialize, Deserialize)]
struct Done {
    /// Covers all that decides the outcome.
    fingerprint: String,
    built: Built,
}

/// Lowers one unit in a child process, or takes what an earlier run has left of the very same job.
pub(crate) fn run(env: &Env, toolchain: &Toolchain, builder: &Builder, unit: &BitcodeUnit) -> Result<Outcome, Error> {
    let dir = env.unit_dir(unit);
    fs::create_dir_all(&dir).map_err(Error::file("make the folder", &dir))?;
    let keep = builder.keep.as_ref().or(env.keep.as_ref());
    let job = Job {
        unit: unit.name.clone(),
        root: unit.bitcode.clone(),
        libraries: unit.libraries.clone(),
        std: toolchain.std.clone(),
        architectures: builder.architectures.clone(),
        cpu_levels: builder.cpu_levels.clone(),
        line_info: builder.line_info,
        debug_assertions: env.debug_assertions,
        keep: keep.map(|folder| folder.join(&env.package).join(unit.folder())),
        out_dir: dir.clone(),
    };
    let fingerprint = fingerprint(&job, toolchain)?;
    let done: Option<Done> = fs::read(dir.join("done.json")).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let is_there = |done: &Done| done.fingerprint == fingerprint && done.built.objects.iter().all(|o| o.exists());
    if let Some(done) = done.filter(|done| job.keep.is_none() && is_there(done)) {
        return Ok(Outcome::Built(Built { reused: true, ..done.built }));
    }
    let _ = fs::remove_file(dir.join("done.json"));
    let outcome = ask_child(env, toolchain, &job, &unit.label())?;
    if let Outcome::Built(built) = &outcome {
        write_json(&dir.join("done.json"), &Done { fingerprint, built: built.clone() })?;
    }
    Ok(outcome)
}

/// Everything that the outcome depends on: the job, the age of each input, the compiler, and the build script, which
/// holds the code that lowers.
fn fingerprint(job: &Job, toolchain: &Toolchain) -> Result<String, Error> {
    let script = std::env::current_exe().map_err(Error::file("find the build script's own executable in", "/proc/self/exe"))?;
    let mut text = format!("{job:?}\n{}", toolchain.version);
    for path in [&job.root].into_iter().chain(&job.libraries).chain(&job.std).chain([&script]) {
        let metadata = fs::metadata(path).map_err(Error::file("read", path))?;
        let modified = metadata.modified().map_err(Error::file("read", path))?;
        text += &format!("\n{} {} {modified:?}", path.display(), metadata.len());
    }
    Ok(format!("{:016x}", fnv1a(text.as_bytes())))
}

/// Starts the child and reads its answer.
fn ask_child(env: &Env, toolchain: &Toolchain, job: &Job, label: &str) -> Result<Outcome, Error> {
    let (job_path, outcome_path) = (job.out_dir.join("job.json"), job.out_dir.join("outcome.json"));
    write_json(&job_path, job)?;
    let _ = fs::remove_file(&outcome_path);
    let script = std::env::current_exe().map_err(Error::file("find the build script's own executable in", "/proc/self/exe"))?;
    let mut libraries = toolchain.llvm_dir.clone().into_os_string();
    if let Some(inherited) = &env.library_path {
        libraries.push(":");
        libraries.push(inherited);
    }
    let mut command = Command::new(&script);
    command.env(env::STAGE, env::LOWER).env(env::JOB, &job_path).env("LD_LIBRARY_PATH", libraries);
    let output = command.output().map_err(Error::file("start", &script))?;
    match fs::read(&outcome_path).ok().and_then(|text| serde_json::from_slice(&text).ok()) {
        Some(Outcome::Failed(what)) => Err(Error::Lowering { unit: label.to_owned(), what }),
        Some(outcome) => Ok(outcome),
        None => Err(death(&output, job, job_path, label)),
    }
}

/// The report of a child that left no answer.
fn death(output: &Output, job: &Job, job_path: PathBuf, label: &str) -> Error {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = stderr.lines().collect();
    Error::Died {
        unit: label.to_owned(),
        status: output.status.to_string(),
        doing: fs::read_to_string(job.out_dir.join("doing.txt")).unwrap_or_else(|_| "starting".to_owned()),
        stderr: lines[lines.len().saturating_sub(STDERR_LINES)..].join("\n"),
        job: job_path,
    }
}

/// The child's side: runs the job and leaves the answer.
pub(crate) fn serve(job_path: &Path) -> Result<(), Error> {
    let text = fs::read(job_path).map_err(Error::file("read", job_path))?;
    let job: Job =
        serde_json::from_slice(&text).map_err(|e| Error::Message { what: e.to_string(), line: job_path.display().to_string() })?;
    let outcome_path = job.out_dir.join("outcome.json");
    doing(&job, "starting");
    write_json(&outcome_path, &pipeline::run(job))
}

/// Leaves word of the step that begins, so that the report of an abort inside LLVM can name it. Name the kernel where
/// there is one.
pub(crate) fn doing(job: &Job, step: &str) {
    // Only a report would miss it.
    let _ = fs::write(job.out_dir.join("doing.txt"), step);
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(value).map_err(|e| Error::File { doing: "write", path: path.to_owned(), source: e.into() })?;
    fs::write(path, text).map_err(Error::file("write", path))
}
