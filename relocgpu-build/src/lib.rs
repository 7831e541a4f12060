//! The build-time half of relocgpu: compiles a package's kernels from its build script and links the result into it.
//!
//! ```toml
//! [dependencies]
//! relocgpu-runtime = "0.1"
//! [build-dependencies]
//! relocgpu-build = "0.1"
//! ```
//! ```no_run
//! // build.rs
//! fn main() {
//!     relocgpu_build::compile()
//! }
//! ```
//!
//! # The stages
//! ```text
//! source ─macros─► annotated crate ─device_pass─► bitcode of crate, dependencies, std
//!   ─link─► device module ─normalise─► no host-isms; references still declarations
//!   ─relocate─► relocatable unit: module + manifest, frozen ─lower─► PTX for each architecture · native code for each CPU level
//!   ─embed─► object files of an image ─archive─► part of the program
//! ```
//! Each arrow but the first is a file or folder of this crate by that name. A *unit* is one compile of one target of the
//! package (its library, a program, a test) that holds kernels; it gets one image.
//!
//! | stage | in | out |
//! |---|---|---|
//! | `device_pass` | the package | units with kernels, each with its crates' bitcode: a nested `cargo check` |
//! | `link` | a unit's bitcode | one module with what its kernels reach |
//! | `normalise` | that module | the same for any target, or all that its kernels hold and no device can do |
//! | `relocate` | that module | the relocatable unit: host references named and recorded, bytes that follow from the code alone |
//! | `lower` | the unit | its code for each target (`lower/nvptx`, `lower/cpu`), checked by `validate`; first `deliver` gives kernels that take their references from a table, or hold them in their code, code of their own |
//! | `embed` | unit and code | object files, whose host table is the linker's to fill in |
//! | `archive` | object files | a static library, and cargo's instructions to link it |
//!
//! [`Builder::compile`] is the flow from package to program; `pipeline` is that from bitcode to object files, which runs in
//! a process of its own, `child`. Faults of the user's kernels go to `#[gpu_kernel]` through `faults`.
//!
//! # Environment
//! | variable | meaning |
//! |---|---|
//! | `RELOCGPU_KEEP=DIR` | keep the IR of each stage in `DIR/<package>/<unit>/` (relative to the package) |
//! | `RELOCGPU_LOG=1` | say for each unit, on the build script's standard error (`cargo build -vv`), whether its code was in the cache |
//! | `RELOCGPU_LOCKFILE=FILE` | the lock file of the workspace that is being built, where it is not found by itself |
//! | `RELOCGPU_ALLOW_LLVM=1` | try a rustc whose LLVM this version was not made for |
//!
//! # The build script runs more than once
//! LLVM ends the process on a fatal error, so the stages run in a child process: the build script again, up to the call
//! of `compile()`, which does not return there. What it prints on the way is dropped. It also runs inside the device pass,
//! so that generated sources and `cargo::rustc-cfg` lines are the same there; `compile()` returns at once in that case.

// A build script is a program.
#![allow(clippy::needless_doctest_main)]
#![deny(unsafe_code)]

mod archive;
mod cache;
mod child;
mod deliver;
mod device_pass;
mod embed;
mod env;
mod error;
mod faults;
#[doc(hidden)]
pub mod inspect;
mod job;
mod keep;
mod link;
#[allow(unsafe_code)]
mod llvm;
mod lower;
mod normalise;
mod parent;
mod pipeline;
mod reach;
mod relocate;
mod reuse;
mod step;
mod symbols;
#[doc(hidden)]
pub mod testing;
mod toolchain;
mod validate;

use crate::device_pass::DevicePass;
use crate::env::{Env, Role};
use crate::error::Error;
use crate::faults::Collected;
pub use crate::job::Delivery;
use crate::job::Outcome;
use crate::parent::Parent;
use crate::toolchain::Toolchain;
use relocgpu_runtime::contract::names::{DEVICE_CFG, env as word, pass};
use std::path::PathBuf;

/// Compiles the package's kernels with the defaults of [`Builder::new`].
pub fn compile() {
    Builder::new().compile();
}

/// How a package's kernels are compiled.
#[derive(Clone, Debug)]
pub struct Builder {
    architectures: Vec<u32>,
    cpu_levels: Vec<String>,
    line_info: bool,
    delivery: Delivery,
    keep: Option<PathBuf>,
    cfgs: Vec<String>,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// PTX for `sm_75`, which newer GPUs' drivers compile for themselves, and native code for three levels of x86-64.
    pub fn new() -> Self {
        Self {
            architectures: Vec::new(),
            cpu_levels: ["x86-64", "x86-64-v3", "x86-64-v4"].map(str::to_owned).to_vec(),
            line_info: false,
            delivery: Delivery::default(),
            keep: None,
            cfgs: Vec::new(),
        }
    }

