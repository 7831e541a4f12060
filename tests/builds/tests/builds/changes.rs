//! What makes a package compile again, and what it compiles to then; faults in the user's code; builds without an image.

use crate::support::{Fixture, Run, errors, messages, run, target};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

#[test]
fn nothing_runs_again_when_nothing_changed() {
    let fixture = Fixture::new("plain");
    for args in [&["build", "-p", "app", "-p", "both"][..], &["test", "-p", "klib", "--no-run"], &["build", "-p", "both", "--examples"]] {
        fixture.output("shapes", args);
        let again = fixture.run("shapes", args);
        assert!(again.ok && !again.stderr.contains("Compiling"), "{args:?}: {}", again.stderr);
    }
}

/// A compiler wrapper of this name is how the editor's server shows itself.
fn rust_analyzer() -> PathBuf {
    let wrapper = target().join("rust-analyzer");
    fs::write(&wrapper, "#!/bin/sh\nexec \"$@\"\n").unwrap();
    fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    wrapper
}

#[test]
fn builds_checks_and_editors_do_not_undo_each_others_work() {
    let fixture = Fixture::new("plain");
    let check = ["check", "-p", "both", "-p", "klib", "-v"];
    let build = ["build", "-p", "both", "-p", "klib", "-v"];
    fixture.output("shapes", &build);
    fixture.output("shapes", &check);
    let analysed = run(fixture.cargo("shapes", &check).env("RUSTC_WRAPPER", rust_analyzer()));
    for again in [analysed, fixture.run("shapes", &build), fixture.run("shapes", &check)] {
        assert!(again.ok && !again.stderr.contains("Dirty") && !again.stderr.contains("Running"), "{}", again.stderr);
    }
}

#[test]
fn a_new_folder_of_tests_is_noticed() {
    let fixture = Fixture::new("edited");
    let build = ["test", "-p", "klib", "--no-run", "-v"];
    fixture.output("shapes", &build);
    let again = fixture.run("shapes", &build);
    assert!(again.ok && !again.stderr.contains("Dirty"), "{}", again.stderr);
    let folder = fixture.dir.join("shapes/klib/tests");
    fs::create_dir(&folder).unwrap();
    let from = fixture.dir.join("shapes/both/tests/it.rs");
    let source = fs::read_to_string(from).unwrap().replace("    assert_eq!(both::lib_says(&device).unwrap(), [1, 2, 3]);\n", "");
    for name in ["new", "newer"] {
        fs::write(folder.join(format!("{name}.rs")), &source).unwrap();
        let tests = fixture.output("shapes", &["test", "-p", "klib", "--test", name]);
        assert!(tests.contains("kernels_of_integration_tests_have_an_image ... ok"), "{tests}");
    }
}

