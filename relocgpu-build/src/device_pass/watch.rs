//! The files whose change makes the next build run this script again.

use super::cargo::{Artifact, Compiled};
use super::metadata::Metadata;
use crate::env::Env;
use crate::error::Error;
use crate::parent::Parent;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders in which cargo looks for targets by itself.
const FOLDERS: [&str; 4] = ["src", "tests", "examples", "benches"];

/// What decides how the outer build compiles: its lock and manifest, with profiles and patches, and cargo's configuration.
pub(super) fn settings(env: &Env, parent: &Parent, lock: &Path) -> Result<BTreeSet<PathBuf>, Error> {
    let mut files = BTreeSet::from([lock.to_owned(), lock.with_file_name("Cargo.toml")]);
    let above = parent.cwd.iter().flat_map(|cwd| cwd.ancestors());
    files.extend(above.flat_map(|dir| [".cargo/config.toml", ".cargo/config"].map(|name| dir.join(name))));
    files.retain(|file| file.is_file());
    files.extend(absent_folders(env)?);
    Ok(files)
}

/// Cargo runs a build script again and again while something that it watches does not exist. It ignores a link to
/// nowhere inside a folder that it watches, until there is something at its end. The link is made anew each time, so
/// that it is younger than the last run whatever the age of what has appeared.
fn absent_folders(env: &Env) -> Result<Option<PathBuf>, Error> {
    let links = env.out_dir.join("relocgpu-absent");
    let _ = fs::remove_dir_all(&links);
    let absent: Vec<_> = FOLDERS.iter().map(|name| (links.join(name), env.manifest_dir.join(name))).filter(|(_, f)| !f.exists()).collect();
    if absent.is_empty() {
        return Ok(None);
    }
    fs::create_dir(&links).map_err(Error::file("make the folder", &links))?;
    for (link, folder) in absent {
        std::os::unix::fs::symlink(folder, &link).map_err(Error::file("make the link", link))?;
    }
    // Whatever is younger than the start of this run counts as changed.
    let dir = fs::File::open(&links).and_then(|dir| dir.set_modified(std::time::SystemTime::UNIX_EPOCH));
    dir.map_err(Error::file("set the time of", &links))?;
    Ok(Some(links))
}

/// Sources of the package and of its path dependencies, and their manifests. Registry sources never change.
pub(super) fn files(env: &Env, metadata: &Metadata, target_dir: &Path, compiled: &Compiled) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::from([env.manifest_dir.join("Cargo.toml"), metadata.workspace_root.join("Cargo.toml")]);
    // New files of the package are in no dependency list yet.
    let folders = FOLDERS.map(|d| env.manifest_dir.join(d));
    files.extend(folders.into_iter().filter(|d| d.is_dir() && !target_dir.starts_with(d)));
    for artifact in compiled.artifacts.iter().filter(|a| a.package_id.starts_with("path+")) {
        files.insert(artifact.manifest_path.clone());
        if let Some(list) = dependency_list(artifact) {
            files.extend(sources(&list, &metadata.workspace_root));
        }
    }
    for script in compiled.scripts.iter().filter(|s| s.package_id.starts_with("path+")) {
        let manifest = compiled.artifacts.iter().find(|a| a.package_id == script.package_id).map(|a| &a.manifest_path);
        if let Some(folder) = manifest.and_then(|m| m.parent()).filter(|f| *f != env.manifest_dir) {
            files.extend(script_inputs(&script.out_dir, folder, target_dir));
        }
    }
    // What build scripts of the nested cargo generate is as new as this run, and follows from their own inputs.
    files.retain(|f| !f.starts_with(target_dir.parent().unwrap_or(target_dir)));
    files
}

/// `<dir>/lib<crate>-<hash>.*` has its list in `<dir>/<crate>-<hash>.d`, be it a device unit or a proc macro.
fn dependency_list(artifact: &Artifact) -> Option<PathBuf> {
    let file = artifact.filenames.first()?;
    let stem = file.file_stem()?.to_str()?;
    Some(file.with_file_name(format!("{}.d", stem.strip_prefix("lib").unwrap_or(stem))))
}

/// The files that a rustc dependency list names: `out: a b`, spaces in names escaped.
pub(crate) fn sources(list: &Path, workspace_root: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(list).unwrap_or_default();
    let line = text.lines().find_map(|l| l.split_once(": ")).map_or("", |(_, files)| files);
    let escaped = line.replace("\\ ", "\0");
    escaped.split(' ').filter(|f| !f.is_empty()).map(|f| workspace_root.join(f.replace('\0', " "))).collect()
}

/// What another package's build script watches: cargo keeps its output beside its OUT_DIR. One that names nothing
/// watches its whole folder.
fn script_inputs(out_dir: &Path, folder: &Path, target_dir: &Path) -> Vec<PathBuf> {
    let output = out_dir.parent().map(|d| d.join("output")).and_then(|f| fs::read_to_string(f).ok()).unwrap_or_default();
    let named = |line: &str| {
        let rest = line.strip_prefix("cargo::").or_else(|| line.strip_prefix("cargo:"))?;
        rest.strip_prefix("rerun-if-changed=").map(|path| folder.join(path))
    };
    let inputs: Vec<PathBuf> = output.lines().filter_map(named).collect();
    let is_silent = !output.lines().any(|l| l.contains("rerun-if-"));
    if !is_silent {
        return inputs;
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    entries.filter(|p| !target_dir.starts_with(p) && p.file_name().is_some_and(|n| n != ".git" && n != "target")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependency_lists_are_relative_to_the_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let list = dir.path().join("a.d");
        fs::write(&list, "/t/a.bc: app/src/lib.rs app/src/with\\ space.rs /abs/gen.rs\n\napp/src/lib.rs:\n").unwrap();
        let found = sources(&list, Path::new("/w"));
        assert_eq!(found, ["/w/app/src/lib.rs", "/w/app/src/with space.rs", "/abs/gen.rs"].map(PathBuf::from));
    }
}