    /// Adds PTX for a GPU architecture, compute capability times ten: `80` is `sm_80`. The first call replaces the default.
    pub fn arch(mut self, arch: u32) -> Self {
        self.architectures.push(arch);
        self
    }

    /// Adds PTX for several architectures, as [`arch`](Self::arch) does for one.
    pub fn architectures(mut self, architectures: impl IntoIterator<Item = u32>) -> Self {
        self.architectures.extend(architectures);
        self
    }

    /// Replaces the target CPUs of the native code, by rising level. None of them: no native code, and no CPU device.
    pub fn cpu_levels<S: Into<String>>(mut self, levels: impl IntoIterator<Item = S>) -> Self {
        self.cpu_levels = levels.into_iter().map(Into::into).collect();
        self
    }

    /// Whether the PTX names source lines, for profilers. Off by default.
    pub fn line_info(mut self, on: bool) -> Self {
        self.line_info = on;
        self
    }

    /// Where the words of host references live, for kernels whose attribute does not say (`#[gpu_kernel(delivery = table)]`).
    /// By patch unless this is called.
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Keeps the IR of each stage in this folder, as `RELOCGPU_KEEP` does.
    pub fn keep(mut self, folder: impl Into<PathBuf>) -> Self {
        self.keep = Some(folder.into());
        self
    }

    /// Adds a `cfg` that is set in the device pass only, for every crate: `name` or `name="value"`.
    pub fn cfg(mut self, cfg: impl Into<String>) -> Self {
        self.cfgs.push(cfg.into());
        self
    }

    /// Compiles the kernels and tells cargo to link them. A fault in a kernel is not reported here: rustc reports it at
    /// the kernel. A broken environment ends the build script with a message that says what to do.
    pub fn compile(self) {
        let result = match env::role() {
            Role::Lowering(job) => child::serve(&job).map(|()| std::process::exit(0)),
            Role::DevicePass => {
                announce(pass::LINKED);
                Ok(())
            }
            Role::BuildScript => self.run(),
        };
        if let Err(error) = result {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            eprintln!("{error}");
            std::process::exit(1);
        }
    }

    /// The flow.
    fn run(mut self) -> Result<(), Error> {
        let env = Env::read()?;
        let parent = Parent::look();
        if let Some(reason) = skipped(&env, &parent) {
            eprintln!("relocgpu: device pass skipped: {reason}");
            announce(pass::SKIPPED);
            rerun_always(&env);
            return Ok(());
        }
        self.sort_architectures();
        let toolchain = Toolchain::probe(&env)?;
        let pass = device_pass::run(&env, &parent, &toolchain, &self)?;
        let mut faults = Collected::new(&env, &pass);
        for unit in &pass.units {
            match child::run(&env, &toolchain, &self, unit)? {
                Outcome::Nothing => {}
                Outcome::Built(image, _) => archive::run(&env, unit, &image)?,
                Outcome::Faults(found) => faults.add(unit, found)?,
            }
        }
        rerun_when_changed(&env, &pass);
        announce(faults.hand_over(&env)?);
        Ok(())
    }

    /// Rising and without repetition, whatever the order of the calls; the default if there was none.
    fn sort_architectures(&mut self) {
        if self.architectures.is_empty() {
            self.architectures.push(75);
        }
        self.architectures.sort_unstable();
        self.architectures.dedup();
    }
}

/// Why this build wants no image.
fn skipped(env: &Env, parent: &Parent) -> Option<&'static str> {
    if env.docs_rs {
        Some("docs.rs builds documentation only")
    } else if env.wrapper_name.contains("rust-analyzer") {
        Some("rust-analyzer runs build scripts for their output only")
    } else if parent.documents() {
        Some("`cargo doc` builds documentation only")
    } else if env.miri {
        Some("Miri interprets the host's code only")
    } else {
        None
    }
}

/// Tells the macros how the pass ended.
fn announce(state: &str) {
    println!("cargo::rustc-check-cfg=cfg({DEVICE_CFG})");
    println!("cargo::rustc-env={}={state}", word::PASS);
}

/// Tells cargo when to run this script again.
fn rerun_when_changed(env: &Env, pass: &DevicePass) {
    for path in &pass.watch {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    if pass.unfinished {
        rerun_always(env);
    }
}

/// Makes cargo run this script in the next build, whatever that is.
fn rerun_always(env: &Env) {
    println!("cargo::rerun-if-changed={}", env.out_dir.join("relocgpu-runs-again").display());
}
