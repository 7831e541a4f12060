//! NVIDIA's assembler, where it is installed: a tool of the tests, never of users.

use crate::Module;
use std::path::PathBuf;
use std::process::Command;

/// Prints where pip put ptxas.
const FIND: &str = "import glob, site
for d in site.getsitepackages() + [site.getusersitepackages()]:
    for p in glob.glob(d + '/nvidia/cu*/bin/ptxas') + glob.glob(d + '/nvidia/cuda_nvcc/bin/ptxas'):
        print(p)";

/// ptxas.
#[derive(Clone, Debug)]
pub struct Ptxas {
    path: PathBuf,
}

impl Ptxas {
    /// The one of the path, or of pip's `nvidia-cuda-nvcc`.
    pub fn find() -> Option<Self> {
        let runs = |path: PathBuf| Command::new(&path).arg("--version").output().is_ok_and(|o| o.status.success()).then_some(Self { path });
        runs("ptxas".into()).or_else(|| {
            let output = Command::new("python3").args(["-c", FIND]).output().ok()?;
            runs(String::from_utf8(output.stdout).ok()?.lines().next()?.into())
        })
    }

    /// Assembles a module for an architecture.
    ///
    /// # Errors
    /// What ptxas says. Warnings about variables count: it defines those that are missing as zero.
    pub fn assemble(&self, module: &Module, arch: u32) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (input, output) = (folder.path().join("in.ptx"), folder.path().join("out.cubin"));
        std::fs::write(&input, &module.text).map_err(|error| error.to_string())?;
        let run = Command::new(&self.path).arg(format!("-arch=sm_{arch}")).arg(&input).arg("-o").arg(&output).output();
        let run = run.map_err(|error| format!("{}: {error}", self.path.display()))?;
        let said = String::from_utf8_lossy(&run.stderr);
        let faults: Vec<&str> = said.lines().filter(|line| !line.contains("Stack size for entry function")).collect();
        if run.status.success() && faults.is_empty() { Ok(()) } else { Err(faults.into_iter().take(5).collect::<Vec<_>>().join("\n")) }
    }
}
