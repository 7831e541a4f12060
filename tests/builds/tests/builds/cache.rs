//! A unit that has not changed is not lowered again.

use crate::support::{Fixture, run, target};
use std::fs;
use std::time::SystemTime;

/// What `RELOCGPU_LOG` tells of the library of `twice`: `hit` or `miss`, and digits of the key.
fn logged(fixture: &Fixture, workspace: &str) -> (String, String) {
    let built = run(fixture.cargo(workspace, &["build", "-vv", "-p", "twice", "--lib"]).env("RELOCGPU_LOG", "1"));
    // Commands are shown as well, which is a lot.
    let said: Vec<&str> = built.stderr.lines().filter(|line| !line.contains("Running `")).collect();
    assert!(built.ok, "{}", said.join("\n"));
    let lines = built.stderr.lines().filter_map(|line| line.split_once("relocgpu: cache ")).map(|(_, told)| told);
    let told: Vec<&str> = lines.filter(|told| told.ends_with("lib `twice` of twice")).collect();
    let [line] = told[..] else { panic!("told {told:?}") };
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words[1].len(), 12, "{line}");
    (words[0].to_owned(), words[1].to_owned())
}

#[test]
fn a_unit_is_lowered_once_whatever_folder_it_is_built_in() {
    let entries = target().join("relocgpu/lowered");
    let fixture = Fixture::new("edited");
    let _ = fs::remove_dir_all(&entries);
    let of = |how: &str, key: &str| (how.to_owned(), key.to_owned());
    // Differs from what an earlier run of this test has left.
    let started = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    fixture.edit("twice/src/lib.rs", "    1000\n", &format!("    1000 // {started}\n"));
    let (how, first) = logged(&fixture, "twice");
    assert_eq!(how, "miss");

    fixture.edit("twice/src/lib.rs", "    1000 //", "    2 + 998 //");
    assert_eq!(logged(&fixture, "twice"), of("hit", &first), "host code");
    fixture.edit("twice/src/lib.rs", "#[gpu_kernel]\npub fn plain", &format!("{}#[gpu_kernel]\npub fn plain", "// A line.\n".repeat(10)));
    assert_eq!(logged(&fixture, "twice"), of("hit", &first), "lines above a kernel");
    fixture.twice_in_workspace();
    assert_eq!(logged(&fixture, "shapes"), of("hit", &first), "another folder");

    fixture.edit("twice/src/lib.rs", "*y = a * i.get()", "*y = a + i.get()");
    let (how, edited) = logged(&fixture, "twice");
    assert!(how == "miss" && edited != first, "a kernel");
    fixture.edit("twice/build.rs", "relocgpu_build::compile()", "relocgpu_build::Builder::new().arch(80).compile()");
    let (how, newer) = logged(&fixture, "twice");
    assert!(how == "miss" && newer != edited, "an architecture");

    let entry = fs::read_dir(&entries).unwrap().flatten().find(|e| e.file_name().to_string_lossy().starts_with(&newer)).unwrap().path();
    let mut bytes = fs::read(&entry).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&entry, bytes).unwrap();
    fixture.edit("twice/src/lib.rs", "2 + 998", "3 + 997");
    assert_eq!(logged(&fixture, "twice"), of("miss", &newer), "a damaged entry");
    fixture.edit("twice/src/lib.rs", "3 + 997", "4 + 996");
    assert_eq!(logged(&fixture, "twice"), of("hit", &newer), "the entry made anew");
    fixture.edit("twice/src/lib.rs", "*y = a + i.get()", "*y = a * i.get()");
    fixture.edit("twice/build.rs", "Builder::new().arch(80).compile()", "compile()");
    assert_eq!(logged(&fixture, "twice"), of("hit", &first), "edits taken back");
}
