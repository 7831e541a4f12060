//! Why a build cannot go on: a broken environment or a fault of our own, never the user's kernels, whose faults are
//! [`KernelFault`]s and go to `#[gpu_kernel]`. Each says where, what, and what to do.

use relocgpu_runtime::contract::manifest::KernelFault;
use std::path::PathBuf;

/// The stages between bitcode and image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Link,
    Normalise,
    Relocate,
    Deliver,
    LowerPtx,
    LowerCpu,
    Embed,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Self::Link => "linking the kernels' bitcode",
            Self::Normalise => "normalising the kernels",
            Self::Relocate => "recording host references",
            Self::Deliver => "delivering host references",
            Self::LowerPtx => "lowering to PTX",
            Self::LowerCpu => "lowering to native code",
            Self::Embed => "writing the image",
        })
    }
}

/// What ends a unit's stages before there is an image.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The user's kernels hold what a device cannot do.
    Faults(Vec<KernelFault>),
    /// Something else.
    Failed(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What cargo says where a lock file does not do; its advice speaks of `--offline` too.
const LOCKED: &str = "--locked was passed";
/// The remedy for what should not happen.
const OUR_BUG: &str = "this is a fault of relocgpu: please report it with this text";

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Not started by cargo.
    #[error(
        "relocgpu_build::compile(): the environment variable `{variable}` is not set\nhelp: call it from the `main` of a build script (build.rs)"
    )]
    NotABuildScript {
        /// The missing variable.
        variable: &'static str,
    },
    /// A platform that we cannot serve.
    #[error(
        "relocgpu builds on and for x86_64 Linux; this build runs on `{host}` for `{target}`\nhelp: build on x86_64 Linux, or leave the packages with kernels out of this build"
    )]
    Platform {
        /// Triple of the machine.
        host: String,
        /// Triple of the program.
        target: String,
    },
    /// The compiler cannot be asked.
    #[error("{command}: {what}\nhelp: check that this command works in a shell; cargo chose it as the compiler of this build")]
    Toolchain {
        /// The command.
        command: String,
        /// What came of it.
        what: String,
    },
    /// An LLVM whose bitcode and API we do not know.
    #[error(
        "rustc {rustc} carries LLVM {found}, and this relocgpu is made for LLVM {wanted}\nhelp: use a Rust release with LLVM {wanted} (`rustc -vV` tells), another version of relocgpu, or try your luck with {}=1",
        crate::env::ALLOW_LLVM
    )]
    LlvmVersion {
        /// Version of rustc.
        rustc: String,
        /// LLVM's version.
        found: String,
        /// The major version we serve.
        wanted: u32,
    },
    /// A file that we own cannot be read or written.
    #[error("cannot {doing} `{}`: {source}\nhelp: check that the target folder is writable and not full; `cargo clean` starts afresh", path.display())]
    File {
        /// A verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The outer lock file is nowhere.
    #[error("device pass of `{package}`: found no Cargo.lock that lists it\nlooked in: {}\nhelp: set {} to the path of the lock file of the workspace that you build", looked_in.join(", "), crate::env::LOCKFILE)]
    LockNotFound {
        /// The package.
        package: String,
        /// Folders.
        looked_in: Vec<String>,
    },
    /// A lock file that does not serve.
    #[error("device pass: the lock file `{}` cannot be used: {what}\nhelp: set {} to the path of the lock file of the workspace that you build", path.display(), crate::env::LOCKFILE)]
    Lock {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The rustc wrapper did not compile.
    #[error(
        "device pass: cannot compile the rustc wrapper\ncommand: {command}\n{stderr}\nhelp: a C compiler or linker may be missing; install one (`apt install gcc`)"
    )]
    Wrapper {
        /// The command.
        command: String,
        /// What it said.
        stderr: String,
    },
    /// The nested cargo failed without a compile error.
    #[error("device pass of `{package}`: the nested cargo failed\ncommand: {command}\n{stderr}\nhelp: {}", nested_help(stderr))]
    NestedCargo {
        /// The package.
        package: String,
        /// The command.
        command: String,
        /// What it said.
        stderr: String,
    },
    /// The nested cargo said something unknown.
    #[error("device pass: cannot read what the nested cargo said ({what}): {line}\nhelp: {OUR_BUG} and `cargo -V`")]
    Message {
        /// What is wrong with it.
        what: String,
        /// The line.
        line: String,
    },
    /// Cargo does not know the package that it builds.
    #[error("device pass: `cargo metadata` does not list `{package}` in the workspace `{}`\nhelp: {OUR_BUG} and `cargo -V`", workspace.display())]
    NotAMember {
        /// The package.
        package: String,
        /// Root of the workspace of its folder.
        workspace: PathBuf,
    },
    /// An artifact without its bitcode.
    #[error("device pass: rustc left no bitcode at `{}`\nhelp: remove that folder's `relocgpu` folder or run `cargo clean`", path.display())]
    NoBitcode {
        /// Where it should be.
        path: PathBuf,
    },
    /// LLVM refused what a stage gave it.
    #[error("{stage}: LLVM refused {what}: {message}\nhelp: {OUR_BUG}")]
    Llvm {
        /// The stage.
        stage: Stage,
        /// File, kernel or pass that it was about.
        what: String,
        /// What LLVM said.
        message: String,
    },
    /// Something is not what a stage relies on.
    #[error("{stage}: {what}\nhelp: {OUR_BUG}")]
    Broken {
        /// The stage.
        stage: Stage,
        /// What.
        what: String,
    },
    /// A stage was given what it cannot take.
    #[error("{stage}: {what}\nhelp: {help}")]
    Refused {
        /// The stage.
        stage: Stage,
        /// What.
        what: String,
        /// What to do.
        help: &'static str,
    },
    /// The build script's own executable, which is started again, is nowhere.
    #[error("cannot find the build script's own executable: {0}\nhelp: is `/proc` mounted?")]
    OwnProgram(#[source] std::io::Error),
    /// The lowering process cannot read what it is asked.
    #[error("cannot read the job `{}`: {what}\nhelp: {OUR_BUG}", path.display())]
    Job {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The lowering process ended with an error.
    #[error("{unit}: {what}")]
    Lowering {
        /// The unit.
        unit: String,
        /// Its own message with the remedy.
        what: String,
    },
    /// The lowering process died.
    #[error("{unit}: the lowering process died ({status}) while {doing}\n{stderr}\nthe input is kept: {}\nhelp: {}", job.display(), died_help(status))]
    Died {
        /// The unit.
        unit: String,
        /// Its end.
        status: String,
        /// The last step it told, kernel included.
        doing: String,
        /// The last lines it wrote.
        stderr: String,
        /// The job file.
        job: PathBuf,
    },
    /// Faults in kernels that no attribute of this package can show.
    #[error("{unit} launches kernels of other packages that cannot be compiled for the device:\n{text}")]
    ForeignFaults {
        /// The unit.
        unit: String,
        /// All messages.
        text: String,
    },
    /// An object of the image is none.
    #[error("cannot read the image's object `{}`: {source}\nhelp: {OUR_BUG}", path.display())]
    Object {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: object::Error,
    },
    /// The archiver failed.
    #[error("cannot archive the image of {unit}: {source}\nhelp: install binutils (`ar`), or set AR to an archiver")]
    Archive {
        /// The unit.
        unit: String,
        /// What cc said.
        source: cc::Error,
    },
}

impl Error {
    /// Whether the nested cargo lacks a package that the outer build has not downloaded.
    pub fn is_missing_download(&self) -> bool {
        matches!(self, Self::NestedCargo { stderr, .. } if stderr.contains("offline") && !stderr.contains(LOCKED))
    }

    /// What matters most, in one line.
    pub fn brief(&self) -> String {
        let text = self.to_string();
        let told = text.lines().find(|line| line.starts_with("error"));
        told.or(text.lines().next()).unwrap_or_default().to_owned()
    }

    /// [`Self::Llvm`], for `map_err`.
    pub fn llvm(stage: Stage, what: impl Into<String>) -> impl FnOnce(String) -> Self {
        let what = what.into();
        move |message| Self::Llvm { stage, what, message }
    }

    /// [`Self::Broken`].
    pub fn broken(stage: Stage, what: impl Into<String>) -> Self {
        Self::Broken { stage, what: what.into() }
    }

    /// [`Self::File`], for `map_err`.
    pub fn file(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { doing, path, source }
    }
}

/// The remedy for a dead lowering process. Nothing in it kills: that comes from outside, mostly for want of memory.
fn died_help(status: &str) -> &'static str {
    if status.contains("SIGKILL") || status.contains("SIGTERM") {
        "something ended it from outside: if the machine ran out of memory, build with fewer jobs (`cargo build -j 1`)"
    } else {
        OUR_BUG
    }
}

