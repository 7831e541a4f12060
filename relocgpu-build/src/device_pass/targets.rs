//! Which targets of the package are compiled for the device.

use super::metadata::{Package, Target};
use super::unit::{TargetKind, unit_name};
use crate::env::Env;
use relocgpu_runtime::contract::manifest::UnitName;
use std::fs;
use std::path::Path;

/// One nested compile.
pub(super) struct Plan {
    /// Cargo's arguments that select the targets.
    pub selection: Vec<String>,
    /// The units that it is for.
    pub units: Vec<UnitName>,
}

/// Library and programs, always; a dependency's library only.
pub(super) fn library_and_programs(env: &Env, package: &Package, is_member: bool) -> Plan {
    let kinds = if is_member { &[TargetKind::Lib, TargetKind::Bin][..] } else { &[TargetKind::Lib] };
    let selection = if is_member { Vec::new() } else { vec!["--lib".to_owned()] };
    Plan { selection, units: enabled(env, package, kinds).map(|(target, kind)| unit_name(env, target, kind, false)).collect() }
}

/// Tests, examples and benches that have kernels or launch any; unit tests, if the library or a program has both tests
/// and kernels. `None` if there are none.
pub(super) fn tests_with_kernels(env: &Env, package: &Package) -> Option<Plan> {
    let mut plan = Plan { selection: Vec::new(), units: Vec::new() };
    let src = env.manifest_dir.join("src");
    // Kernels that a macro of the package makes may be in any target.
    let by_macro = any_source(&src, &|text| text.contains("macro_rules!") && text.contains("gpu_kernel"));
    for (target, kind) in enabled(env, package, &[TargetKind::Test, TargetKind::Example, TargetKind::Bench]) {
        let is_test = kind != TargetKind::Example;
        if by_macro || uses_kernels(&target.src_path) {
            plan.selection.extend([format!("--{}", kind.word()), target.name.clone()]);
            plan.units.push(unit_name(env, target, kind, is_test));
        }
    }
    let unit_tests = any_source(&src, &|text| text.contains("#[test]") || text.contains("(test")) && any_source(&src, &mentions_kernel);
    if unit_tests {
        // Selects the library's and the programs' unit tests, and every integration test with them.
        plan.selection.push("--tests".to_owned());
        let tested = enabled(env, package, &[TargetKind::Lib, TargetKind::Bin]);
        plan.units.extend(tested.map(|(target, kind)| unit_name(env, target, kind, true)));
    }
    (!plan.units.is_empty()).then_some(plan)
}

/// The targets of some kinds whose required features are on.
fn enabled<'a>(env: &'a Env, package: &'a Package, kinds: &'a [TargetKind]) -> impl Iterator<Item = (&'a Target, TargetKind)> {
    let on = |target: &&Target| target.required_features.iter().all(|f| env.features.contains(f));
    let of = |target: &'a Target| TargetKind::of(target).filter(|kind| kinds.contains(kind)).map(|kind| (target, kind));
    package.targets.iter().filter(on).filter_map(of)
}

/// Whether a target's own file or folder has kernels. Files of `tests/` that are no targets may belong to any of them.
fn uses_kernels(main: &Path) -> bool {
    let is_folder = main.file_name().is_some_and(|n| n == "main.rs");
    let folder = main.parent().unwrap_or(main);
    let text = fs::read_to_string(main).unwrap_or_default();
    mentions_kernel(&text) || ((is_folder || has_modules(&text)) && any_source(folder, &mentions_kernel))
}

fn has_modules(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|l| l.starts_with("mod ") || l.starts_with("pub mod ") || l.contains("include!"))
}

/// A kernel, or what it takes to launch a generic one, whose instance is then this target's: its `launch`, or a device
/// for a generic function that launches it.
fn mentions_kernel(text: &str) -> bool {
    ["gpu_kernel", "::launch", "relocgpu", "Device"].iter().any(|word| text.contains(word))
}

/// Whether any `.rs` file below a folder satisfies a test.
fn any_source(folder: &Path, test: &dyn Fn(&str) -> bool) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            any_source(&path, test)
        } else {
            path.extension().is_some_and(|e| e == "rs") && fs::read_to_string(&path).is_ok_and(|text| test(&text))
        }
    })
}
