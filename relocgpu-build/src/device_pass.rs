//! The device pass: the package and its dependencies compiled a second time, to LLVM bitcode.
//!
//! A nested `cargo check` of the very manifest, with a rustc wrapper, a clean environment and a target folder of its own:
//!
//! ```text
//! source ─ cargo check --target … ─ wrapper ─ rustc --emit=llvm-bc ─► <crate>-<hash>.bc beside each .rmeta
//! ```
//!
//! Library and programs first; then, where tests, examples or benches have kernels, those. The second compile turns on
//! what development dependencies ask for and may fail for want of them, which the first must not notice.

mod artifacts;
mod cargo;
mod folder;
mod lockfile;
mod metadata;
mod skip_set;
mod stand_alone;
mod sweep;
mod targets;
mod unit;
mod watch;

use crate::Builder;
use crate::env::Env;
use crate::error::Error;
use crate::parent::Parent;
use crate::toolchain::Toolchain;
use cargo::{Compiled, Nested};
pub(crate) use folder::base;
use relocgpu_runtime::contract::manifest::Rejection;
use relocgpu_runtime::contract::names::DEVICE_CFG;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::time::Instant;
pub(crate) use unit::{BitcodeUnit, TargetKind};
pub(crate) use watch::sources;

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
    /// Root of the workspace, to which source paths of members are relative.
    pub workspace_root: PathBuf,
    /// Lists of the sources of the package's units.
    pub own_lists: Vec<PathBuf>,
    /// Keeps the device target folder, and the bitcode in it, from being cleaned up.
    pub _in_use: Option<File>,
}

/// Runs the pass.
pub(crate) fn run(env: &Env, parent: &Parent, toolchain: &Toolchain, builder: &Builder) -> Result<DevicePass, Error> {
    let started = Instant::now();
    let metadata = metadata::read(env, parent)?;
    let package = metadata.own(env)?;
    let lock = lockfile::find(env, &metadata, parent)?;
    let manifest = if lock.is_own { env.manifest_dir.join("Cargo.toml") } else { stand_alone::write(env, &lock)? };
    let (tools, in_use) = folder::tools(env, toolchain)?;
    let flags = rustflags(env, builder);
    let nested = Nested { env, parent, tools: &tools, manifest: &manifest, locked: lock.is_own, package_id: &package.id, flags };

    let programs = targets::library_and_programs(env, package, lock.is_own);
    // Tests of a dependency are nobody's business.
    let tests = if lock.is_own { targets::tests_with_kernels(env, package) } else { None };
    let selections: Vec<_> =
        tests.iter().map(|tests| with_library_and_programs(package, &tests.selection)).chain([programs.selection.clone()]).collect();
    let question = format!("{selections:?}{:?}{:?}{}", env.features, parent.configs, tools.target_dir(&nested.flags).display());
    let skipped = skip_set::recall(env, &question).unwrap_or_else(|| {
        let graph = selections.iter().find_map(|selection| nested.unit_graph(selection)).unwrap_or_default();
        skip_set::compute(&graph, &package.id).join(",")
    });
    let target_dir = tools.target_dir(&format!("{}\0{skipped}", nested.flags));
    sweep::mark_used(&target_dir)?;

    let mut pass = DevicePass {
        watch: watch::settings(env, parent, &lock.path)?,
        workspace_root: metadata.workspace_root.clone(),
        _in_use: Some(in_use),
        ..DevicePass::default()
    };
    let mut compile = |plan: &targets::Plan| {
        let compiled = nested.check(&target_dir, &skipped, plan)?;
        pass.watch.extend(watch::files(env, &metadata, &target_dir, &compiled));
        pass.add(plan, artifacts::units(env, &package.id, &target_dir.join(&env.target), &compiled)?, &compiled, &nested);
        Ok(())
    };
    compile(&programs)?;
    if let Some(plan) = tests
        && let Err(error) = compile(&plan)
    {
        eprintln!("{error}");
        // While no build has downloaded the development dependencies, no test is being built either.
        if !error.is_missing_download() {
            println!("cargo::warning=kernels of tests and examples are left out until this works: {}", error.brief());
        }
        pass.unfinished = true;
    }
    let manifests = pass.watch.iter().filter(|file| file.ends_with("Cargo.toml") || **file == lock.path).cloned().collect();
    skip_set::remember(env, &question, (!pass.unfinished).then_some((&skipped, manifests)));
    // Cargo keeps what a build script writes here, in `<target>/<profile>/build/<package>-<hash>/stderr`.
    eprintln!("relocgpu: the device pass took {:.2} s", started.elapsed().as_secs_f64());
    Ok(pass)
}

/// Cargo's arguments for both compiles at once. It refuses `--lib` where there is none.
fn with_library_and_programs(package: &metadata::Package, tests: &[String]) -> Vec<String> {
    let library = package.targets.iter().any(|target| unit::TargetKind::of(target) == Some(unit::TargetKind::Lib));
    let own = library.then_some("--lib").into_iter().chain(["--bins"]).map(str::to_owned);
    own.chain(tests.iter().cloned()).collect()
}

impl DevicePass {
    /// Takes the units of one nested compile; those that it should have made and has not are rejected.
    fn add(&mut self, plan: &targets::Plan, units: artifacts::Units, compiled: &Compiled, nested: &Nested) {
        // The second compile has the library and the programs again; of the tests it may have more than were asked for.
        let is_new = |unit: &BitcodeUnit| self.units.iter().all(|known| known.name != unit.name);
        let new: Vec<_> = units.with_kernels.into_iter().filter(is_new).collect();
        self.units.extend(new);
        self.own_lists.extend(units.lists);
        if !compiled.errors.is_empty() {
            let text = format!("{}\n{}", compiled.errors.join("\n"), nested.again());
            let missing = plan.units.iter().filter(|unit| !units.all.contains(unit));
            self.rejected.extend(missing.map(|unit| Rejection { unit: unit.clone(), text: text.clone() }));
            self.unfinished = true;
        }
    }
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

#[cfg(test)]
mod tests {
    use super::{inherited, metadata, with_library_and_programs};

    /// Cargo refuses `--lib` where there is none; what only tests need was then left out of their compile too.
    #[test]
    fn a_library_is_asked_for_where_there_is_one() {
        let target = |kind: &str| serde_json::json!({ "name": "p", "kind": [kind], "crate_types": [kind], "src_path": "a.rs" });
        let asked = |kinds: &[&str]| {
            let targets: Vec<_> = kinds.iter().map(|kind| target(kind)).collect();
            let package = serde_json::json!({ "id": "p", "name": "p", "version": "1.0.0", "targets": targets });
            let package: metadata::Package = serde_json::from_value(package).unwrap();
            with_library_and_programs(&package, &["--tests".to_owned()]).join(" ")
        };
        assert_eq!(asked(&["bin", "custom-build"]), "--bins --tests");
        assert_eq!(asked(&["cdylib"]), "--lib --bins --tests");
    }

    #[test]
    fn of_the_users_flags_those_about_the_source_remain() {
        let flags =
            "--cfg a --cfg=b -Ctarget-cpu=native -C target-feature=+avx2 -C overflow-checks=on -Cinstrument-coverage -L dir -Clink-arg=-s";
        let flags: Vec<String> = flags.split(' ').map(str::to_owned).collect();
        assert_eq!(inherited(&flags), ["--cfg", "a", "--cfg=b", "-C", "overflow-checks=on", "-L", "dir"]);
    }
}
