//! Names the state of this crate's sources: code that another state has lowered is no longer its own.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=src");
    let mut files = BTreeSet::new();
    list(Path::new("src"), &mut files);
    let mut hash = DefaultHasher::new();
    for file in files {
        (&file, std::fs::read(&file).expect("the crate's own sources can be read")).hash(&mut hash);
    }
    println!("cargo::rustc-env=RELOCGPU_BUILD_SOURCES={:016x}", hash.finish());
}

fn list(folder: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the crate's own folders can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, files);
        } else {
            files.insert(path);
        }
    }
}
