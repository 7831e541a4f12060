//! The README says what is so: its code is compiled and run, its commands exist, its licences hold.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> String {
    let path = root().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Language and text of each fenced block.
fn blocks(markdown: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((language.to_owned(), text.join("\n")));
        }
    }
    blocks
}

#[test]
fn every_rust_block_is_compiled() {
    let compiled = ["tests/readme/src/main.rs", "tests/readme/src/tour.rs", "tests/readme/build.rs"].map(read);
    let readme = read("README.md");
    let rust: Vec<_> = blocks(&readme).into_iter().filter(|(language, _)| language == "rust").collect();
    assert!(rust.len() >= 2, "the README shows a program and a build script");
    for (_, text) in rust {
        assert!(
            compiled.iter().any(|source| source.contains(text.trim())),
            "no file of tests/readme has this block of the README:\n{text}"
        );
    }
}

/// The chapter's examples are pieces of `examples/host_references`, which runs them and compares their results.
#[test]
fn the_chapter_on_host_references_quotes_its_example() {
    let without_indent = |text: &str| text.trim().lines().map(|line| line.trim().to_owned() + "\n").collect::<String>();
    let folder = "examples/host_references/src/kinds";
    let kinds: Vec<_> = std::fs::read_dir(root().join(folder)).unwrap().map(|file| file.unwrap().file_name()).collect();
    let kinds: Vec<_> = kinds.iter().map(|name| name.to_str().unwrap()).filter(|name| *name != "mod.rs").collect();
    let sources: Vec<_> = kinds.iter().map(|name| without_indent(&read(&format!("{folder}/{name}")))).collect();
    let mut quoted = vec![false; kinds.len()];
    for (language, text) in blocks(&read("relocgpu-runtime/src/guide/host_references.md")) {
        assert_eq!(language, "ignore", "a block of another language is not compared");
        let kind = sources.iter().position(|source| source.contains(&without_indent(&text)));
        quoted[kind.unwrap_or_else(|| panic!("no file of {folder} has this block of the chapter:\n{text}"))] = true;
    }
    let missing: Vec<_> = kinds.iter().zip(&quoted).filter(|(_, quoted)| !**quoted).map(|(name, _)| name).collect();
    assert!(kinds.len() >= 9 && missing.is_empty(), "the chapter has nothing of {missing:?}");
}

#[test]
fn the_program_runs() {
    let output = Command::new(env!("CARGO_BIN_EXE_readme")).env("GAIN", "3").env("RELOCGPU_DEVICE", "cpu").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let value: f32 = text.trim().rsplit(' ').next().unwrap().parse().unwrap();
    let expected = 3.0 * (127.0f32 / 255.0).powf(0.45);
    assert!((value - expected).abs() < 1e-5, "{text}expected {expected}");
}

#[test]
fn the_manifest_block_names_this_version() {
    let readme = read("README.md");
    let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
    let manifest = blocks(&readme).into_iter().find(|(language, _)| language == "toml").expect("the README shows a manifest").1;
    let expected =
        format!("[dependencies]\nrelocgpu-runtime = \"{major}.{minor}\"\n\n[build-dependencies]\nrelocgpu-build = \"{major}.{minor}\"");
    assert_eq!(manifest, expected);
}

#[test]
fn commands_name_packages_that_exist() {
    let readme = read("README.md");
    let mut commands = 0;
    for (_, text) in blocks(&readme).iter().filter(|(language, _)| language == "sh") {
        for line in text.lines().filter(|line| line.starts_with("cargo ")) {
            commands += 1;
            let words: Vec<&str> = line.split_whitespace().collect();
            for package in words.windows(2).filter(|pair| pair[0] == "-p").map(|pair| pair[1]) {
                let places = [format!("examples/{package}"), format!("tests/{package}"), package.to_owned()];
                assert!(places.iter().any(|place| root().join(place).join("Cargo.toml").is_file()), "`{line}`: no package {package}");
            }
        }
    }
    assert!(commands >= 2, "the README gives the two commands");
}

#[test]
fn every_unstable_switch_of_the_build_is_disclosed() {
    let readme = read("README.md");
    let mut sources = String::new();
    let mut folders = vec![root().join("relocgpu-build/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                sources.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let word = |rest: &str| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect::<String>();
    let mut switches: Vec<String> = sources.match_indices("\"-Z").map(|(at, _)| word(&sources[at + 1..])).collect();
    switches.push("RUSTC_BOOTSTRAP".to_owned());
    assert!(switches.len() > 2, "the build has unstable switches");
    for switch in switches {
        assert!(readme.contains(&switch), "relocgpu-build uses {switch}, and the README does not say so");
    }
}

/// Every dependency has a licence that `deny.toml` allows.
#[test]
fn licences_are_on_the_list() {
    let deny = read("deny.toml");
    let list = deny.lines().find_map(|line| line.strip_prefix("allow = ")).expect("deny.toml has an `allow` line");
    let allowed: Vec<String> = serde_json::from_str(list).unwrap();
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--offline", "--filter-platform", "x86_64-unknown-linux-gnu", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 20);
    for package in packages {
        let licence = package["license"].as_str().unwrap_or_else(|| panic!("{} has no licence", package["name"]));
        let expression =
            spdx::Expression::parse_mode(licence, spdx::ParseMode::LAX).unwrap_or_else(|error| panic!("{}: {error}", package["name"]));
        let fits = expression.evaluate(|requirement| allowed.contains(&requirement.to_string()));
        assert!(fits, "{}: {licence} is not on the list of deny.toml", package["name"]);
    }
}
