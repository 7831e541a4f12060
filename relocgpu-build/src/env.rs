//! The environment, read in this file and nowhere else, so that no variable can matter without a
//! `rerun-if-env-changed` line.

use crate::device_pass::BitcodeUnit;
use crate::error::Error;
use std::env::{var, var_os};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Set to [`LOWER`] in the lowering process.
pub(crate) const STAGE: &str = "RELOCGPU_STAGE";
/// Value of [`STAGE`].
pub(crate) const LOWER: &str = "lower";
/// Path of the [`Job`](crate::job::Job) of the lowering process.
pub(crate) const JOB: &str = "RELOCGPU_JOB";
/// Set to `1`: build scripts return at once, macros expand for the device.
pub(crate) use relocgpu_runtime::contract::names::env::DEVICE_PASS;
/// Folder for each stage's IR.
pub(crate) const KEEP: &str = "RELOCGPU_KEEP";
/// The lock file whose versions the device pass uses.
pub(crate) const LOCKFILE: &str = "RELOCGPU_LOCKFILE";
/// Set to `1`, an LLVM of another major version is tried.
pub(crate) const ALLOW_LLVM: &str = "RELOCGPU_ALLOW_LLVM";

/// What a user may set and change between two builds.
const WATCHED: [&str; 5] = [KEEP, LOCKFILE, ALLOW_LLVM, "DOCS_RS", "RUSTC_WRAPPER"];

/// Who started this process.
pub(crate) enum Role {
    /// Cargo, as the build script of a package.
    BuildScript,
    /// The nested cargo of a device pass.
    DevicePass,
    /// Ourselves, to lower the job in this file.
    Lowering(PathBuf),
}

/// Tells the three processes apart that a build script's executable runs in.
pub(crate) fn role() -> Role {
    match (var_os(STAGE), var_os(JOB)) {
        (Some(stage), Some(job)) if stage == LOWER => Role::Lowering(job.into()),
        _ if var_os(DEVICE_PASS).is_some() => Role::DevicePass,
        _ => Role::BuildScript,
    }
}

/// The environment of a build script.
#[derive(Debug)]
pub(crate) struct Env {
    /// Folder of the package's manifest.
    pub manifest_dir: PathBuf,
    /// Cargo's folder for this build script's files.
    pub out_dir: PathBuf,
    /// Package name.
    pub package: String,
    /// Package version.
    pub version: String,
    /// Triple that the package is compiled for.
    pub target: String,
    /// Triple that this script runs on.
    pub host: String,
    /// Cargo itself.
    pub cargo: PathBuf,
    /// The compiler; may be a bare name.
    pub rustc: PathBuf,
    /// Enabled features.
    pub features: Vec<String>,
    /// Whether the package is compiled with debug assertions.
    pub debug_assertions: bool,
    /// The user's flags for rustc, from whatever source.
    pub rustflags: Vec<String>,
    /// See [`KEEP`].
    pub keep: Option<PathBuf>,
    /// See [`LOCKFILE`].
    pub lockfile: Option<PathBuf>,
    /// See [`ALLOW_LLVM`].
    pub allow_llvm: bool,
    /// File name of `RUSTC_WRAPPER`.
    pub wrapper_name: String,
    /// Whether docs.rs builds the package.
    pub docs_rs: bool,
    /// `LD_LIBRARY_PATH` as it came.
    pub library_path: Option<OsString>,
}

