//! Compiles cases as the device pass compiles crates.

use std::path::{Path, PathBuf};
use std::process::Command;

const FLAGS: &str = "--edition=2024 -Copt-level=3 -Cno-prepopulate-passes -Cpanic=abort -Ccodegen-units=1 -Cdebuginfo=line-tables-only \
                     -Zmir-enable-passes=-JumpThreading -Zallow-features= --cfg=relocgpu_device -Awarnings";

/// The compiler and the crate that cases use.
pub struct Compiler {
    folder: tempfile::TempDir,
}

impl Compiler {
    /// Compiles `prelude.rs`, which stands for relocgpu-runtime's device library.
    ///
    /// # Errors
    /// What rustc says.
    pub fn new(cases: &Path) -> Result<Self, String> {
        let compiler = Self { folder: tempfile::tempdir().map_err(|e| e.to_string())? };
        let source = cases.join("prelude.rs");
        compiler.rustc(&source, &["--crate-type=lib", "--emit=link,llvm-bc"], None)?;
        Ok(compiler)
    }

    /// Bitcode of the prelude.
    pub fn prelude(&self) -> PathBuf {
        self.folder.path().join("prelude.bc")
    }

    /// Compiles a case to bitcode.
    ///
    /// # Errors
    /// What rustc says.
    pub fn case(&self, source: &Path) -> Result<PathBuf, String> {
        let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let output = self.folder.path().join(format!("{stem}.bc"));
        let library = self.folder.path().join("libprelude.rlib");
        let prelude = format!("prelude={}", library.display());
        let arguments = ["--crate-type=lib", "--crate-name=case", "--emit=llvm-bc", "--extern", &prelude];
        self.rustc(source, &arguments, Some(&output))?;
        Ok(output)
    }

    /// Turns IR text into bitcode.
    ///
    /// # Errors
    /// What LLVM says.
    pub fn assemble(&self, source: &Path) -> Result<PathBuf, String> {
        let text = std::fs::read_to_string(source).map_err(|e| e.to_string())?;
        let output = self.folder.path().join("text.bc");
        std::fs::write(&output, relocgpu_build::testing::bitcode(&text)?).map_err(|e| e.to_string())?;
        Ok(output)
    }

    fn rustc(&self, source: &Path, arguments: &[&str], output: Option<&Path>) -> Result<(), String> {
        let folder = source.parent().unwrap_or(Path::new(".")).display().to_string();
        let mut command = Command::new("rustc");
        command.env("RUSTC_BOOTSTRAP", "1").args(FLAGS.split_whitespace()).args(arguments).arg(source);
        command.arg(format!("--remap-path-prefix={folder}/="));
        match output {
            Some(path) => command.arg("-o").arg(path),
            None => command.arg("--out-dir").arg(self.folder.path()),
        };
        let run = command.output().map_err(|e| format!("rustc: {e}"))?;
        if run.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&run.stderr).into_owned()) }
    }
}

/// Folder of the compiler's own libraries, and the archives of the standard library that carry bitcode.
///
/// # Errors
/// What rustc says.
pub fn sysroot_libraries() -> Result<(PathBuf, Vec<PathBuf>), String> {
    let run = Command::new("rustc").args(["--print=sysroot", "--print=target-libdir"]).output().map_err(|e| format!("rustc: {e}"))?;
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let [sysroot, libraries] = text.lines().collect::<Vec<_>>()[..] else { return Err(format!("rustc --print says {text:?}")) };
    let files: Vec<PathBuf> = std::fs::read_dir(libraries).map_err(|e| e.to_string())?.flatten().map(|entry| entry.path()).collect();
    let find = |name: &str| {
        let found = files.iter().find(|path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")
        });
        found.cloned().ok_or_else(|| format!("{libraries} has no {name}"))
    };
    Ok((Path::new(sysroot).join("lib"), vec![find("alloc")?, find("core")?, find("compiler_builtins")?]))
}
