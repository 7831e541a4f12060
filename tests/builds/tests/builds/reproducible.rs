//! Bytes that follow from the source alone, and a program that needs nothing of what has built it.

use crate::support::{Fixture, messages, run, target};
use relocgpu_build::inspect::Input;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// What one build has made of the library of `twice`.
struct Built {
    /// Unit, code of each target, and the image without its source map, by name.
    files: BTreeMap<String, Vec<u8>>,
    source_map: String,
}

/// Builds it with a command of its own, past the cache: intermediates are wanted.
fn build(mut cargo: Command, kept: &Path) -> Built {
    let built = run(cargo.env("RELOCGPU_KEEP", kept));
    assert!(built.ok, "{}", built.stderr);
    let scripts = messages(&built.stdout, "build-script-executed");
    let script = scripts.iter().find(|m| m["package_id"].as_str().unwrap().contains("/twice#")).expect("its build script");
    let object = Path::new(script["out_dir"].as_str().unwrap()).join("relocgpu/lib-twice/image.o");
    let input = Input::open(&object).unwrap();
    let contents = input.contents();
    let [image] = &contents.images[..] else { panic!("{:?}", contents.faults) };
    let container = &image.container;
    let mut files: BTreeMap<String, Vec<u8>> = fs::read_dir(kept.join("twice/lib-twice"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| name.starts_with(['3', '4']))
        .collect();
    files.insert("manifest".to_owned(), format!("{:#?}", container.manifest).into());
    let rest = (&container.unit_hash, &container.ptx, &container.cpu_levels);
    files.insert("the image's code".to_owned(), format!("{rest:?}").into());
    Built { files, source_map: format!("{:#?}", container.source_map) }
}

fn assert_equal(first: &Built, other: &Built, what: &str) {
    assert_eq!(first.files.keys().collect::<Vec<_>>(), other.files.keys().collect::<Vec<_>>(), "{what}");
    let names: Vec<&String> = first.files.iter().filter(|(name, bytes)| other.files[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(names.is_empty(), "{what}: {names:?} differ");
}

#[test]
fn equal_source_gives_equal_bytes_in_every_folder_workspace_and_environment() {
    let folder = target().join("twice-kept");
    let _ = fs::remove_dir_all(&folder);
    // Another folder is another environment, so every build script runs.
    let kept = folder.join(SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos().to_string());
    let args = ["build", "--message-format=json"];

    let fixture = Fixture::new("plain");
    let own = build(fixture.cargo("twice", &args), &kept.join("own"));
    let wanted = ["3-unit.bc", "4-sm_75.ptx", "4-x86-64.o", "4-x86-64-v3.o", "4-x86-64-v4.o", "manifest"];
    assert!(wanted.iter().all(|name| own.files.contains_key(*name)), "{:?}", own.files.keys());
    let manifest = String::from_utf8_lossy(&own.files["manifest"]);
    for part in ["Interior", "Slot", "Address", "Table(", "Bake", "can_panic: true", "generic<u32>"] {
        assert!(manifest.contains(part), "no {part} in {manifest}");
    }
    drop(fixture);

    let fixture = Fixture::new("edited");
    let mut cargo = fixture.cargo("consumer", &args);
    for (name, value) in [("TZ", "Asia/Tokyo"), ("LC_ALL", "C"), ("USER", "nobody"), ("SOURCE_DATE_EPOCH", "1"), ("UNRELATED", "x\ny")] {
        cargo.env(name, value);
    }
    let outside = build(cargo, &kept.join("outside"));
    assert_equal(&own, &outside, "a path dependency outside the workspace");
    fixture.twice_in_workspace();
    let inside = build(fixture.cargo("shapes", &["build", "-p", "loader", "--message-format=json"]), &kept.join("inside"));
    assert_equal(&own, &inside, "a path dependency inside the workspace");

    let lines = "// A line.\n".repeat(10);
    for kernel in ["#[gpu_kernel]\npub fn plain", "#[gpu_kernel(delivery = table)]"] {
        fixture.edit("twice/src/lib.rs", kernel, &format!("{lines}{kernel}"));
    }
    let moved = build(fixture.cargo("twice", &args), &kept.join("moved"));
    assert_equal(&own, &moved, "lines above a kernel");
    assert_ne!(own.source_map, moved.source_map);
}

/// The part of a program's output that is the same in every process, and the rest: addresses, and files in its memory.
fn ran(command: &mut Command) -> (String, String, String) {
    let ran = run(command);
    assert!(ran.ok, "{}", ran.stderr);
    let (same, rest) = ran.stdout.split_once("addresses ").expect("addresses");
    let (addresses, mapped) = rest.split_once("\nmapped ").expect("mapped files");
    (same.to_owned(), addresses.to_owned(), mapped.to_owned())
}

#[test]
fn a_finished_program_needs_nothing_that_built_it() {
    let fixture = Fixture::new("plain");
    fixture.output("twice", &["build"]);
    let program = target().join("debug/twice");
    let images = |program: &Path| relocgpu_build::inspect::json(&Input::open(program).unwrap().contents());
    let before = images(&program);

    let (first, addresses, mapped) = ran(&mut Command::new(&program));
    let results = "plain [0, 3, 6, 9]\npanics [102, 53, 37, 30]\nconstants [323, 1096, 1647, 323]\ngeneric [332, 1105, 1656, 332]\n\
                   references [10707, 20806, 30707, 10806]\nfrom_table [1010, 1020, 1030, 1010]\nbaked [0, 1001, 2002, 3003]\n";
    assert!(first.starts_with(results) && first.contains("image twice 0.1.0"), "{first}");
    // Where the system loads every program at one address there is nothing to see.
    let is_moved = fs::read_to_string("/proc/sys/kernel/randomize_va_space").is_ok_and(|text| text.trim() != "0");
    let other = (0..8).map(|_| ran(&mut Command::new(&program))).find(|(_, others, _)| !is_moved || *others != addresses);
    let (second, ..) = other.expect("a process in which the items lie elsewhere");
    assert_eq!(first, second);

    let folder = target().join("twice-copied");
    fs::create_dir_all(&folder).unwrap();
    let copy: PathBuf = folder.join("renamed");
    fs::copy(&program, &copy).unwrap();
    let (third, _, mapped_by_copy) = ran(Command::new(&copy).current_dir(&folder).env_clear().env("PATH", ""));
    assert_eq!(first, third);
    for files in [mapped, mapped_by_copy] {
        assert!(files.contains("libc.so"), "{files}");
        for never in ["LLVM", "rustc", "cargo", "ptxas", "nvvm", "libstd-"] {
            assert!(!files.contains(never), "{never} in {files}");
        }
    }
    assert_eq!(images(&program), before, "running changes nothing");
    assert_eq!(images(&copy), before);
}
