//! Runs every case in a process of its own: LLVM ends the process that gives it what it cannot do.

use libtest_mimic::{Arguments, Failed, Trial};
use passes::{Case, assemble, run, sysroot_libraries};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Names the case that a child process runs.
const CASE: &str = "PASSES_CASE";

fn main() -> ExitCode {
    if let Some(path) = std::env::var_os(CASE) {
        return match Case::read(Path::new(&path)).and_then(|case| run(&case)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => {
                println!("{message}");
                ExitCode::FAILURE
            }
        };
    }
    let arguments = Arguments::from_args();
    if assemble("", 75).is_none() {
        eprintln!("ptxas is not installed (pip install nvidia-cuda-nvcc): the PTX is not assembled");
    }
    let trials = cases().into_iter().map(|path| {
        let folder = if path.parent().is_some_and(|p| p.ends_with("faults")) { "faults/" } else { "" };
        let name = format!("{folder}{}", path.file_name().unwrap_or_default().to_string_lossy());
        Trial::test(name, move || in_child(&path).map_err(Failed::from))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let list = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut cases: Vec<_> = list(root.clone()).chain(list(root.join("faults"))).collect();
    cases.retain(|path| path.is_file() && path.file_name().is_some_and(|name| name != "prelude.rs"));
    cases.sort();
    cases
}

fn in_child(path: &Path) -> Result<(), String> {
    // The compiler's libraries are where LLVM is looked for.
    let libraries = sysroot_libraries()?.0;
    let mut child = Command::new(std::env::current_exe().map_err(|e| e.to_string())?);
    child.env(CASE, path).env("LD_LIBRARY_PATH", libraries).arg0("passes-case");
    let run = child.output().map_err(|e| e.to_string())?;
    if run.status.success() {
        return Ok(());
    }
    Err(format!("{}\n{}{}", run.status, String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr)))
}
