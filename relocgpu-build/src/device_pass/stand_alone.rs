//! A package around a kernel crate that is a dependency.
//!
//! ```text
//! OUT_DIR/relocgpu-dependency/Cargo.toml   depends on the kernel crate, with its features; the outer profiles and patches
//!                             Cargo.lock   the outer lock file, which cargo prunes to what is needed
//!                             origin       what it was copied from
//! ```
//!
//! The nested cargo compiles the dependency from there: with the versions, patches and profiles of the program that is
//! being built, whatever workspace the dependency's own folder belongs to, and with nothing written into that folder.

use super::folder;
use super::lockfile::Lock;
use crate::env::Env;
use crate::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Writes the package and returns its manifest.
pub(super) fn write(env: &Env, lock: &Lock) -> Result<PathBuf, Error> {
    let dir = env.out_dir.join("relocgpu-dependency");
    fs::create_dir_all(&dir).map_err(Error::file("make the folder", &dir))?;
    let outer_path = lock.path.with_file_name("Cargo.toml");
    // A lock file that the user names may lie apart from any manifest.
    let outer = fs::read_to_string(&outer_path).ok().map(|text| {
        let unreadable = |e: toml::de::Error| Error::Lock { path: outer_path.clone(), what: e.to_string() };
        text.parse::<Table>().map_err(unreadable)
    });
    let outer = outer.transpose()?.unwrap_or_default();
    let manifest = manifest(env, &outer, outer_path.parent().unwrap_or(Path::new("/")));
    let path = dir.join("Cargo.toml");
    write_if_new(&path, &manifest.to_string(), &path)?;
    write_if_new(&dir.join("lib.rs"), "", &dir.join("lib.rs"))?;
    // Cargo may have pruned an equal one, and minds its age.
    write_if_new(&dir.join("Cargo.lock"), &lock.text, &dir.join("origin"))?;
    Ok(path)
}

/// Writes a file unless `origin` tells that the text has been written before.
fn write_if_new(path: &Path, text: &str, origin: &Path) -> Result<(), Error> {
    if path.exists() && fs::read_to_string(origin).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(Error::file("write", path))?;
    if origin != path {
        fs::write(origin, text).map_err(Error::file("write", origin))?;
    }
    Ok(())
}

fn manifest(env: &Env, outer: &Table, outer_root: &Path) -> Table {
    let text = |text: &str| Value::String(text.to_owned());
    let table = |entries: Vec<(&str, Value)>| -> Value { entries.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Table>().into() };
    let word = |path: &[&str]| get(outer, path).and_then(Value::as_str);
    let edition = word(&["package", "edition"]).or_else(|| word(&["workspace", "package", "edition"]));
    let resolver = word(&["workspace", "resolver"]).or_else(|| word(&["package", "resolver"]));
    let resolver = resolver.unwrap_or(match edition {
        _ if !outer.contains_key("package") => "1",
        None | Some("2015" | "2018") => "1",
        Some("2021") => "2",
        Some(_) => "3",
    });
    let features = env.features.iter().map(|f| text(f)).collect();
    let dependency = table(vec![
        ("path", text(&env.manifest_dir.display().to_string())),
        ("default-features", Value::Boolean(false)),
        ("features", Value::Array(features)),
    ]);
    let package = table(vec![
        ("name", text("relocgpu-dependency")),
        ("version", text("0.0.0")),
        ("edition", text("2024")),
        ("publish", false.into()),
    ]);
    let mut manifest = Table::new();
    manifest.insert("package".to_owned(), package);
    manifest.insert("lib".to_owned(), table(vec![("path", text("lib.rs"))]));
    manifest.insert("workspace".to_owned(), table(vec![("resolver", text(resolver))]));
    manifest.insert("dependencies".to_owned(), table(vec![(&env.package, dependency)]));
    manifest.insert("profile".to_owned(), profiles(env, outer).into());
    if let Some(patches) = outer.get("patch").and_then(Value::as_table) {
        manifest.insert("patch".to_owned(), absolute(patches, outer_root).into());
    }
    manifest
}

