//! The device pass: the package and its dependencies compiled a second time, to LLVM bitcode.
//!
//! A nested `cargo check` of the very manifest, with a rustc wrapper, a clean environment and a target folder of its own:
//!
//!     source ─ cargo check --target … ─ wrapper ─ rustc --emit=llvm-bc ─► <crate>-<hash>.bc beside each .rmeta
//!
//! Library and programs first; then, where tests, examples or benches have kernels, those. The second compile turns on
//! what development dependencies ask for and may fail for want of them, which the first must not notice.

mod artifacts;
mod cargo;
mod folder;
mod lockfile;
mod metadata;
mod skip_set;
mod targets;
mod watch;

pub(crate) use artifacts::{BitcodeUnit, TargetKind};

use crate::Builder;
use crate::env::{self, Env};
use crate::error::Error;
use crate::parent::Parent;
use crate::toolchain::Toolchain;
use relocgpu_runtime::contract::manifest::Rejection;
use relocgpu_runtime::contract::names::DEVICE_CFG;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the device pass came to.
#[derive(Debug, Default)]
pub(crate) struct DevicePass {
    /// Units with kernels.
    pub units: Vec<BitcodeUnit>,
    /// Units that the nested compile rejected.
    pub rejected: Vec<Rejection>,
    /// Files whose change makes the pass run again.
    pub watch: BTreeSet<PathBuf>,
    /// Whether the next build must run the pass again whatever has changed.
    pub unfinished: bool,
    /// Which kinds of target the package has.
    pub kinds: Vec<TargetKind>,
    /// Root of the workspace, to which source paths of members are relative.
    pub workspace_root: PathBuf,
}

/// Runs the pass.
pub(crate) fn run(env: &Env, parent: &Parent, toolchain: &Toolchain, builder: &Builder) -> Result<DevicePass, Error> {
    let metadata = metadata::read(env)?;
    let package = metadata.own(env)?;
    let lock = lockfile::find(env, &metadata, parent)?;
    let tools = folder::tools(env, toolchain)?;
    let flags = rustflags(env, builder);
    let prepare = |target_dir: &Path, selection: &[String]| {
        let mut command = cargo::command(env);
        command.args(["check", "--offline", "--message-format=json", "--keep-going", "--no-default-features"]);
        command.args(["--package", &package.id, "--profile", &folder::profile(env), "--target", &env.target]);
        command.arg("--target-dir").arg(target_dir).arg("--features").arg(env.features.join(",")).args(selection);
        lockfile::apply(&lock, &mut command);
        command.env("RUSTC_WRAPPER", &tools.wrapper).env("RUSTC_WORKSPACE_WRAPPER", "");
        command.env("CARGO_ENCODED_RUSTFLAGS", &flags).env("CARGO_INCREMENTAL", "0").env(env::DEVICE_PASS, "1");
        command
    };

    let programs = targets::library_and_programs(env, package);
    // Tests of a dependency are nobody's business.
    let tests = if lock.copy.is_none() { targets::tests_with_kernels(env, package) } else { None };
    let graph_of = |selection: &[String]| cargo::unit_graph(prepare(&tools.files.join("graph"), selection));
    let graph = tests.as_ref().and_then(|plan| graph_of(&[&["--lib".to_owned(), "--bins".to_owned()], &plan.selection[..]].concat()));
    let graph = graph.or_else(|| graph_of(&programs.selection)).unwrap_or_default();
    let skipped = skip_set::compute(&graph, &package.id).join(",");
    let target_dir = tools.target_dir(&format!("{flags}\0{skipped}"));
    let check = |selection: &[String]| {
        let mut command = prepare(&target_dir, selection);
        command.env("RELOCGPU_WRAP_ROOT", &env.manifest_dir).env("RELOCGPU_WRAP_FILES", &tools.files);
        command.env("RELOCGPU_WRAP_SKIP", &skipped).env("RELOCGPU_WRAP_SCRIPT", own_executable()?);
        cargo::check(env, command)
    };
    let device_dir = target_dir.join(&env.target);
    let mut pass = DevicePass { workspace_root: metadata.workspace_root.clone(), ..DevicePass::default() };
    pass.kinds.extend(package.targets.iter().filter_map(TargetKind::of));
    pass.watch.insert(lock.path.clone());

    let mut compile = |plan: &targets::Plan| -> Result<(), Error> {
        let compiled = check(&plan.selection)?;
        let (mut units, names) = artifacts::units(env, &package.id, &device_dir, &compiled)?;
        units.retain(|unit| plan.units.contains(&unit.name));
        pass.units.extend(units);
        pass.watch.extend(watch::files(env, &metadata, &target_dir, &compiled));
        if !compiled.errors.is_empty() {
            let text = format!("{}\nshown again by: {}", compiled.errors.join("\n"), compiled.command);
            let missing = plan.units.iter().filter(|unit| !names.contains(unit));
            pass.rejected.extend(missing.map(|unit| Rejection { unit: unit.clone(), text: text.clone() }));
            pass.unfinished = true;
        }
        Ok(())
    };
    compile(&programs)?;
    if let Some(plan) = tests
        && let Err(error) = compile(&plan)
    {
        // Development dependencies that no build has downloaded yet: then no test is being built either.
        eprintln!("{error}");
        pass.unfinished = true;
    }
    Ok(pass)
}

