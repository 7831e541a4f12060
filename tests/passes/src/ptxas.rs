//! NVIDIA's assembler, where it is installed.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// Prints where pip put ptxas.
const FIND: &str = "import glob, site
for d in site.getsitepackages() + [site.getusersitepackages()]:
    for p in glob.glob(d + '/nvidia/cu*/bin/ptxas') + glob.glob(d + '/nvidia/cuda_nvcc/bin/ptxas'):
        print(p)";

fn ptxas() -> Option<&'static PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let runs = |path: &PathBuf| Command::new(path).arg("--version").output().is_ok_and(|o| o.status.success());
    let find = || {
        let listed = Command::new("python3").args(["-c", FIND]).output().map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        let listed = listed.unwrap_or_default();
        std::iter::once("ptxas").chain(listed.lines()).map(PathBuf::from).find(runs)
    };
    FOUND.get_or_init(find).as_ref()
}

/// Assembles PTX; `None` where there is no ptxas.
pub fn assemble(text: &str, arch: u32) -> Option<Result<(), String>> {
    let run = || -> Result<(), String> {
        let ptxas = ptxas().ok_or("no ptxas")?;
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (input, output) = (folder.path().join("in.ptx"), folder.path().join("out.cubin"));
        std::fs::write(&input, text).map_err(|e| e.to_string())?;
        let run = Command::new(ptxas).arg(format!("-arch=sm_{arch}")).arg(&input).arg("-o").arg(&output).output();
        let said = run.map_err(|e| e.to_string()).map(|run| (run.status.success(), String::from_utf8_lossy(&run.stderr).into_owned()))?;
        // A warning about a variable is as bad as an error: ptxas defines what is missing as zero.
        let bad = said.1.lines().any(|line| !line.contains("Stack size for entry function"));
        if said.0 && !bad { Ok(()) } else { Err(said.1) }
    };
    ptxas().map(|_| run())
}
