//! Kernel crates that are dependencies only: their build scripts are told nothing of the program.

use crate::support::{Fixture, run, target};
use std::fs;
use std::path::Path;

#[test]
fn a_dependency_outside_the_workspace_is_compiled_with_the_outer_lock_and_nothing_is_written_into_it() {
    let fixture = Fixture::new("plain");
    let folder = fixture.dir.join("outside_klib");
    let before = listing(&folder);
    assert_eq!(fixture.output("consumer", &["run"]), "widths [64, 64]\n");
    assert_eq!(listing(&folder), before);

    // The target folder is elsewhere, so the lock was found by the outer cargo's own folder. The nested cargo has read a
    // copy and found nothing to change in it but what the consumer alone needs.
    let outer = versions(&fs::read_to_string(fixture.dir.join("consumer/Cargo.lock")).unwrap());
    let copies: Vec<_> = fs::read_dir(target().join("debug/build"))
        .unwrap()
        .flatten()
        .map(|e| e.path().join("out/relocgpu-dependency/Cargo.lock"))
        .collect();
    let copies = copies.into_iter().filter_map(|path| fs::read_to_string(path).ok());
    let copies: Vec<String> = copies.filter(|copy| copy.contains("\"outside-klib\"")).collect();
    assert!(!copies.is_empty());
    for copy in copies {
        for version in versions(&copy).into_iter().filter(|version| version != "relocgpu-dependency 0.0.0") {
            assert!(outer.contains(&version), "{version} is not in the consumer's lock");
        }
    }
}

#[test]
fn the_outer_lock_can_be_named() {
    let fixture = Fixture::new("plain");
    let lock = fixture.dir.join("consumer/Cargo.lock");
    let named = run(fixture.cargo("consumer", &["run"]).env("RELOCGPU_LOCKFILE", &lock));
    assert_eq!(named.stdout, "widths [64, 64]\n", "{}", named.stderr);
    let missing = run(fixture.cargo("consumer", &["build"]).env("RELOCGPU_LOCKFILE", fixture.dir.join("nowhere.lock")));
    assert!(
        !missing.ok && missing.stderr.contains("nowhere.lock") && missing.stderr.contains("help: set RELOCGPU_LOCKFILE"),
        "{}",
        missing.stderr
    );
}

/// The registry's package gets the program's patches and profile, and so does the member of another workspace, whatever
/// else that workspace may need.
#[test]
fn packages_of_a_registry_and_of_another_workspace_bring_kernels() {
    let fixture = Fixture::new("plain");
    let (registry, foreign) = (listing(&fixture.dir.join("registry")), listing(&fixture.dir.join("foreign")));
    assert_eq!(fixture.output("registered", &["run"]), "registry 2 Err(true)\nforeign 102 Ok(100)\n");
    assert_eq!(listing(&fixture.dir.join("registry")), registry);
    assert_eq!(listing(&fixture.dir.join("foreign")), foreign);
    let again = fixture.run("registered", &["build", "-v", "--frozen"]);
    assert!(again.ok && !again.stderr.contains("Dirty") && !again.stderr.contains("Running"), "{}", again.stderr);
}

/// A name that needs quoting in shells, URLs, TOML and lists of files.
const ODD: &str = "odd 'n#me' \"\u{fc}\"";

#[test]
fn folders_may_have_any_name() {
    let fixture = Fixture::new(ODD);
    assert_eq!(fixture.output("registered", &["run"]), "registry 2 Err(true)\nforeign 102 Ok(100)\n");
    assert_eq!(fixture.output("shapes", &["run", "-p", "both"]), "lib [1, 2, 3] bin [20, 21, 22]\n");
}

#[test]
fn a_fault_in_another_packages_kernel_is_told_by_who_launches_it() {
    let fixture = Fixture::new(ODD);
    fixture.edit("shapes/klib/src/lib.rs", "        *y += a;", "        *y += a;\n        std::process::id();");
    let build = fixture.run("shapes", &["build", "-p", "relay-lib", "--lib"]);
    assert!(!build.ok, "a library without its image");
    let source = fs::read_to_string(fixture.dir.join("shapes/klib/src/lib.rs")).unwrap();
    let line = source.lines().position(|line| line.contains("fn add<")).unwrap() + 1;
    let place = format!("klib/src/lib.rs:{line}: ");
    assert!(build.stderr.contains("launches kernels of other packages"), "{}", build.stderr);
    assert!(
        build.stderr.contains(&place) && (build.stderr.contains("getpid") || build.stderr.contains("process")),
        "{place}: {}",
        build.stderr
    );
}

/// Every file below a folder with its contents.
fn listing(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            files.extend(listing(&entry.path()));
        } else {
            files.push((entry.path().display().to_string(), fs::read(entry.path()).unwrap()));
        }
    }
    files.sort();
    files
}

/// `name version` of each package of a lock file.
fn versions(lock: &str) -> Vec<String> {
    let value = |line: &str, key: &str| line.strip_prefix(key).map(|v| v.trim_matches('"').to_owned());
    let lines: Vec<&str> = lock.lines().collect();
    let pairs = lines.windows(2).filter_map(|pair| value(pair[0], "name = ").zip(value(pair[1], "version = ")));
    pairs.map(|(name, version)| format!("{name} {version}")).collect()
}