impl Env {
    /// Reads the environment and tells cargo which variables matter.
    pub fn read() -> Result<Self, Error> {
        for name in WATCHED {
            println!("cargo::rerun-if-env-changed={name}");
        }
        let required = |name: &'static str| var(name).map_err(|_| Error::NotABuildScript { variable: name });
        let manifest_dir = PathBuf::from(required("CARGO_MANIFEST_DIR")?);
        let list = |name: &str, separator: char| -> Vec<String> {
            var(name).unwrap_or_default().split(separator).filter(|s| !s.is_empty()).map(str::to_owned).collect()
        };
        let path = |name: &str| var_os(name).filter(|v| !v.is_empty()).map(|v| manifest_dir.join(v));
        Ok(Self {
            out_dir: required("OUT_DIR")?.into(),
            package: required("CARGO_PKG_NAME")?,
            version: required("CARGO_PKG_VERSION")?,
            target: required("TARGET")?,
            host: required("HOST")?,
            cargo: required("CARGO")?.into(),
            rustc: required("RUSTC")?.into(),
            features: list("CARGO_CFG_FEATURE", ','),
            debug_assertions: var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_some(),
            rustflags: list("CARGO_ENCODED_RUSTFLAGS", '\u{1f}'),
            keep: path(KEEP),
            lockfile: path(LOCKFILE),
            allow_llvm: var(ALLOW_LLVM).is_ok_and(|v| v == "1"),
            wrapper_name: var_os("RUSTC_WRAPPER")
                .and_then(|v| Path::new(&v).file_name().map(|n| n.to_string_lossy().into_owned()))
                .unwrap_or_default(),
            docs_rs: var_os("DOCS_RS").is_some(),
            library_path: var_os("LD_LIBRARY_PATH"),
            manifest_dir,
        })
    }

    /// Where a unit's files lie.
    pub fn unit_dir(&self, unit: &BitcodeUnit) -> PathBuf {
        self.out_dir.join("relocgpu").join(unit.folder())
    }
}

/// The build script's executable, which also holds the stages.
pub(crate) fn own_program() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(Error::OwnProgram)
}

/// Whether the nested cargo must not inherit a variable: everything by which the outer cargo speaks to this build
/// script, and every setting of flags, profiles and wrappers that the device pass makes itself.
pub(crate) fn belongs_to_outer_build(name: &str) -> bool {
    const KEPT: [&str; 3] = ["CARGO_HOME", "CARGO_NET_OFFLINE", "CARGO_MAKEFLAGS"];
    const EXACT: [&str; 10] =
        ["RUSTFLAGS", "TARGET", "HOST", "PROFILE", "OPT_LEVEL", "DEBUG", "NUM_JOBS", "OUT_DIR", "LD_LIBRARY_PATH", "CLIPPY_ARGS"];
    const PREFIXES: [&str; 5] = ["CARGO", "__CARGO", "DEP_", "RUSTC", "RUSTDOC"];
    !KEPT.contains(&name) && (EXACT.contains(&name) || PREFIXES.iter().any(|p| name.starts_with(p)))
}

/// Removes from a command what [`belongs_to_outer_build`].
pub(crate) fn scrub(command: &mut std::process::Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(belongs_to_outer_build) {
            command.env_remove(name);
        }
    }
}

#[cfg(test)]
impl Env {
    /// The environment of package `p` 1.0.0 with these folders.
    pub fn of_package(manifest_dir: &Path, out_dir: &Path) -> Self {
        Self {
            manifest_dir: manifest_dir.to_owned(),
            out_dir: out_dir.to_owned(),
            package: "p".to_owned(),
            version: "1.0.0".to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
            host: "x86_64-unknown-linux-gnu".to_owned(),
            cargo: "cargo".into(),
            rustc: "rustc".into(),
            features: Vec::new(),
            debug_assertions: false,
            rustflags: Vec::new(),
            keep: None,
            lockfile: None,
            allow_llvm: false,
            wrapper_name: String::new(),
            docs_rs: false,
            library_path: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::belongs_to_outer_build;

    #[test]
    fn the_nested_cargo_inherits_the_home_and_the_jobserver_only() {
        for name in ["CARGO_HOME", "CARGO_MAKEFLAGS", "PATH", "RUSTUP_TOOLCHAIN", "HOME", "CC"] {
            assert!(!belongs_to_outer_build(name), "{name}");
        }
        for name in ["CARGO", "CARGO_TARGET_DIR", "CARGO_PROFILE_DEV_LTO", "DEP_Z_ROOT", "RUSTC_BOOTSTRAP", "RUSTC", "OUT_DIR", "__CARGO_X"]
        {
            assert!(belongs_to_outer_build(name), "{name}");
        }
    }
}
