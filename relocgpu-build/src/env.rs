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
/// Set to `1`, the cache of lowered code tells what it has.
pub(crate) const LOG: &str = "RELOCGPU_LOG";
/// The lock file whose versions the device pass uses.
pub(crate) const LOCKFILE: &str = "RELOCGPU_LOCKFILE";
/// Set to `1`, an LLVM of another major version is tried.
pub(crate) const ALLOW_LLVM: &str = "RELOCGPU_ALLOW_LLVM";

/// What a user may set and change between two builds.
///
/// Not `DOCS_RS` and `RUSTC_WRAPPER`, which skip the pass: a build script that has run it is good for an editor too, and
/// one that has not runs again in the next build anyway.
const WATCHED: [&str; 4] = [KEEP, LOG, LOCKFILE, ALLOW_LLVM];
/// What changes how crates are compiled and leaves no trace in a build script's fingerprint.
const FLAGS: [&str; 7] = [
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_PROFILE_DEV_DEBUG_ASSERTIONS",
    "CARGO_PROFILE_DEV_OVERFLOW_CHECKS",
    "CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS",
    "CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS",
];

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
    /// The user's flags for rustc, from whatever source.
    pub rustflags: Vec<String>,
    /// See [`KEEP`].
    pub keep: Option<PathBuf>,
    /// See [`LOG`].
    pub log: bool,
    /// See [`LOCKFILE`].
    pub lockfile: Option<PathBuf>,
    /// See [`ALLOW_LLVM`].
    pub allow_llvm: bool,
    /// File name of `RUSTC_WRAPPER`.
    pub wrapper_name: String,
    /// Whether docs.rs builds the package.
    pub docs_rs: bool,
    /// Whether Miri interprets the program.
    pub miri: bool,
    /// Cargo's standard profile that the build's profile is or inherits from: `debug` or `release`.
    pub profile: String,
    /// `LD_LIBRARY_PATH` as it came.
    pub library_path: Option<OsString>,
}

impl Env {
    /// Reads the environment and tells cargo which variables matter.
    pub fn read() -> Result<Self, Error> {
        for name in WATCHED.into_iter().chain(FLAGS) {
            println!("cargo::rerun-if-env-changed={name}");
        }
        for name in std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).filter(|name| name.starts_with(PROFILE)) {
            println!("cargo::rerun-if-env-changed={name}");
        }
        let required = |name: &'static str| var(name).map_err(|_| Error::NotABuildScript { variable: name });
        let manifest_dir = PathBuf::from(required("CARGO_MANIFEST_DIR")?);
        let list = |name: &str, separator: char| -> Vec<String> {
            var(name).unwrap_or_default().split(separator).filter(|s| !s.is_empty()).map(str::to_owned).collect()
        };
        let path = |name: &str| var_os(name).filter(|v| !v.is_empty()).map(|v| manifest_dir.join(v));
        let is_on = |name: &str| var(name).is_ok_and(|v| v == "1");
        Ok(Self {
            out_dir: required("OUT_DIR")?.into(),
            package: required("CARGO_PKG_NAME")?,
            version: required("CARGO_PKG_VERSION")?,
            target: required("TARGET")?,
            host: required("HOST")?,
            cargo: required("CARGO")?.into(),
            rustc: required("RUSTC")?.into(),
            features: list("CARGO_CFG_FEATURE", ','),
            rustflags: list("CARGO_ENCODED_RUSTFLAGS", '\u{1f}'),
            keep: path(KEEP),
            log: is_on(LOG),
            lockfile: path(LOCKFILE),
            allow_llvm: is_on(ALLOW_LLVM),
            wrapper_name: var_os("RUSTC_WRAPPER")
                .and_then(|v| Path::new(&v).file_name().map(|n| n.to_string_lossy().into_owned()))
                .unwrap_or_default(),
            docs_rs: var_os("DOCS_RS").is_some(),
            miri: var_os("CARGO_CFG_MIRI").is_some(),
            profile: required("PROFILE")?,
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

/// Prefix of the user's settings of profiles.
const PROFILE: &str = "CARGO_PROFILE_";

/// Whether the nested cargo must not inherit a variable: everything by which the outer cargo speaks to this build
/// script, and every setting of flags, folders and wrappers that the device pass makes itself.
pub(crate) fn belongs_to_outer_build(name: &str) -> bool {
    const KEPT: [&str; 2] = ["CARGO_HOME", "CARGO_MAKEFLAGS"];
    const KEPT_PREFIXES: [&str; 6] = [PROFILE, "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTRY_", "CARGO_REGISTRIES_", "CARGO_SOURCE_"];
    const EXACT: [&str; 10] =
        ["RUSTFLAGS", "TARGET", "HOST", "PROFILE", "OPT_LEVEL", "DEBUG", "NUM_JOBS", "OUT_DIR", "LD_LIBRARY_PATH", "CLIPPY_ARGS"];
    const PREFIXES: [&str; 5] = ["CARGO", "__CARGO", "DEP_", "RUSTC", "RUSTDOC"];
    let begins = |prefixes: &[&str]| prefixes.iter().any(|p| name.starts_with(p));
    !KEPT.contains(&name) && !begins(&KEPT_PREFIXES) && (EXACT.contains(&name) || begins(&PREFIXES))
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
            rustflags: Vec::new(),
            keep: None,
            log: false,
            lockfile: None,
            allow_llvm: false,
            wrapper_name: String::new(),
            docs_rs: false,
            miri: false,
            profile: "debug".to_owned(),
            library_path: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::belongs_to_outer_build;

    #[test]
    fn the_nested_cargo_inherits_home_jobserver_profiles_and_registries_only() {
        let inherited = ["CARGO_HOME", "CARGO_MAKEFLAGS", "CARGO_PROFILE_DEV_OVERFLOW_CHECKS", "CARGO_SOURCE_CRATES_IO_REPLACE_WITH"];
        for name in inherited.into_iter().chain(["PATH", "RUSTUP_TOOLCHAIN", "HOME", "CC"]) {
            assert!(!belongs_to_outer_build(name), "{name}");
        }
        for name in ["CARGO", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "DEP_Z_ROOT", "RUSTC_BOOTSTRAP", "RUSTC", "OUT_DIR", "__CARGO_X"] {
            assert!(belongs_to_outer_build(name), "{name}");
        }
    }
}
