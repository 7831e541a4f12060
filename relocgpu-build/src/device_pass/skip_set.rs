//! Packages whose host units the device pass replaces by empty files, because only build scripts that do not run there
//! for real would use them: everything behind the root's build dependencies and behind relocgpu-build. Without it the
//! nested build would compile LLVM's bindings a second time.
//!
//! The unit graph says what cargo would compile and why; asking for it is an unstable option of cargo's, and nothing is
//! compiled by it. Should it fail, nothing is skipped: that costs time and changes nothing else.

use crate::env::Env;
use relocgpu_runtime::contract::names::fnv1a;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// The package whose stand-in ends every path.
const SELF: &str = "relocgpu-build";

#[derive(Deserialize)]
struct Graph {
    units: Vec<Unit>,
    roots: Vec<usize>,
}

#[derive(Deserialize)]
struct Unit {
    pkg_id: String,
    /// `None` for what runs on this machine while building.
    platform: Option<String>,
    mode: String,
    target: Target,
    dependencies: Vec<Edge>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Edge {
    index: usize,
}

/// `name@version` of each package to skip, `name@version!` if it is the package's build script, sorted; `root` is the id
/// of the package whose build script is running.
pub(super) fn compute(graph: &[u8], root: &str) -> Vec<String> {
    let Ok(graph) = serde_json::from_slice::<Graph>(graph) else { return Vec::new() };
    let ends_path = |unit: &Unit| {
        let is_root_script = unit.mode == "run-custom-build" && unit.pkg_id == root;
        is_root_script || (unit.platform.is_none() && name_and_version(&unit.pkg_id).starts_with(&format!("{SELF}@")))
    };
    let mut reached = BTreeSet::new();
    let mut open = graph.roots;
    while let Some(i) = open.pop() {
        let Some(unit) = graph.units.get(i) else { return Vec::new() };
        if reached.insert(i) && !ends_path(unit) {
            open.extend(unit.dependencies.iter().map(|edge| edge.index));
        }
    }
    let host = |reached_too: bool| {
        let units = graph.units.iter().enumerate().filter(|(_, unit)| unit.platform.is_none() && unit.mode == "build");
        // The root's own script is copied; naming it would give each kernel crate a device target folder of its own.
        let chosen = units.filter(|(i, unit)| unit.pkg_id != root && reached.contains(i) == reached_too);
        let key = |unit: &Unit| {
            let script = if unit.target.kind.iter().any(|k| k == "custom-build") { "!" } else { "" };
            name_and_version(&unit.pkg_id) + script
        };
        chosen.map(|(_, unit)| key(unit)).collect::<BTreeSet<String>>()
    };
    host(false).difference(&host(true)).cloned().collect()
}

/// The answer of an earlier run: asking cargo takes as long as the compile after an edit.
#[derive(Serialize, Deserialize)]
struct Remembered {
    /// Lock file and manifests of all packages whose manifests can change.
    inputs: BTreeSet<PathBuf>,
    /// Of the question and the inputs.
    key: u64,
    skipped: String,
}

fn path(env: &Env) -> PathBuf {
    env.out_dir.join("relocgpu-skipped.json")
}

fn key(question: &str, inputs: &BTreeSet<PathBuf>) -> u64 {
    inputs.iter().fold(fnv1a(question.as_bytes()), |key, path| {
        let text = fs::read(path).map_or(0, |bytes| fnv1a(&bytes));
        fnv1a(format!("{key} {} {text}", path.display()).as_bytes())
    })
}

/// The answer that an earlier run got to this question, if nothing has changed since from which it follows.
pub(super) fn recall(env: &Env, question: &str) -> Option<String> {
    let text = fs::read(path(env)).ok()?;
    let Remembered { inputs, key: known, skipped } = serde_json::from_slice(&text).ok()?;
    (key(question, &inputs) == known).then_some(skipped)
}

/// Keeps an answer, with the inputs that it follows from; `None` forgets what is kept.
pub(super) fn remember(env: &Env, question: &str, answer: Option<(&str, BTreeSet<PathBuf>)>) {
    let answer = answer.map(|(skipped, inputs)| Remembered { key: key(question, &inputs), inputs, skipped: skipped.to_owned() });
    // Without it cargo is asked again.
    let _ = match answer.and_then(|answer| serde_json::to_vec(&answer).ok()) {
        Some(text) => fs::write(path(env), text),
        None => fs::remove_file(path(env)),
    };
}

/// Of `<url>#<name>@<version>`, or `<url>/<name>#<version>`.
fn name_and_version(id: &str) -> String {
    let (url, fragment) = id.rsplit_once('#').unwrap_or((id, ""));
    if fragment.contains('@') {
        return fragment.to_owned();
    }
    let path = url.split('?').next().unwrap_or(url);
    format!("{}@{fragment}", path.rsplit('/').next().unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_neither_a_proc_macro_nor_a_foreign_build_script_uses_is_skipped() {
        let unit = |id: &str, platform: Option<&str>, mode: &str, kind: &str, edges: &[usize]| {
            let edges: Vec<_> = edges.iter().map(|i| serde_json::json!({ "index": i })).collect();
            let target = serde_json::json!({ "kind": [kind] });
            serde_json::json!({ "pkg_id": id, "platform": platform, "mode": mode, "target": target, "dependencies": edges })
        };
        let device = Some("x86_64-unknown-linux-gnu");
        let units = [
            unit("path+file:///w/app#0.1.0", device, "check", "lib", &[1, 3, 5]),
            unit("path+file:///w/app#0.1.0", device, "run-custom-build", "custom-build", &[2]),
            unit("path+file:///w/app#0.1.0", None, "build", "custom-build", &[7, 8, 11]),
            unit("registry+https://x#derive@1.0.0", None, "build", "proc-macro", &[4]),
            unit("registry+https://x#syn@2.0.0", None, "build", "lib", &[]),
            unit("registry+https://x#foreign@1.0.0", device, "run-custom-build", "custom-build", &[6]),
            unit("registry+https://x#foreign@1.0.0", None, "build", "custom-build", &[7, 10]),
            unit("path+file:///w/relocgpu-build#0.1.0", None, "build", "lib", &[9, 4]),
            unit("registry+https://x#bindgen@0.7.0", None, "build", "lib", &[4]),
            unit("registry+https://x#inkwell@0.11.0", None, "build", "lib", &[]),
            unit("registry+https://x#cc@1.0.0", None, "build", "lib", &[]),
            unit("registry+https://x#foreign@1.0.0", None, "build", "lib", &[]),
        ];
        let graph = serde_json::json!({ "version": 1, "units": units, "roots": [0] }).to_string();
        let skipped = compute(graph.as_bytes(), "path+file:///w/app#0.1.0");
        assert_eq!(skipped, ["bindgen@0.7.0", "foreign@1.0.0", "inkwell@0.11.0"]);
        assert!(compute(b"no graph", "").is_empty());
    }

    #[test]
    fn an_answer_is_remembered_until_the_question_or_a_manifest_changes() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::of_package(dir.path(), dir.path());
        let manifest = dir.path().join("Cargo.toml");
        fs::write(&manifest, "one").unwrap();
        let inputs = BTreeSet::from([manifest.clone()]);
        assert_eq!(recall(&env, "?"), None);
        remember(&env, "?", Some(("a@1,b@2!", inputs)));
        assert_eq!(recall(&env, "?").as_deref(), Some("a@1,b@2!"));
        assert_eq!(recall(&env, "??"), None);
        fs::write(&manifest, "two").unwrap();
        assert_eq!(recall(&env, "?"), None);
        fs::write(&manifest, "one").unwrap();
        assert!(recall(&env, "?").is_some());
        remember(&env, "?", None);
        assert_eq!(recall(&env, "?"), None);
    }
}
