//! What users set: flags, targets, wrappers, profiles.

use crate::support::{Fixture, run, target};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// A compiler wrapper that notes that it was there.
fn wrapper(name: &str) -> (PathBuf, PathBuf) {
    let (path, seen) = (target().join(name), target().join(format!("{name}-seen")));
    let _ = fs::remove_file(&seen);
    fs::write(&path, format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec \"$@\"\n", seen.display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    (path, seen)
}

/// An explicit target, a `cfg` by RUSTFLAGS, one job, a lock that must do.
#[test]
fn flags_of_the_source_reach_the_device_and_one_job_is_enough() {
    let fixture = Fixture::new("edited");
    fixture.edit("shapes/klib/src/helper.rs", "x + 0", "x + if cfg!(shifted) { 7 } else { 0 }");
    // Makes the lock.
    fixture.output("shapes", &["metadata", "--format-version=1"]);
    let triple = "x86_64-unknown-linux-gnu";
    let arguments = ["run", "-p", "app", "-j1", "--frozen", "--target", triple];
    let flags = "--cfg shifted --check-cfg cfg(shifted) -Ctarget-cpu=native -Dwarnings -Clink-arg=-Wl,-O1";
    let shifted = run(fixture.cargo("shapes", &arguments).env("RUSTFLAGS", flags));
    assert!(shifted.stdout.starts_with("fill [1007, 1010, 1013, 1016]\n"), "{}\n{}", shifted.stdout, shifted.stderr);
    let named = run(fixture.cargo("shapes", &["run", "-p", "app"]).env("CARGO_BUILD_TARGET", triple));
    assert!(named.stdout.starts_with("fill [1000, 1003, 1006, 1009]\n"), "{}\n{}", named.stdout, named.stderr);
}

#[test]
fn wrappers_of_the_compiler_stay_with_the_outer_build() {
    let fixture = Fixture::new("edited");
    fixture.edit("shapes/klib/src/lib.rs", "{ 3 }", "{ 8 }");
    let ((wrapper, seen), (workspace_wrapper, seen_too)) = (wrapper("cache"), wrapper("members"));
    let mut command = fixture.cargo("shapes", &["run", "-p", "app"]);
    let ran = run(command.env("RUSTC_WRAPPER", wrapper).env("RUSTC_WORKSPACE_WRAPPER", workspace_wrapper));
    assert!(ran.stdout.starts_with("fill [1000, 1008, 1016, 1024]\n"), "{}\n{}", ran.stdout, ran.stderr);
    for seen in [seen, seen_too] {
        let seen = fs::read_to_string(seen).unwrap();
        assert!(seen.contains("--crate-name klib") && !seen.contains("--emit=llvm-bc"), "{seen}");
    }
}

#[test]
fn clippy_sees_the_package_and_not_the_device_pass() {
    if !run(Command::new(env!("CARGO")).args(["clippy", "--version"])).ok {
        eprintln!("skipped: clippy is not installed");
        return;
    }
    let fixture = Fixture::new("edited");
    let checked = run(&mut fixture.cargo("shapes", &["clippy", "-p", "klib", "--", "-Dclippy::identity_op"]));
    let found = checked.stderr.matches("this operation has no effect").count();
    assert!(!checked.ok && found == 1, "{}", checked.stderr);
    assert!(checked.stderr.contains("klib/src/helper.rs:3"), "{}", checked.stderr);
}

/// The device follows assertions and overflow checks; levels of optimisation are the host's affair.
#[test]
fn profiles_decide_what_the_device_checks() {
    let fixture = Fixture::new("edited");
    fixture.edit("shapes/klib/src/helper.rs", "x + 0", "x + if cfg!(debug_assertions) { 5 } else { u32::MAX }");
    let asserted = fixture.output("shapes", &["run", "-p", "app"]);
    assert!(asserted.starts_with("fill [1005, 1008, 1011, 1014]\n"), "{asserted}");
    let profile = "[profile.dev.package.klib]\ndebug-assertions = false\noverflow-checks = false\nopt-level = \"z\"\n\n[profile.dev]";
    fixture.edit("shapes/Cargo.toml", "[profile.dev]", profile);
    let unchecked = fixture.output("shapes", &["run", "-p", "app"]);
    assert!(unchecked.starts_with("fill [999, 1002, 1005, 1008]\n"), "{unchecked}");
    fixture.edit("shapes/Cargo.toml", "overflow-checks = false", "overflow-checks = true");
    let checked = fixture.run("shapes", &["run", "-p", "app"]);
    assert!(!checked.ok && checked.stderr.contains("overflow"), "{}\n{}", checked.stdout, checked.stderr);
}

/// Cargo holds a lock on the folder for intermediate files, which the nested cargo must not wait for.
#[test]
fn a_configuration_above_the_workspace_may_name_the_folder_for_intermediate_files() {
    let fixture = Fixture::new("plain");
    fs::create_dir(fixture.dir.join(".cargo")).unwrap();
    let config = format!("[build]\nbuild-dir = {:?}\ntarget-dir = \"finished\"\n", target());
    fs::write(fixture.dir.join(".cargo/config.toml"), config).unwrap();
    let mut command = fixture.cargo("shapes", &["run", "-p", "both"]);
    let ran = run(command.env_remove("CARGO_TARGET_DIR"));
    assert_eq!(ran.stdout, "lib [1, 2, 3] bin [20, 21, 22]\n", "{}", ran.stderr);
    assert!(fixture.dir.join("finished/debug/both").exists());
}
