//! NVIDIA's assembler, where it is installed: a tool of the tests, never of users.

use std::path::PathBuf;
use std::process::Command;

/// What a test says once where ptxas is missing; the trials that need it are then ignored.
pub const MISSING: &str = "ptxas is not installed (pip install nvidia-cuda-nvcc): PTX is not assembled, those tests are ignored";

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
        let runs = |path: &PathBuf| Command::new(path).arg("--version").output().is_ok_and(|output| output.status.success());
        let listed = || {
            let listed = Command::new("python3").args(["-c", FIND]).output().map(|output| output.stdout).unwrap_or_default();
            String::from_utf8_lossy(&listed).lines().map(PathBuf::from).collect::<Vec<_>>()
        };
        let path = Some(PathBuf::from("ptxas")).filter(runs).or_else(|| listed().into_iter().find(runs))?;
        Some(Self { path })
    }

    /// Assembles PTX for an architecture: 75 for `sm_75`.
    ///
    /// # Errors
    /// What ptxas says. Warnings about variables count: it defines those that are missing as zero.
    pub fn assemble(&self, text: &str, arch: u32) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (input, output) = (folder.path().join("in.ptx"), folder.path().join("out.cubin"));
        std::fs::write(&input, text).map_err(|error| error.to_string())?;
        let run = Command::new(&self.path).arg(format!("-arch=sm_{arch}")).arg(&input).arg("-o").arg(&output).output();
        let run = run.map_err(|error| format!("{}: {error}", self.path.display()))?;
        let said = String::from_utf8_lossy(&run.stderr);
        let faults: Vec<&str> = said.lines().filter(|line| !line.contains("Stack size for entry function")).collect();
        if run.status.success() && faults.is_empty() {
            return Ok(());
        }
        Err(format!("ptxas: {}\n{}", run.status, faults.into_iter().take(5).collect::<Vec<_>>().join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const KERNEL: &str = ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n";

    #[test]
    fn assembles_ptx_and_refuses_what_is_none_or_lacks_something() {
        let Some(ptxas) = Ptxas::find() else {
            // Not `eprintln!`, which the harness keeps to itself where a test passes.
            return writeln!(std::io::stderr(), "{MISSING}").unwrap();
        };
        ptxas.assemble(KERNEL, 75).unwrap();
        ptxas.assemble(&KERNEL.replace("ret;", "return;"), 75).unwrap_err();
        let lacking = KERNEL.replace(".visible .entry", ".extern .global .u32 lost;\n.visible .entry");
        let lacking = lacking.replace("\tret;", "\t.reg .b32 %r;\n\tst.global.u32 [lost], 1;\n\tret;");
        let said = ptxas.assemble(&lacking, 75).unwrap_err();
        assert!(said.contains("lost"), "{said}");
    }
}
