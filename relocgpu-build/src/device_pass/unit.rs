//! Units: one compile of one target of the package each, and every name that is made of one.
//!
//! | name | spelled | for |
//! |---|---|---|
//! | [`label`](BitcodeUnit::label) | ``lib `photo` (unit tests) of photo`` | messages |
//! | [`folder`](BitcodeUnit::folder) | `<kind>-<crate>[-test]` | `OUT_DIR/relocgpu/`, `RELOCGPU_KEEP` |
//! | [`archive`](BitcodeUnit::archive) | `relocgpu_<kind>_<crate>[_test]` | `lib….a`, and the linker's `-l` |
//!
//! `test` marks what has the name of a target that is no test itself.

use super::metadata::Target;
use crate::env::Env;
use relocgpu_runtime::contract::manifest::UnitName;
use std::path::PathBuf;

/// What of a package a unit is: decides how its image reaches the linker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetKind {
    Lib,
    Bin,
    Example,
    Test,
    Bench,
}

impl TargetKind {
    /// `None` for build scripts and proc macros.
    pub(super) fn of(target: &Target) -> Option<Self> {
        let is = |kind: &str| target.kind.iter().any(|k| k == kind);
        Some(match () {
            () if is("bin") => Self::Bin,
            () if is("example") => Self::Example,
            () if is("test") => Self::Test,
            () if is("bench") => Self::Bench,
            () if is("custom-build") || is("proc-macro") => return None,
            () => Self::Lib,
        })
    }

    /// As in cargo's options, in messages and in file names.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lib => "lib",
            Self::Bin => "bin",
            Self::Example => "example",
            Self::Test => "test",
            Self::Bench => "bench",
        }
    }
}

/// One compile of one target of the package, with kernels in it.
#[derive(Clone, Debug)]
pub(crate) struct BitcodeUnit {
    pub name: UnitName,
    pub kind: TargetKind,
    /// The target's name as cargo writes it.
    pub target_name: String,
    /// Bitcode of the crate.
    pub bitcode: PathBuf,
    /// Bitcode of its dependencies, dependents before dependencies.
    pub libraries: Vec<PathBuf>,
}

impl BitcodeUnit {
    /// How the unit is called in messages.
    pub fn label(&self) -> String {
        let tests = if self.is_unit_tests() { " (unit tests)" } else { "" };
        format!("{} `{}`{tests} of {}", self.kind.word(), self.target_name, self.name.package)
    }

    /// Name of the unit's own folders.
    pub fn folder(&self) -> String {
        format!("{}-{}{}", self.kind.word(), self.name.crate_name, if self.is_unit_tests() { "-test" } else { "" })
    }

    /// Name of the library that its image becomes.
    pub fn archive(&self) -> String {
        format!("relocgpu_{}_{}{}", self.kind.word(), self.name.crate_name, if self.is_unit_tests() { "_test" } else { "" })
    }

    fn is_unit_tests(&self) -> bool {
        self.name.test && !matches!(self.kind, TargetKind::Test | TargetKind::Bench)
    }
}

/// The unit's name as the macros derive it from cargo's variables.
pub(super) fn unit_name(env: &Env, target: &Target, kind: TargetKind, test: bool) -> UnitName {
    let is_program = target.crate_types.iter().any(|t| t == "bin");
    let word = match kind {
        TargetKind::Bin => "bin",
        TargetKind::Example if is_program => "bin",
        TargetKind::Test | TargetKind::Bench => "test",
        TargetKind::Lib | TargetKind::Example => "lib",
    };
    UnitName {
        package: env.package.clone(),
        version: env.version.clone(),
        kind: word.to_owned(),
        crate_name: target.name.replace('-', "_"),
        test,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_package_have_names_of_their_own() {
        let unit = |kind: TargetKind, test| BitcodeUnit {
            name: UnitName { package: "p".into(), version: "1.0.0".into(), kind: String::new(), crate_name: "a_b".into(), test },
            kind,
            target_name: "a-b".into(),
            bitcode: PathBuf::new(),
            libraries: Vec::new(),
        };
        let names = |unit: BitcodeUnit| [unit.label(), unit.folder(), unit.archive()];
        assert_eq!(names(unit(TargetKind::Bin, false)), ["bin `a-b` of p", "bin-a_b", "relocgpu_bin_a_b"]);
        assert_eq!(names(unit(TargetKind::Bin, true)), ["bin `a-b` (unit tests) of p", "bin-a_b-test", "relocgpu_bin_a_b_test"]);
        assert_eq!(names(unit(TargetKind::Test, true)), ["test `a-b` of p", "test-a_b", "relocgpu_test_a_b"]);
    }
}
