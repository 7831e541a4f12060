//! Removes device target folders that nothing has used for a while: another compiler, other flags or another version of
//! this crate leave theirs behind, and cargo knows nothing of them.
//!
//! The cache of lowered code has a rule of its own.
//!
//! Every build script that works in such folders holds one lock, shared. Only who gets it alone cleans up.

use crate::cache;
use crate::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Long enough that going back and forth between compilers costs nothing.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// File in each folder whose age is that of its last use.
const USED: &str = "relocgpu-used";

/// Cleans up in `base` if nobody else works there; then holds the lock.
pub(super) fn hold(base: &Path) -> Result<File, Error> {
    let path = base.join("in-use.lock");
    let lock = File::create(&path).map_err(Error::file("make the lock", &path))?;
    if lock.try_lock().is_ok() {
        sweep(base, SystemTime::now());
        lock.unlock().map_err(Error::file("unlock", &path))?;
    }
    lock.lock_shared().map_err(Error::file("lock", &path))?;
    Ok(lock)
}

/// Makes the folder and notes that it is used now.
pub(super) fn mark_used(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(Error::file("make the folder", folder))?;
    let path = folder.join(USED);
    fs::write(&path, "").map_err(Error::file("write", &path))
}

/// A folder that cannot be removed now is tried again by the next build.
fn sweep(base: &Path, now: SystemTime) {
    let folders = fs::read_dir(base).into_iter().flatten().flatten().map(|entry| entry.path());
    for folder in folders.filter(|path| path.is_dir() && !path.ends_with(cache::FOLDER)) {
        let used = fs::metadata(folder.join(USED)).or_else(|_| fs::metadata(&folder)).and_then(|metadata| metadata.modified());
        if used.is_ok_and(|used| now.duration_since(used).is_ok_and(|age| age > KEPT)) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_a_week_after_its_last_use() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("old"), dir.path().join("new"));
        mark_used(&old).unwrap();
        mark_used(&new).unwrap();
        fs::write(old.join("much"), "").unwrap();
        let day = Duration::from_secs(24 * 60 * 60);
        File::options().write(true).open(old.join(USED)).unwrap().set_modified(SystemTime::now() - 8 * day).unwrap();
        let first = hold(dir.path()).unwrap();
        assert!(!old.exists() && new.exists());

        File::options().write(true).open(new.join(USED)).unwrap().set_modified(SystemTime::now() - 8 * day).unwrap();
        let second = hold(dir.path()).unwrap();
        assert!(new.exists(), "the first holder may be using it");
        drop((first, second));
        drop(hold(dir.path()).unwrap());
        assert!(!new.exists());
    }
}
