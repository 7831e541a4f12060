//! The compiler of this build: its version, its LLVM, its standard library.

use crate::env::Env;
use crate::error::Error;
use std::path::PathBuf;
use std::process::Command;

/// The LLVM whose bitcode and C API this version is made for.
const LLVM_MAJOR: u32 = 22;
/// Archives of the standard library that may be linked, dependents before dependencies. Not `std`: its panic machinery
/// would bring half an operating system along.
const STD: [&str; 3] = ["alloc", "core", "compiler_builtins"];

/// What we ask rustc.
pub(crate) struct Toolchain {
    /// All of `rustc -vV`.
    pub version: String,
    /// Folder of libLLVM.
    pub llvm_dir: PathBuf,
    /// See [`STD`].
    pub std: Vec<PathBuf>,
}

impl Toolchain {
    /// Asks rustc and checks that platform and LLVM are ours.
    pub fn probe(env: &Env) -> Result<Self, Error> {
        let served = |triple: &str| triple.starts_with("x86_64-") && triple.contains("-linux");
        if !served(&env.host) || !served(&env.target) {
            return Err(Error::Platform { host: env.host.clone(), target: env.target.clone() });
        }
        let version = ask(env, &["-vV"])?;
        let field = |name: &str| version.lines().find_map(|l| l.strip_prefix(name)).unwrap_or("unknown").trim().to_owned();
        let found = field("LLVM version:");
        if found.split('.').next().and_then(|n| n.parse().ok()) != Some(LLVM_MAJOR) && !env.allow_llvm {
            return Err(Error::Llvm { rustc: field("release:"), found, wanted: LLVM_MAJOR });
        }
        let sysroot = PathBuf::from(ask(env, &["--print", "sysroot"])?.trim());
        let libdir = sysroot.join("lib/rustlib").join(&env.target).join("lib");
        Ok(Self { std: archives(libdir)?, llvm_dir: sysroot.join("lib"), version })
    }
}

fn ask(env: &Env, args: &[&str]) -> Result<String, Error> {
    let failed = |what: String| Error::Toolchain { command: format!("{} {}", env.rustc.display(), args.join(" ")), what };
    let output = Command::new(&env.rustc).args(args).output().map_err(|e| failed(e.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    String::from_utf8(output.stdout).map_err(|e| failed(e.to_string()))
}

/// `lib<name>-<hash>.rlib` for each of [`STD`].
fn archives(libdir: PathBuf) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(&libdir).map_err(Error::file("read the standard library's folder", &libdir))?;
    let mut names: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    let find = |name: &str| {
        let prefix = format!("lib{name}-");
        let file = names.iter().find(|n| n.starts_with(&prefix) && n.ends_with(".rlib"));
        file.map(|n| libdir.join(n)).ok_or_else(|| Error::Toolchain {
            command: libdir.display().to_string(),
            what: format!("the standard library's `{name}` is not there; add the target to the toolchain"),
        })
    };
    STD.into_iter().map(find).collect()
}
