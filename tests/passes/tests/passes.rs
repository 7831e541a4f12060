//! Runs every case in a process of its own: LLVM ends the process that gives it what it cannot do.

use libtest_mimic::{Arguments, Failed, Trial};
use passes::{Case, sysroot_libraries};
use ptxas::Ptxas;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, OnceLock};

/// Names the case that a child process runs.
const CASE: &str = "PASSES_CASE";
/// Folders of cases beside `cases` itself.
const FOLDERS: [&str; 2] = ["faults", "refused"];
/// What the child prints before the PTX of a case that holds.
const PTX: &str = "---- ptx ----\n";

fn main() -> ExitCode {
    if let Some(path) = std::env::var_os(CASE) {
        return match Case::read(Path::new(&path)).and_then(|case| case.run()) {
            Ok(ptx) => {
                print!("{PTX}{ptx}");
                ExitCode::SUCCESS
            }
            Err(message) => {
                println!("{message}");
                ExitCode::FAILURE
            }
        };
    }
    let arguments = Arguments::from_args();
    let ptxas = Ptxas::find();
    if ptxas.is_none() {
        eprintln!("{}", ptxas::MISSING);
    }
    let trials = cases().into_iter().flat_map(|path| trials(path, ptxas.clone())).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What a case says, and what ptxas says to its PTX. Whichever comes first runs it.
fn trials(path: PathBuf, ptxas: Option<Ptxas>) -> Vec<Trial> {
    let within = |folder: &str| path.parent().is_some_and(|p| p.ends_with(folder));
    let folder = FOLDERS.into_iter().find(|folder| within(folder)).map(|folder| format!("{folder}/")).unwrap_or_default();
    let name = format!("{folder}{}", path.file_name().unwrap_or_default().to_string_lossy());
    let arch = Case::read(&path).map(|case| case.arch());
    let ran: Arc<OnceLock<Result<String, String>>> = Arc::default();
    let run = move || ran.get_or_init(|| in_child(&path)).clone();

    let again = run.clone();
    let holds = Trial::test(&name, move || run().map(drop).map_err(Failed::from));
    let Ok(Some(arch)) = arch else { return vec![holds] };
    let missing = ptxas.is_none();
    let assembles = move || match ptxas {
        Some(ptxas) => Ok(ptxas.assemble(&again().map_err(|_| "the case does not hold")?, arch?)?),
        None => Err(Failed::from(ptxas::MISSING)),
    };
    vec![holds, Trial::test(format!("{name}: its PTX assembles"), assembles).with_ignored_flag(missing)]
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let list = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut cases: Vec<_> = list(root.clone()).chain(FOLDERS.into_iter().flat_map(|folder| list(root.join(folder)))).collect();
    cases.retain(|path| path.is_file() && path.file_name().is_some_and(|name| name != "prelude.rs"));
    cases.sort();
    cases
}

/// The PTX of a case that holds.
fn in_child(path: &Path) -> Result<String, String> {
    // The compiler's libraries are where LLVM is looked for.
    let libraries = sysroot_libraries()?.0;
    let mut child = Command::new(std::env::current_exe().map_err(|e| e.to_string())?);
    child.env(CASE, path).env("LD_LIBRARY_PATH", libraries).arg0("passes-case");
    let run = child.output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&run.stdout);
    match said.split_once(PTX) {
        Some((_, ptx)) if run.status.success() => Ok(ptx.to_owned()),
        _ => Err(format!("{}\n{said}{}", run.status, String::from_utf8_lossy(&run.stderr))),
    }
}
