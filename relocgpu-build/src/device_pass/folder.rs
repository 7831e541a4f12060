//! The device target folder, and the rustc wrapper in it.
//!
//! ```text
//! <target>/relocgpu/wrapper-<hash>/    wrapper, wrapper.rs, stand_in.rs
//! <target>/relocgpu/<hash>/            target folder of the nested cargo
//! <target>/relocgpu/in-use.lock        held, shared, by every build script that works with any of them
//! <target>/relocgpu/lowered/           see `cache`
//! ```
//!
//! Cargo does not see what the wrapper adds and replaces, so a hash of all of it is in the folders' names. Kernel crates
//! of one workspace have equal hashes and share what they compile.

use super::sweep;
use crate::env::Env;
use crate::error::Error;
use crate::toolchain::Toolchain;
use relocgpu_runtime::contract::names::fnv1a;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const WRAPPER: &str = include_str!("wrapper.rs");
const SOURCES: [(&str, &str); 2] = [("wrapper.rs", WRAPPER), ("stand_in.rs", include_str!("stand_in.rs"))];

/// The wrapper and what it puts in other crates' places.
#[derive(Debug)]
pub(super) struct Tools {
    /// Folder of the files.
    pub files: PathBuf,
    /// The wrapper.
    pub wrapper: PathBuf,
    /// `<target>/relocgpu`.
    base: PathBuf,
    /// Of the files and the compiler.
    hash: u64,
}

impl Tools {
    /// Target folder of the nested cargo; `flags` is everything that decides what is compiled and that cargo does not see.
    pub fn target_dir(&self, flags: &str) -> PathBuf {
        self.base.join(format!("{:016x}", fnv1a(format!("{:x}\0{flags}", self.hash).as_bytes())))
    }
}

/// Compiles the wrapper unless it is there. While the file is open no build script cleans up.
pub(super) fn tools(env: &Env, toolchain: &Toolchain) -> Result<(Tools, File), Error> {
    let base = base(env);
    let sources: String = SOURCES.iter().map(|(_, text)| *text).collect();
    let hash = fnv1a(format!("{sources}\0{}", toolchain.version).as_bytes());
    let files = base.join(format!("wrapper-{hash:016x}"));
    fs::create_dir_all(&base).map_err(Error::file("make the folder", &base))?;
    let in_use = sweep::hold(&base)?;
    sweep::mark_used(&files)?;

    // Two build scripts of a workspace may get here at the same time.
    let lock_path = base.join("wrapper.lock");
    let lock = File::create(&lock_path).map_err(Error::file("make the lock", &lock_path))?;
    lock.lock().map_err(Error::file("lock", &lock_path))?;
    let wrapper = files.join("wrapper");
    if !wrapper.exists() {
        compile_wrapper(env, &files, &wrapper)?;
    }
    Ok((Tools { files, wrapper, base, hash }, in_use))
}

/// `<target>/relocgpu`, which all packages and profiles of the outer build share.
pub(crate) fn base(env: &Env) -> PathBuf {
    outer_target(env).join("relocgpu")
}

/// `<target>` of `<target>[/<triple>]/<profile>/build/…`, which is where cargo puts OUT_DIR.
fn outer_target(env: &Env) -> PathBuf {
    let build = env.out_dir.ancestors().find(|a| a.file_name().is_some_and(|n| n == "build"));
    let Some(above) = build.and_then(|b| b.parent()?.parent()) else { return env.out_dir.clone() };
    match above.parent() {
        Some(target) if above.file_name().is_some_and(|n| n == env.target.as_str()) => target.to_owned(),
        _ => above.to_owned(),
    }
}

/// The name of the outer build's profile, which OUT_DIR tells and no variable does.
pub(super) fn profile(env: &Env) -> String {
    let build = env.out_dir.ancestors().find(|a| a.file_name().is_some_and(|n| n == "build"));
    match build.and_then(|b| b.parent()?.file_name()?.to_str()) {
        None | Some("debug") => "dev".to_owned(),
        Some(name) => name.to_owned(),
    }
}

fn compile_wrapper(env: &Env, files: &Path, wrapper: &Path) -> Result<(), Error> {
    for (name, text) in SOURCES {
        let path = files.join(name);
        fs::write(&path, text).map_err(Error::file("write", path))?;
    }
    // Under its final name only when it is complete.
    let partial = files.join("wrapper.partial");
    let mut command = Command::new(&env.rustc);
    crate::env::scrub(&mut command);
    command.args(["--edition=2024", "--crate-name=wrapper", "--cap-lints=allow", "-Cdebuginfo=0", "-o"]);
    command.arg(&partial).arg(files.join("wrapper.rs"));
    let shown = super::cargo::shell_line(&command);
    let failed = |stderr: String| Error::Wrapper { command: shown, stderr };
    let output = match command.output() {
        Ok(output) => output,
        Err(e) => return Err(failed(e.to_string())),
    };
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    fs::rename(&partial, wrapper).map_err(Error::file("rename to", wrapper))
}

#[cfg(test)]
#[allow(dead_code)]
#[path = "stand_in.rs"]
mod stand_in;

#[cfg(test)]
mod tests {
    /// Each use compiles with both.
    macro_rules! uses {
        ($krate:path) => {{
            use $krate as krate;
            let _: fn() = krate::compile;
            |builder: krate::Builder| {
                let builder = builder.arch(80).architectures([75, 90]).cpu_levels(["x86-64"]).cpu_levels(vec![String::new()]);
                builder.line_info(true).keep("folder").keep(std::path::PathBuf::new()).cfg("name").clone().compile()
            }
        }};
    }

    #[test]
    fn the_target_folder_and_the_profile_are_read_off_out_dir() {
        for (out_dir, target, profile) in [
            ("/t/debug/build/p-12/out", "/t", "dev"),
            ("/t/release/build/p-12/out", "/t", "release"),
            ("/t/x86_64-unknown-linux-gnu/tuned/build/p-12/out", "/t", "tuned"),
            ("/t/debug/build/p/12/out", "/t", "dev"),
        ] {
            let env = crate::env::Env::of_package("/p".as_ref(), out_dir.as_ref());
            assert_eq!(super::outer_target(&env), std::path::Path::new(target), "{out_dir}");
            assert_eq!(super::profile(&env), profile, "{out_dir}");
        }
    }

    #[test]
    fn the_stand_in_has_the_interface_of_the_real_one() {
        let _ = (uses!(crate), uses!(super::stand_in));
        let names = |text: &str| {
            let lines = text.lines().map(str::trim_start);
            let names = lines.filter_map(|l| l.strip_prefix("pub fn ")?.split(['(', '<']).next().map(str::to_owned));
            names.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(names(include_str!("stand_in.rs")), names(include_str!("../lib.rs")));
    }
}