/// Flags for every crate of the device pass. Cargo compiles again when they change.
fn rustflags(env: &Env, builder: &Builder) -> String {
    let mut flags: Vec<String> = [
        "--emit=llvm-bc",
        "-Copt-level=3",
        "-Cno-prepopulate-passes",
        "-Cpanic=abort",
        "-Ccodegen-units=1",
        "-Cdebuginfo=line-tables-only",
        // The outer compile reports lints; a denied one is no reason to have no image.
        "--cap-lints=warn",
    ]
    .map(str::to_owned)
    .to_vec();
    if env.debug_assertions {
        // An optimised compile would turn them off.
        flags.push("-Cdebug-assertions=on".to_owned());
    }
    flags.extend(inherited(&env.rustflags));
    for cfg in std::iter::once(DEVICE_CFG).chain(builder.cfgs.iter().map(String::as_str)) {
        flags.extend(["--cfg".to_owned(), cfg.to_owned()]);
    }
    flags.extend(["--check-cfg".to_owned(), format!("cfg({DEVICE_CFG})")]);
    flags.join("\u{1f}")
}

/// Of the user's flags, those that decide what the source means. The others are about the host's machine code.
fn inherited(outer: &[String]) -> Vec<String> {
    const OPTIONS: [&str; 4] = ["--cfg", "--check-cfg", "--extern", "-L"];
    const CODEGEN: [&str; 2] = ["debug-assertions", "overflow-checks"];
    let is_codegen = |value: &str| CODEGEN.contains(&value.split('=').next().unwrap_or(value));
    let mut kept = Vec::new();
    let mut flags = outer.iter().peekable();
    while let Some(flag) = flags.next() {
        let value = flags.peek().map(|v| v.as_str()).unwrap_or_default();
        if OPTIONS.contains(&flag.as_str()) || (["-C", "--codegen"].contains(&flag.as_str()) && is_codegen(value)) {
            kept.push(flag.clone());
            kept.extend(flags.next().cloned());
        } else if OPTIONS.iter().any(|o| flag.strip_prefix(o).is_some_and(|rest| rest.starts_with('=') || *o == "-L"))
            || flag.strip_prefix("-C").is_some_and(is_codegen)
        {
            kept.push(flag.clone());
        }
    }
    kept
}

/// The build script that is running.
fn own_executable() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(Error::file("find the build script's own executable in", "/proc/self/exe"))
}

#[cfg(test)]
mod tests {
    use super::inherited;

    #[test]
    fn of_the_users_flags_those_about_the_source_remain() {
        let flags =
            "--cfg a --cfg=b -Ctarget-cpu=native -C target-feature=+avx2 -C overflow-checks=on -Cinstrument-coverage -L dir -Clink-arg=-s";
        let flags: Vec<String> = flags.split(' ').map(str::to_owned).collect();
        assert_eq!(inherited(&flags), ["--cfg", "a", "--cfg=b", "-C", "overflow-checks=on", "-L", "dir"]);
    }
}