fn get<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (last, folders) = path.split_last()?;
    folders.iter().try_fold(table, |table, name| table.get(*name)?.as_table())?.get(*last)
}

/// The outer profiles; where the build's own is not among them, it comes from a configuration and is worth its parent.
fn profiles(env: &Env, outer: &Table) -> Table {
    let mut profiles = outer.get("profile").and_then(Value::as_table).cloned().unwrap_or_default();
    let name = folder::profile(env);
    if !["dev", "release"].contains(&name.as_str()) && !profiles.contains_key(&name) {
        let parent = if env.profile == "release" { "release" } else { "dev" };
        profiles.insert(name, Table::from_iter([("inherits".to_owned(), Value::from(parent))]).into());
    }
    profiles
}

/// Patches with paths that hold from any folder.
fn absolute(patches: &Table, root: &Path) -> Table {
    let mut patches = patches.clone();
    for dependency in patches.iter_mut().filter_map(|(_, source)| source.as_table_mut()).flat_map(|source| source.iter_mut()) {
        if let Some(Value::String(path)) = dependency.1.get_mut("path") {
            *path = root.join(&*path).display().to_string();
        }
    }
    patches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(outer: &str, out_dir: &str) -> Table {
        let mut env = Env::of_package("/deps/k 'q'".as_ref(), out_dir.as_ref());
        env.features = vec!["default".to_owned(), "fast-math".to_owned()];
        let manifest = manifest(&env, &outer.parse().unwrap(), Path::new("/w"));
        manifest.to_string().parse().unwrap()
    }

    #[test]
    fn the_dependency_has_its_features_and_the_programs_profiles_and_patches() {
        let outer = "[package]\nname = 'a'\nedition = '2021'\n[profile.release]\noverflow-checks = true\n\
                     [patch.crates-io]\nx = { path = '../x', version = '1' }\ny = { git = 'https://y' }";
        let made = made(outer, "/t/release/build/k-1/out");
        let dependency = get(&made, &["dependencies", "p"]).unwrap();
        assert_eq!(dependency["path"].as_str(), Some("/deps/k 'q'"));
        assert_eq!(dependency["default-features"].as_bool(), Some(false));
        assert_eq!(dependency["features"].to_string(), r#"["default", "fast-math"]"#);
        assert_eq!(made["workspace"]["resolver"].as_str(), Some("2"));
        assert_eq!(made["profile"]["release"]["overflow-checks"].as_bool(), Some(true));
        assert_eq!(made["patch"]["crates-io"]["x"]["path"].as_str(), Some("/w/../x"));
        assert_eq!(made["patch"]["crates-io"]["y"]["git"].as_str(), Some("https://y"));
    }

    #[test]
    fn a_profile_of_its_own_name_is_always_there() {
        let defined = made("[profile.tuned]\ninherits = 'release'\nopt-level = 2", "/t/tuned/build/k-1/out");
        assert_eq!(defined["profile"]["tuned"]["opt-level"].as_integer(), Some(2));
        let configured = made("", "/t/tuned/build/k-1/out");
        assert_eq!(configured["profile"]["tuned"]["inherits"].as_str(), Some("dev"));
    }

    #[test]
    fn the_resolver_is_the_programs() {
        for (outer, resolver) in [
            ("[workspace]\nmembers = []", "1"),
            ("[workspace]\nresolver = '3'", "3"),
            ("[package]\nname = 'a'", "1"),
            ("[package]\nname = 'a'\nedition = '2024'", "3"),
            ("[package]\nname = 'a'\nedition = '2024'\nresolver = '2'", "2"),
            ("[package]\nname = 'a'\nedition.workspace = true\n[workspace.package]\nedition = '2021'", "2"),
        ] {
            assert_eq!(made(outer, "/t/debug/build/k-1/out")["workspace"]["resolver"].as_str(), Some(resolver), "{outer}");
        }
    }
}
