//! The compiler of this build: its version, its LLVM, its standard library.

use crate::env::Env;
use crate::error::Error;
use std::path::{Path, PathBuf};
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
        check_platform(&env.host, &env.target)?;
        let version = ask(env, &["-vV"])?;
        if !env.allow_llvm {
            check_llvm(&version)?;
        }
        let libdir = |sysroot: &Path| sysroot.join("lib/rustlib").join(&env.target).join("lib");
        let sysroot = match home(&env.rustc).filter(|sysroot| libdir(sysroot).is_dir()) {
            Some(sysroot) => sysroot,
            None => PathBuf::from(ask(env, &["--print", "sysroot"])?.trim()),
        };
        Ok(Self { std: archives(libdir(&sysroot))?, llvm_dir: sysroot.join("lib"), version })
    }
}

/// The sysroot of a compiler that is named by its place in it, which spares a question in every build.
fn home(rustc: &Path) -> Option<PathBuf> {
    let place = rustc.is_absolute().then(|| rustc.canonicalize().ok()).flatten()?;
    place.parent()?.parent().map(Path::to_owned)
}

fn check_platform(host: &str, target: &str) -> Result<(), Error> {
    let served = |triple: &str| triple.starts_with("x86_64-") && triple.contains("-linux");
    if served(host) && served(target) { Ok(()) } else { Err(Error::Platform { host: host.to_owned(), target: target.to_owned() }) }
}

/// Reads `rustc -vV`.
fn check_llvm(version: &str) -> Result<(), Error> {
    let field = |name: &str| version.lines().find_map(|l| l.strip_prefix(name)).unwrap_or("unknown").trim().to_owned();
    let found = field("LLVM version:");
    if found.split('.').next().and_then(|n| n.parse().ok()) == Some(LLVM_MAJOR) {
        Ok(())
    } else {
        Err(Error::LlvmVersion { rustc: field("release:"), found, wanted: LLVM_MAJOR })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_llvm_is_an_error_with_an_override() {
        assert!(check_llvm("rustc 1.95.0\nrelease: 1.95.0\nLLVM version: 22.1.2\n").is_ok());
        let old = check_llvm("rustc 1.80.0\nrelease: 1.80.0\nLLVM version: 18.1.7\n").unwrap_err().to_string();
        assert!(old.starts_with("rustc 1.80.0 carries LLVM 18.1.7") && old.contains("RELOCGPU_ALLOW_LLVM=1"), "{old}");
        let none = check_llvm("rustc 1.95.0\nrelease: 1.95.0\n").unwrap_err().to_string();
        assert!(none.contains("LLVM unknown"), "{none}");
    }

    #[test]
    fn other_platforms_are_named() {
        assert!(check_platform("x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl").is_ok());
        for (host, target) in [("aarch64-apple-darwin", "aarch64-apple-darwin"), ("x86_64-unknown-linux-gnu", "wasm32-unknown-unknown")] {
            let text = check_platform(host, target).unwrap_err().to_string();
            assert!(text.contains(host) && text.contains(target) && text.contains("help:"), "{text}");
        }
    }
}
