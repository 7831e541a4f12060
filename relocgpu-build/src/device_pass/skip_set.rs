//! Packages that only build scripts need. The device pass replaces their host units by empty crates.
//!
//! An optimisation: without it the nested build would compile LLVM's bindings a second time. `Cargo.lock` does not tell
//! the kinds of its edges, so the set is what cannot be reached from the non-build dependencies of any kernel crate of
//! the workspace: too small a set costs time, too large a set could not compile.

use super::metadata::Metadata;
use std::collections::{BTreeMap, BTreeSet};

/// The package whose stand-in ends the search: what is behind it serves build scripts only.
const SELF: &str = "relocgpu-build";

/// `name@version` of each package to skip, sorted.
pub(super) fn compute(lock_text: &str, metadata: &Metadata, root: &str) -> Vec<String> {
    let packages = parse(lock_text);
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, package) in packages.iter().enumerate() {
        by_name.entry(&package.name).or_default().push(i);
    }
    // An edge is `name`, or `name version` where the name alone is ambiguous.
    let find = |edge: &str| -> Vec<usize> {
        let mut words = edge.split(' ');
        let named = words.next().and_then(|name| by_name.get(name)).cloned().unwrap_or_default();
        let version = words.next();
        named.into_iter().filter(|i| version.is_none_or(|v| v == packages[*i].version)).collect()
    };

    let is_kernel_crate = |p: &&super::metadata::Package| p.name == root || p.dependencies.iter().any(|d| d.name == SELF);
    let members: Vec<_> = metadata.packages.iter().filter(is_kernel_crate).collect();
    let mut reached = BTreeSet::new();
    let direct = members.iter().flat_map(|m| &m.dependencies).filter(|d| d.kind.as_deref() != Some("build"));
    let mut open: Vec<usize> = direct.flat_map(|d| find(&d.name)).collect();
    while let Some(i) = open.pop() {
        if reached.insert(i) && packages[i].name != SELF {
            open.extend(packages[i].dependencies.iter().flat_map(|edge| find(edge)));
        }
    }
    // A kernel crate that no other one depends on is there all the same, without its build dependencies.
    reached.extend(members.iter().flat_map(|m| find(&format!("{} {}", m.name, m.version))));
    let skipped = (0..packages.len()).filter(|i| !reached.contains(i) && packages[*i].name != SELF);
    let mut names: Vec<String> = skipped.map(|i| format!("{}@{}", packages[i].name, packages[i].version)).collect();
    names.sort();
    names.dedup();
    names
}

#[derive(Default)]
struct Locked {
    name: String,
    version: String,
    dependencies: Vec<String>,
}

/// Reads a lock file, whose layout cargo fixes: one `key = "value"` or list item a line.
fn parse(text: &str) -> Vec<Locked> {
    let mut packages: Vec<Locked> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line == "[[package]]" {
            packages.push(Locked::default());
            continue;
        }
        let Some(package) = packages.last_mut() else { continue };
        let value = |key: &str| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"').map(str::to_owned);
        if let Some(name) = value("name") {
            package.name = name;
        } else if let Some(version) = value("version") {
            package.version = version;
        } else if let Some(edge) = line.strip_prefix('"').and_then(|l| l.strip_suffix("\",")) {
            package.dependencies.push(edge.to_owned());
        }
    }
    packages
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
[[package]]
name = "app"
version = "0.1.0"
dependencies = [
 "glam 0.30.1",
 "relocgpu-build",
 "helper",
]

[[package]]
name = "glam"
version = "0.29.0"

[[package]]
name = "glam"
version = "0.30.1"
dependencies = [
 "libm",
]

[[package]]
name = "helper"
version = "1.0.0"

[[package]]
name = "libm"
version = "0.2.0"

[[package]]
name = "relocgpu-build"
version = "0.1.0"
dependencies = [
 "inkwell",
]

[[package]]
name = "inkwell"
version = "0.11.0"
"#;

    #[test]
    fn what_the_program_cannot_reach_is_skipped() {
        let metadata: Metadata = serde_json::from_value(serde_json::json!({
            "workspace_root": "/w",
            "packages": [{
                "id": "app", "name": "app", "version": "0.1.0", "manifest_path": "/w/Cargo.toml", "targets": [],
                "dependencies": [
                    {"name": "glam", "kind": null},
                    {"name": "relocgpu-build", "kind": "build"},
                    {"name": "helper", "kind": "build"}
                ]
            }]
        }))
        .unwrap();
        assert_eq!(compute(LOCK, &metadata, "app"), ["helper@1.0.0", "inkwell@0.11.0"]);
    }
}