/// The remedy for the two usual failures of a nested cargo, else a general one.
fn nested_help(stderr: &str) -> &'static str {
    if stderr.contains(LOCKED) {
        "the device pass uses the lock file as the outer build left it: run `cargo build` without `--config` or `--frozen` once, or `cargo update`"
    } else if stderr.contains("offline") {
        "the device pass works offline with what the outer build has downloaded: run `cargo fetch` and build again; with `cargo install`, add `--locked`"
    } else {
        "run the command above where you ran cargo to see it fail by itself"
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, died_help, nested_help};

    #[test]
    fn a_lock_that_does_not_do_is_no_missing_download() {
        let locked = "error: cannot update the lock file /w/Cargo.lock because --locked was passed to prevent this\n\
                      help: to generate the lock file without accessing the network, remove the --locked flag and use --offline instead.";
        let offline = "error: failed to download `x v1.0.0`\nCaused by: attempting to make an HTTP request, but --offline was specified";
        for (stderr, is_missing, help) in [(locked, false, "cargo update"), (offline, true, "cargo fetch")] {
            let error = Error::NestedCargo { package: "p".into(), command: "cargo check".into(), stderr: stderr.into() };
            assert_eq!(error.is_missing_download(), is_missing);
            assert!(nested_help(stderr).contains(help));
        }
    }

    #[test]
    fn what_ended_a_process_from_outside_is_no_fault_of_ours() {
        use std::os::unix::process::ExitStatusExt;
        let help = |signal| died_help(&std::process::ExitStatus::from_raw(signal).to_string());
        assert!(help(9).contains("cargo build -j 1"), "{}", help(9));
        assert!(help(6).contains("report it") && help(11).contains("report it"));
    }
}
