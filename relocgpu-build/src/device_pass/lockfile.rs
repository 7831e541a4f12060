//! The lock file of the build that runs us.
//!
//! Versions in the device pass must be those of the program. For a workspace member the nested cargo reads the very
//! lock file. A dependency has none, or a stale one of its own, and nothing in a build script's environment names the
//! workspace that is being built: it is looked for.

use super::metadata::Metadata;
use crate::env::Env;
use crate::error::Error;
use crate::parent::Parent;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the versions come from.
#[derive(Debug)]
pub(super) struct Lock {
    /// The outer build's lock file.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
    /// Whether it is that of the package's own workspace.
    pub is_own: bool,
}

/// Finds the lock file.
pub(super) fn find(env: &Env, metadata: &Metadata, parent: &Parent) -> Result<Lock, Error> {
    let (path, text) = match &env.lockfile {
        Some(given) => (given.clone(), read_named(env, given)?),
        None => search(env, parent)?,
    };
    let root = path.parent().unwrap_or(Path::new("/"));
    let same = |a: &Path, b: &Path| fs::canonicalize(a).ok().zip(fs::canonicalize(b).ok()).is_some_and(|(a, b)| a == b);
    // A lock file of another name can only be read through a copy.
    let is_own = same(root, &metadata.workspace_root) && path.ends_with("Cargo.lock");
    Ok(Lock { path, text, is_own })
}

/// The one that the user names.
fn read_named(env: &Env, path: &Path) -> Result<String, Error> {
    let text = fs::read_to_string(path).map_err(|e| Error::Lock { path: path.to_owned(), what: e.to_string() })?;
    if lists(&text, env) {
        Ok(text)
    } else {
        Err(Error::Lock { path: path.to_owned(), what: format!("it does not list `{} {}`", env.package, env.version) })
    }
}

/// The first one that lists the package: above OUT_DIR (the usual target folder), where the outer cargo was told to
/// look or was started, above the package.
fn search(env: &Env, parent: &Parent) -> Result<(PathBuf, String), Error> {
    let starts = [Some(env.out_dir.as_path()), parent.manifest_dir.as_deref(), parent.cwd.as_deref(), Some(env.manifest_dir.as_path())];
    let starts: Vec<&Path> = starts.into_iter().flatten().collect();
    for dir in starts.iter().flat_map(|start| start.ancestors()) {
        let path = dir.join("Cargo.lock");
        if let Ok(text) = fs::read_to_string(&path)
            && lists(&text, env)
        {
            return Ok((path, text));
        }
    }
    let looked_in = starts.iter().map(|s| format!("{} and above", s.display())).collect();
    Err(Error::LockNotFound { package: env.package.clone(), looked_in })
}

/// Whether a lock file has this package.
fn lists(text: &str, env: &Env) -> bool {
    let (name, version) = (format!("name = \"{}\"", env.package), format!("version = \"{}\"", env.version));
    let lines: Vec<&str> = text.lines().collect();
    lines.windows(2).any(|pair| pair[0] == name && pair[1] == version)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "[[package]]\nname = \"p\"\nversion = \"1.0.0\"\n";
    const OTHER: &str = "[[package]]\nname = \"p\"\nversion = \"2.0.0\"\n";

    /// Folders `ws/target/debug/build/p-1/out`, `elsewhere`, `p`, with lock files where `locks` says.
    fn found(locks: &[(&str, &str)], parent: Option<&str>) -> Result<String, Error> {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for folder in ["ws/target/debug/build/p-1/out", "elsewhere", "p"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for (path, text) in locks {
            fs::write(at(path), text).unwrap();
        }
        let env = Env::of_package(&at("p"), &at("ws/target/debug/build/p-1/out"));
        let parent = Parent { cwd: parent.map(at), ..Parent::default() };
        search(&env, &parent).map(|(path, _)| path.strip_prefix(dir.path()).unwrap().display().to_string())
    }

    #[test]
    fn the_outer_lock_comes_before_the_packages_own() {
        let (outer, started, own) = (("ws/Cargo.lock", LISTED), ("elsewhere/Cargo.lock", LISTED), ("p/Cargo.lock", LISTED));
        assert_eq!(found(&[outer, started, own], Some("elsewhere")).unwrap(), "ws/Cargo.lock");
        assert_eq!(found(&[started, own], Some("elsewhere")).unwrap(), "elsewhere/Cargo.lock");
        assert_eq!(found(&[own], None).unwrap(), "p/Cargo.lock");
    }

    #[test]
    fn a_lock_of_another_workspace_is_passed_over() {
        assert_eq!(found(&[("ws/Cargo.lock", OTHER), ("p/Cargo.lock", LISTED)], None).unwrap(), "p/Cargo.lock");
        let text = found(&[("ws/Cargo.lock", OTHER)], Some("elsewhere")).unwrap_err().to_string();
        assert!(text.contains("elsewhere and above") && text.contains("RELOCGPU_LOCKFILE"), "{text}");
    }
}