/// The lowering process is the build script again, so the build script can make it die.
#[test]
fn the_death_of_the_lowering_process_is_an_error_that_names_the_kernel_and_keeps_the_input() {
    let fixture = Fixture::new("edited");
    let dies = "if let Some(job) = std::env::var_os(\"RELOCGPU_JOB\") {
        let doing = std::path::PathBuf::from(job).with_file_name(\"doing.txt\");
        std::thread::spawn(move || loop {
            if std::fs::read_to_string(&doing).is_ok_and(|step| step.contains(\"PTX\")) {
                std::process::abort()
            }
        });
    }
    relocgpu_build::compile()";
    fixture.edit("shapes/klib/build.rs", "relocgpu_build::compile()", dies);
    // Code that no other test has lowered, or it would come from the cache.
    fixture.edit("shapes/klib/src/lib.rs", "{ 3 }", "{ 9473 }");
    let build = fixture.run("shapes", &["build", "-p", "klib"]);
    assert!(!build.ok);
    assert!(build.stderr.contains("the lowering process died (signal: 6 (SIGABRT)"), "{}", build.stderr);
    let at = "while lowering `klib::fill` to ";
    assert!(build.stderr.lines().any(|line| line.contains(at) && line.contains("PTX for sm_75")), "{}", build.stderr);
    let kept = build.stderr.lines().find_map(|line| line.split_once("the input is kept: ")).expect("no path").1;
    let job: serde_json::Value = serde_json::from_str(&fs::read_to_string(kept.trim()).unwrap()).unwrap();
    assert!(fs::metadata(job["root"].as_str().unwrap()).unwrap().len() > 0);
}

#[test]
fn an_edit_shows_in_the_next_run() {
    let fixture = Fixture::new("edited");
    let filled = |fixture: &Fixture, args: &[&str]| {
        let output = fixture.output("shapes", &[&["run", "-p", "app"][..], args].concat());
        output.lines().next().unwrap().to_owned()
    };
    assert_eq!(filled(&fixture, &[]), "fill [1000, 1003, 1006, 1009]");
    fixture.edit("shapes/klib/src/lib.rs", "{ 3 }", "{ 4 }");
    assert_eq!(filled(&fixture, &[]), "fill [1000, 1004, 1008, 1012]", "a const");
    fixture.edit("shapes/klib/src/helper.rs", "x + 0", "x + 50");
    assert_eq!(filled(&fixture, &[]), "fill [1050, 1054, 1058, 1062]", "a device function");
    fixture.edit("shapes/klib/src/lib.rs", "+ offset();", "+ offset() * 2;");
    assert_eq!(filled(&fixture, &[]), "fill [2050, 2054, 2058, 2062]", "a kernel");
    assert_eq!(filled(&fixture, &["--features", "double"]), "fill [2050, 2056, 2062, 2068]", "a feature");
    assert_eq!(filled(&fixture, &[]), "fill [2050, 2054, 2058, 2062]", "no feature again");
}

/// `cargo build --message-format=json` after an edit.
fn build_edited(file: &str, from: &str, to: &str) -> Run {
    let fixture = Fixture::new("edited");
    fixture.edit(file, from, to);
    fixture.run("shapes", &["build", "-p", "app", "--message-format=json"])
}

#[test]
fn a_type_error_is_reported_once_and_in_place() {
    let build = build_edited("shapes/app/src/main.rs", "&[1.5f64, 2.5]", "&[1.5f64, \"no\"]");
    let found = errors(&build.stdout);
    assert!(!build.ok);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&*found[0].0, &*found[0].1), ("E0308", "app/src/main.rs"));
    let finished = messages(&build.stdout, "build-script-executed");
    assert!(finished.iter().any(|m| m["package_id"].as_str().unwrap().contains("/app#")), "the build script failed: {}", build.stderr);
}

#[test]
fn a_type_error_in_a_kernel_is_reported_once_and_in_place() {
    let build = build_edited("shapes/klib/src/lib.rs", "*y = helper::shifted", "*y = \"no\" + helper::shifted");
    let found = errors(&build.stdout);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].1, "klib/src/lib.rs");
}

#[test]
fn what_a_device_cannot_do_is_reported_at_the_kernel() {
    let build = build_edited("shapes/klib/src/helper.rs", "x + 0", "x + std::process::id()");
    let found = errors(&build.stdout);
    assert!(!build.ok);
    assert_eq!(found.len(), 1, "{found:?}\n{}", build.stderr);
    let source = fs::read_to_string(Fixture::new("plain").dir.join("shapes/klib/src/lib.rs")).unwrap();
    let line = source.lines().position(|l| l.contains("fn fill(")).unwrap() + 1;
    assert_eq!((&*found[0].1, found[0].2), ("klib/src/lib.rs", line as u64));
    assert!(found[0].3.contains("getpid") || found[0].3.contains("process"), "{}", found[0].3);
}

#[test]
fn what_only_the_nested_compile_rejects_fails_the_build_with_its_text() {
    let to = "#[cfg(relocgpu_device)]\nconst ONLY_HERE: u32 = \"no\";\n\npub fn base()";
    let build = build_edited("shapes/klib/src/lib.rs", "pub fn base()", to);
    let found = errors(&build.stdout);
    assert!(!build.ok, "a program without its image");
    assert_eq!(found.len(), 1, "{found:?}\n{}", build.stderr);
    assert!(found[0].3.contains("ONLY_HERE") && found[0].3.contains("mismatched types"), "{}", found[0].3);
}

