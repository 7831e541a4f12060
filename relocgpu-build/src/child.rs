//! The lowering process, from both ends.
//!
//! ```text
//! OUT_DIR/relocgpu/<unit>/job.json       what the child is asked
//!                         doing.txt      its last step, for when LLVM ends it
//!                         outcome.json   its answer
//! ```
//!
//! LLVM ends the process on a fatal error, so everything that touches it runs in a child: the build script itself,
//! started again. User code in front of `compile()` runs once more, and what it prints is dropped.

use crate::device_pass::BitcodeUnit;
use crate::env::{self, Env};
use crate::error::Error;
use crate::job::{Job, Lowered, Origin, Outcome};
use crate::toolchain::Toolchain;
use crate::{Builder, cache, device_pass, pipeline, reuse, step};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Lines of the child's standard error that an error report shows.
const STDERR_LINES: usize = 30;

/// What the child answers: the outcome, or the text of an [`Error`].
type Answer = Result<Outcome, String>;

/// Makes one unit's image in a child process, or takes what an earlier run has left of the very same job.
pub(crate) fn run(env: &Env, toolchain: &Toolchain, builder: &Builder, unit: &BitcodeUnit) -> Result<Outcome, Error> {
    let out_dir = env.unit_dir(unit);
    fs::create_dir_all(&out_dir).map_err(Error::file("make the folder", &out_dir))?;
    let keep = builder.keep.as_ref().or(env.keep.as_ref());
    let job = Job {
        unit: unit.name.clone(),
        root: unit.bitcode.clone(),
        libraries: unit.libraries.clone(),
        std: toolchain.std.clone(),
        compiler: toolchain.version.clone(),
        architectures: builder.architectures.clone(),
        cpu_levels: builder.cpu_levels.clone(),
        line_info: builder.line_info,
        delivery: builder.delivery,
        cache: device_pass::base(env).join(cache::FOLDER),
        keep: keep.map(|folder| folder.join(&env.package).join(unit.folder())),
        out_dir,
    };
    let outcome = reuse::outcome(&job, || ask(env, toolchain, &job, &unit.label()))?;
    if env.log
        && let Outcome::Built(_, lowered) = &outcome
    {
        eprintln!("{}", report(lowered, &unit.label()));
    }
    Ok(outcome)
}

/// What `RELOCGPU_LOG` shows of a unit.
fn report(lowered: &Lowered, label: &str) -> String {
    let how = match lowered.origin {
        Origin::Made => "miss",
        Origin::Cache => "hit",
        Origin::Image => "not asked, the image is unchanged:",
    };
    format!("relocgpu: cache {how} {:.12} {label}", lowered.key)
}

/// Starts the child and reads its answer.
fn ask(env: &Env, toolchain: &Toolchain, job: &Job, label: &str) -> Result<Outcome, Error> {
    let job_path = job.out_dir.join("job.json");
    write_json(&job_path, job)?;
    let _ = fs::remove_file(answer_path(job));
    // A child that does not even start must not be blamed on an earlier one's last step.
    let _ = fs::remove_file(step_path(job));
    let program = env::own_program()?;
    let mut libraries = toolchain.llvm_dir.clone().into_os_string();
    if let Some(inherited) = &env.library_path {
        libraries.push(":");
        libraries.push(inherited);
    }
    let mut command = Command::new(&program);
    command.env(env::STAGE, env::LOWER).env(env::JOB, &job_path).env("LD_LIBRARY_PATH", libraries);
    let output = command.output().map_err(Error::file("start", &program))?;
    match fs::read(answer_path(job)).ok().and_then(|text| serde_json::from_slice::<Answer>(&text).ok()) {
        Some(answer) => answer.map_err(|what| Error::Lowering { unit: label.to_owned(), what }),
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
        doing: fs::read_to_string(step_path(job)).unwrap_or_else(|_| "starting".to_owned()),
        stderr: lines[lines.len().saturating_sub(STDERR_LINES)..].join("\n"),
        job: job_path,
    }
}

/// The child's side: runs the job and leaves the answer.
pub(crate) fn serve(job_path: &Path) -> Result<(), Error> {
    let text = fs::read(job_path).map_err(Error::file("read", job_path))?;
    let job: Job = serde_json::from_slice(&text).map_err(|e| Error::Job { path: job_path.to_owned(), what: e.to_string() })?;
    step::tell(step_path(&job));
    step::begin("starting");
    let answer: Answer = pipeline::run(&job).map_err(|error| error.to_string());
    write_json(&answer_path(&job), &answer)
}

fn answer_path(job: &Job) -> PathBuf {
    job.out_dir.join("outcome.json")
}

fn step_path(job: &Job) -> PathBuf {
    job.out_dir.join("doing.txt")
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(value).map_err(|e| Error::File { doing: "write", path: path.to_owned(), source: e.into() })?;
    fs::write(path, text).map_err(Error::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use relocgpu_runtime::contract::manifest::UnitName;

    /// What a child leaves that ends like LLVM does: a message and a signal. Its answer is an error like any other.
    #[test]
    fn a_child_that_dies_is_an_error_with_its_last_step_and_its_input() {
        let folder = tempfile::tempdir().unwrap();
        let unit = UnitName { package: "p".into(), version: "1.0.0".into(), kind: "lib".into(), crate_name: "p".into(), test: false };
        let job = Job {
            unit,
            root: folder.path().join("p.bc"),
            libraries: Vec::new(),
            std: Vec::new(),
            compiler: String::new(),
            architectures: vec![75],
            cpu_levels: Vec::new(),
            line_info: false,
            delivery: Default::default(),
            cache: PathBuf::new(),
            keep: None,
            out_dir: folder.path().to_owned(),
        };
        let job_path = folder.path().join("job.json");
        write_json(&job_path, &job).unwrap();
        let dies = |last_step: &str| {
            let script = format!(
                "{last_step}; i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo line $i >&2; done; echo LLVM ERROR: unsupported >&2; kill -ABRT $$"
            );
            Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap()
        };
        let text = death(&dies("true"), &job, job_path.clone(), "lib `p` of p").to_string();
        assert!(text.contains("lib `p` of p") && text.contains("starting"), "{text}");
        let output = dies("echo 'lowering kernels `p::k` to PTX for sm_75' > doing.txt");
        let text = death(&output, &job, job_path.clone(), "lib `p` of p").to_string();
        for part in [
            "lib `p` of p",
            "signal: 6",
            "lowering kernels `p::k` to PTX for sm_75",
            "LLVM ERROR: unsupported",
            "line 100",
            &job_path.display().to_string(),
        ] {
            assert!(text.contains(part), "no `{part}` in {text}");
        }
        assert!(!text.contains("line 50\n"), "only the end of what it said: {text}");
        assert!(job_path.exists());
    }
}
