//! Shapes of packages, each built by cargo as its user would, run, and its data compared.

use crate::support::{Fixture, errors, run, target};
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

/// Nothing refers to such an image: it must be linked all the same, and passed over where it does not belong.
#[test]
fn images_of_other_packages_instances_are_linked_whole() {
    let fixture = Fixture::new("plain");
    assert_eq!(fixture.output("shapes", &["run", "-p", "relay-lib"]), "lib [10, 11] bin [31, 32]\n");
    let tests = fixture.output("shapes", &["test", "-p", "relay-lib"]);
    for name in [
        "tests::instances_of_unit_tests_have_an_image",
        "unit_tests_of_the_program_have_an_image",
        "instances_of_integration_tests_have_an_image",
        "an_image_that_does_not_belong_is_passed_over",
        "added (line 7)",
    ] {
        assert!(tests.lines().any(|line| line.contains(name) && line.ends_with("... ok")), "{name}: {tests}");
    }
    let example = ["run", "-p", "relay-lib", "--example", "needs-feature", "--features", "extra"];
    assert_eq!(fixture.output("shapes", &example), "example [9, 9]\n");
}