#[test]
fn documentation_and_rust_analyzer_skip_the_pass_and_the_next_build_does_not() {
    let fixture = Fixture::new("edited");
    let state = |stdout: &str| {
        let scripts = messages(stdout, "build-script-executed");
        let own = scripts.iter().find(|m| m["package_id"].as_str().unwrap().contains("/klib#")).expect("klib's build script").clone();
        let variables = own["env"].as_array().unwrap().clone();
        variables.iter().find(|pair| pair[0] == "RELOCGPU_PASS").map(|pair| pair[1].as_str().unwrap().to_owned())
    };
    fixture.edit("shapes/klib/src/lib.rs", "{ 3 }", "{ 5 }");
    let pages = target().join("doc/klib");
    let _ = fs::remove_file(pages.join("enum.fill.html"));
    let documented =
        run(fixture.cargo("shapes", &["doc", "-p", "klib", "--no-deps", "--message-format=json"]).env("RUSTDOCFLAGS", "-D warnings"));
    assert!(documented.ok, "{}", documented.stderr);
    // Links to a kernel mean its function, whose page tells how to launch it.
    let page = fs::read_to_string(pages.join("fn.fill.html")).unwrap();
    let told = page.find("then whatever the helper adds").expect("the user's text");
    let launch = page.find("fill::launch(&amp;device, grid, y: &amp;mut Buffer&lt;u32&gt;)?").expect("how it is launched");
    assert!(told < launch && !pages.join("enum.fill.html").exists());
    assert_eq!(state(&documented.stdout).as_deref(), Some("skipped"));
    assert!(fixture.output("shapes", &["run", "-p", "app"]).contains("[1000, 1005, 1010, 1015]"));

    let analyse = || {
        let analysed =
            run(fixture.cargo("shapes", &["check", "-p", "klib", "--message-format=json"]).env("RUSTC_WRAPPER", rust_analyzer()));
        assert!(analysed.ok, "{}", analysed.stderr);
        state(&analysed.stdout)
    };
    assert_eq!(analyse().as_deref(), Some("linked"), "what a build has made is good for the editor");
    fixture.edit("shapes/klib/src/lib.rs", "{ 5 }", "{ 6 }");
    assert_eq!(analyse().as_deref(), Some("skipped"));

    let docs_rs = run(fixture.cargo("shapes", &["check", "-p", "klib", "--message-format=json"]).env("DOCS_RS", "1"));
    assert_eq!(state(&docs_rs.stdout).as_deref(), Some("skipped"), "{}", docs_rs.stderr);
    assert_eq!(state(&fixture.output("shapes", &["check", "-p", "klib", "--message-format=json"])).as_deref(), Some("linked"));
}

#[test]
fn intermediates_are_kept_on_request() {
    let fixture = Fixture::new("plain");
    let keep = target().join("kept");
    let _ = fs::remove_dir_all(&keep);
    let built = run(fixture.cargo("shapes", &["build", "-p", "both"]).env("RELOCGPU_KEEP", &keep));
    assert!(built.ok, "{}", built.stderr);
    for unit in ["lib-both", "bin-both"] {
        let names: Vec<String> =
            fs::read_dir(keep.join("both").join(unit)).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        for stage in ["linked", "normalised", "unit", "ptx"] {
            assert!(names.iter().any(|n| n.contains(stage)), "{unit} has no {stage}: {names:?}");
        }
    }
}

/// A dependency that probes for unstable features must find the same in both passes: none.
#[test]
fn dependencies_see_the_same_compiler_in_both_passes() {
    let fixture = Fixture::new("plain");
    let outer = fixture.output("shapes", &["build", "-p", "both", "--message-format=json"]);
    let mut cfgs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for script in messages(&outer, "build-script-executed") {
        let id = script["package_id"].as_str().unwrap();
        let name = id.rsplit_once('#').unwrap().1.split('@').next().unwrap().to_owned();
        cfgs.entry(name).or_default().extend(script["cfgs"].as_array().unwrap().iter().map(|c| c.as_str().unwrap().to_owned()));
    }
    for package in ["proc-macro2", "anyhow", "serde"] {
        // Where only build scripts use a package it is left out, and its own script says nothing.
        let outputs: Vec<String> = nested_outputs(package).into_iter().filter(|output| !output.is_empty()).collect();
        assert!(!outputs.is_empty(), "{package} has no build script in the device pass");
        for output in outputs {
            let cfg =
                |line: &str| line.strip_prefix("cargo::rustc-cfg=").or_else(|| line.strip_prefix("cargo:rustc-cfg=")).map(str::to_owned);
            let nested: BTreeSet<String> = output.lines().filter_map(cfg).collect();
            assert_eq!(nested, cfgs[package], "{package}");
        }
    }
}

/// What the build scripts of a package printed in the device pass.
fn nested_outputs(package: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![target().join("relocgpu")];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten().filter(|e| e.path().is_dir()) {
            let is_script = dir.file_name().is_some_and(|n| n == "build");
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_script && name.rsplit_once('-').is_some_and(|(n, _)| n == package) {
                found.extend(fs::read_to_string(entry.path().join("output")));
            } else if !is_script && !["deps", "incremental", ".fingerprint"].contains(&name.as_str()) {
                open.push(entry.path());
            }
        }
    }
    found
}
