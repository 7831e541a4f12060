//! Shapes of packages, each built by cargo as its user would, run, and its data compared.

use crate::support::{Fixture, errors, run, target};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_program_uses_kernels_of_a_library_and_instances_of_its_own() {
    let fixture = Fixture::new("plain");
    assert_eq!(fixture.output("shapes", &["run", "-p", "app"]), "fill [1000, 1003, 1006, 1009]\nadd [11.5, 12.5]\n");
}

#[test]
fn library_and_program_of_one_name_have_an_image_each() {
    let fixture = Fixture::new("plain");
    assert_eq!(fixture.output("shapes", &["run", "-p", "both"]), "lib [1, 2, 3] bin [20, 21, 22]\n");
}

#[test]
fn integration_tests_and_examples_have_images() {
    let fixture = Fixture::new("plain");
    let tests = fixture.output("shapes", &["test", "-p", "both"]);
    assert!(tests.contains("kernels_of_integration_tests_have_an_image ... ok"), "{tests}");
    assert_eq!(fixture.output("shapes", &["run", "-p", "both", "--example", "ex"]), "lib [1, 2, 3] example [40, 41, 42]\n");
}

#[test]
fn unit_tests_have_an_image() {
    let fixture = Fixture::new("plain");
    let tests = fixture.output("shapes", &["test", "-p", "klib", "--lib"]);
    assert!(tests.contains("test result: ok. 2 passed"), "{tests}");
}

#[test]
fn the_runtime_may_have_another_name_or_come_through_another_crate() {
    let fixture = Fixture::new("plain");
    for package in ["renamed", "through_kit"] {
        assert_eq!(fixture.output("shapes", &["run", "-p", package]), "[132, 133, 132]\n", "{package}");
    }
    drop(fixture);
    let fixture = Fixture::new("edited");
    fixture.edit("shapes/through_kit/src/main.rs", "(crate = kit::relocgpu_runtime)]\nfn", "]\nfn");
    let build = fixture.run("shapes", &["build", "-p", "through_kit", "--message-format=json"]);
    let found = errors(&build.stdout);
    assert!(!build.ok);
    assert!(found[0].3.contains("does not depend on relocgpu-runtime: add it to `[dependencies]`"), "{found:?}");
    assert_eq!((&*found[0].1, found[0].2), ("through_kit/src/main.rs", 12), "{found:?}");
}

#[test]
fn two_plug_ins_are_loaded_at_once_and_show_nothing_of_ours() {
    let fixture = Fixture::new("plain");
    fixture.output("shapes", &["build", "-p", "plug-a", "-p", "plug-b", "-p", "loader"]);
    let debug = target().join("debug");
    let plugs = ["libplug_a.so", "libplug_b.so"].map(|name| debug.join(name));
    let loaded = run(Command::new(debug.join("loader")).args(&plugs));
    assert_eq!(loaded.stdout, "plug_a 500\nplug_b 600\n", "{}", loaded.stderr);
    for plug in plugs {
        let names = run(Command::new("nm").args(["-D", "--defined-only"]).arg(plug));
        assert!(names.ok && !names.stdout.contains("relocgpu"), "{}", names.stdout);
    }
}

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
    let copies: Vec<_> =
        fs::read_dir(target().join("debug/build")).unwrap().flatten().map(|e| e.path().join("out/relocgpu-lock/Cargo.lock")).collect();
    let copies: Vec<String> = copies.into_iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    assert!(!copies.is_empty());
    for copy in copies {
        for version in versions(&copy) {
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

/// Optimisation and linkers that may drop or hide what nothing seems to use.
#[test]
fn images_survive_link_time_optimisation_other_linkers_and_strip() {
    let fixture = Fixture::new("plain");
    let expected = [("app", "fill [1000, 1003, 1006, 1009]\nadd [11.5, 12.5]\n"), ("both", "lib [1, 2, 3] bin [20, 21, 22]\n")];
    let mut profile = "debug = 0".to_owned();
    for (lto, linker) in [("off", "lld"), ("off", "bfd"), ("thin", "lld"), ("fat", "bfd")] {
        if !run(Command::new("cc").args([&format!("-fuse-ld={linker}"), "-Wl,--version"])).ok {
            eprintln!("skipped: the linker {linker} is not installed");
            continue;
        }
        // In the manifest, which the nested cargo reads as well.
        let optimised = format!("debug = 0\nlto = \"{lto}\"\nopt-level = 3\nstrip = \"symbols\"\ndebug-assertions = false");
        let wanted = if lto == "off" { "debug = 0" } else { &optimised };
        fixture.edit("shapes/Cargo.toml", &profile, wanted);
        profile = wanted.to_owned();
        for (package, says) in expected {
            let flag = format!("-Clink-arg=-fuse-ld={linker}");
            let arguments = ["rustc", "-p", package, "--bin", package, "--", &flag, "-Clink-arg=-Wl,--gc-sections"];
            let built = fixture.run("shapes", &arguments);
            assert!(built.ok, "{package}, LTO {lto}, {linker}: {}", built.stderr);
            let ran = run(&mut Command::new(target().join("debug").join(package)));
            assert_eq!(ran.stdout, says, "{package}, LTO {lto}, {linker}: {}", ran.stderr);
        }
    }
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
