//! Code that has been lowered before, by whichever build script of the target folder.
//!
//! ```text
//! <target>/relocgpu/lowered/<key>             SHA-256 of key and code, then the code
//! <target>/relocgpu/lowered/<key>.<…>.partial being written
//! ```
//!
//! The key is a SHA-256 of all that the code follows from: the unit's bytes, the targets, the compiler and this crate.
//! An entry appears under its name when it is complete, so any number of builds may read and write at once, and end at
//! any time. What cannot be read, or is not what was written under that name, is made anew. Nothing here is an error: a
//! build without its cache takes longer.

use crate::error::Stopped;
use crate::job::{Job, Lowered, Origin};
use crate::lower::Code;
use crate::relocate::Unit;
use relocgpu_runtime::contract::SCHEMA;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

/// Its folder, in that of the device pass.
pub(crate) const FOLDER: &str = "lowered";
const CHECKSUM: usize = 32;
const PARTIAL: &str = "partial";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Entries that nobody has wanted for so long are dropped.
const UNUSED: Duration = Duration::from_secs(30 * DAY.as_secs());
/// What all entries may take; those that were wanted last stay.
const BYTES: u64 = 512 << 20;

/// A unit's code: that of an earlier build, or what `make` comes to.
pub(crate) fn code(unit: &Unit, job: &Job, make: impl FnOnce() -> Result<Code, Stopped>) -> Result<(Code, Lowered), Stopped> {
    let key = key(&unit.hash, job);
    let path = job.cache.join(&key);
    // Who wants the intermediates wants them made.
    let kept = if job.keep.is_none() { read(&path, &key).and_then(|bytes| postcard::from_bytes(&bytes).ok()) } else { None };
    if let Some(code) = kept {
        return Ok((code, Lowered { key, origin: Origin::Cache }));
    }
    let code = make()?;
    if let Ok(bytes) = postcard::to_allocvec(&code)
        && write(&path, &key, &bytes).is_ok()
    {
        tidy(&job.cache, SystemTime::now(), BYTES);
    }
    Ok((code, Lowered { key, origin: Origin::Made }))
}

fn key(unit: &[u8; 32], job: &Job) -> String {
    let Job { architectures, cpu_levels, line_info, delivery, compiler, .. } = job;
    let this = (env!("CARGO_PKG_VERSION"), env!("RELOCGPU_BUILD_SOURCES"), SCHEMA);
    let all = format!("{:?}", (unit, architectures, cpu_levels, line_info, delivery, compiler, this));
    Sha256::digest(all).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn checksum(key: &str, bytes: &[u8]) -> [u8; CHECKSUM] {
    Sha256::new().chain_update(key).chain_update(bytes).finalize().into()
}

/// What was written under this key, as long as it still is that.
fn read(path: &Path, key: &str) -> Option<Vec<u8>> {
    let mut bytes = fs::read(path).ok()?;
    let (sum, rest) = bytes.split_at_checked(CHECKSUM)?;
    if sum != checksum(key, rest) {
        return None;
    }
    // Its age is the time since somebody wanted it.
    let _ = File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
    bytes.drain(..CHECKSUM);
    Some(bytes)
}

fn write(path: &Path, key: &str, bytes: &[u8]) -> io::Result<()> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let started = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    // Processes of two containers may have one number.
    let unique = format!("{}-{started}-{}.{PARTIAL}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let partial = path.with_extension(unique);
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    let written = File::create_new(&partial)
        .and_then(|mut file| file.write_all(&checksum(key, bytes)).and_then(|()| file.write_all(bytes)))
        .and_then(|()| fs::rename(&partial, path).or_else(|_| fs::remove_dir_all(path).and_then(|()| fs::rename(&partial, path))));
    written.inspect_err(|_| drop(fs::remove_file(&partial)))
}

/// Drops what is old or too much, and what builds have left that did not end.
fn tidy(folder: &Path, now: SystemTime, bytes: u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|entry| entry.metadata().ok().filter(|m| m.is_file()).and_then(|m| Some((m.modified().ok()?, m.len(), entry.path()))))
        .collect();
    entries.sort();
    let mut total = 0;
    for (modified, length, path) in entries.into_iter().rev() {
        let age = now.duration_since(modified).unwrap_or_default();
        let longest = if path.extension().is_some_and(|e| e == PARTIAL) { DAY } else { UNUSED };
        total += length;
        if age > longest || total > bytes {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Delivery;
    use relocgpu_runtime::contract::manifest::UnitName;

    const KEY: &str = "0123456789abcdef";

    fn job() -> Job {
        Job {
            unit: UnitName { package: "p".into(), version: "1.0.0".into(), kind: "lib".into(), crate_name: "p".into(), test: false },
            root: "p.bc".into(),
            libraries: Vec::new(),
            std: Vec::new(),
            compiler: "rustc 1.95.0\nLLVM version: 22.1.2\n".into(),
            architectures: vec![75],
            cpu_levels: vec!["x86-64".into()],
            line_info: false,
            delivery: Delivery::Patch,
            cache: "lowered".into(),
            keep: None,
            out_dir: "out".into(),
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_key_covers_what_code_follows_from_and_no_place() {
        let known = key(&[0; 32], &job());
        assert_eq!(known.len(), 64);
        let elsewhere = Job { root: "q.bc".into(), out_dir: "other".into(), cache: "other".into(), ..job() };
        assert_eq!(key(&[0; 32], &elsewhere), known);
        let other = [
            key(&[1; 32], &job()),
            key(&[0; 32], &Job { architectures: vec![75, 80], ..job() }),
            key(&[0; 32], &Job { cpu_levels: vec!["x86-64-v3".into()], ..job() }),
            key(&[0; 32], &Job { line_info: true, ..job() }),
            key(&[0; 32], &Job { delivery: Delivery::Table, ..job() }),
            key(&[0; 32], &Job { compiler: "rustc 1.95.0\nLLVM version: 22.1.3\n".into(), ..job() }),
        ];
        for (i, key) in other.iter().enumerate() {
            assert!(*key != known && !other[..i].contains(key), "number {i}");
        }
    }

    #[test]
    fn damaged_cut_unreadable_and_foreign_entries_are_none_and_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lowered").join(KEY);
        assert_eq!(read(&path, KEY), None);
        write(&path, KEY, b"code").unwrap();
        assert_eq!(read(&path, KEY).as_deref(), Some(&b"code"[..]));
        let good = fs::read(&path).unwrap();
        for byte in 0..good.len() {
            let mut bytes = good.clone();
            bytes[byte] ^= 1;
            fs::write(&path, bytes).unwrap();
            assert_eq!(read(&path, KEY), None, "byte {byte}");
            fs::write(&path, &good[..byte]).unwrap();
            assert_eq!(read(&path, KEY), None, "the first {byte} bytes");
        }
        fs::write(&path, [&good[..], b"more"].concat()).unwrap();
        assert_eq!(read(&path, KEY), None);
        let other = path.with_file_name("fedcba9876543210");
        fs::write(&other, &good).unwrap();
        assert_eq!(read(&other, "fedcba9876543210"), None, "another entry's bytes");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), "").unwrap();
        assert_eq!(read(&path, KEY), None, "a folder");
        write(&path, KEY, b"again").unwrap();
        assert_eq!(read(&path, KEY).as_deref(), Some(&b"again"[..]));
        assert_eq!(names(path.parent().unwrap()), [KEY, "fedcba9876543210"], "nothing partial is left");
    }

    #[test]
    fn whoever_reads_while_others_write_reads_one_of_them_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(KEY);
        let codes: Vec<Vec<u8>> = (1..=4u8).map(|n| vec![n; 10_000 * usize::from(n)]).collect();
        write(&path, KEY, &codes[0]).unwrap();
        std::thread::scope(|scope| {
            for code in &codes {
                scope.spawn(|| (0..50).for_each(|_| write(&path, KEY, code).unwrap()));
            }
            for _ in 0..200 {
                assert!(codes.contains(&read(&path, KEY).expect("there is always a whole entry")));
            }
        });
        assert_eq!(names(folder.path()), [KEY]);
    }

    const WRITER: &str = "RELOCGPU_CACHE_TEST";

    #[test]
    #[ignore = "two_processes_at_once starts it"]
    fn writes_until_it_is_ended() {
        let path = PathBuf::from(std::env::var_os(WRITER).expect("a folder")).join(KEY);
        loop {
            write(&path, KEY, &vec![7; 1 << 20]).unwrap();
        }
    }

    /// Two others write, and are ended at any time.
    #[test]
    fn two_processes_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(KEY);
        let start = || {
            let mut command = std::process::Command::new(std::env::current_exe().unwrap());
            command.args(["--ignored", "--exact", "cache::tests::writes_until_it_is_ended"]).env(WRITER, folder.path());
            command.stdout(std::process::Stdio::null()).spawn().unwrap()
        };
        let mut others = [start(), start()];
        let started = std::time::Instant::now();
        let mut seen = 0;
        while seen < 30 {
            match read(&path, KEY) {
                Some(bytes) => {
                    assert!(bytes.len() == 1 << 20 && bytes.iter().all(|byte| *byte == 7));
                    seen += 1;
                }
                None => assert!(seen == 0 && started.elapsed().as_secs() < 60, "an entry was lost"),
            }
        }
        others.iter_mut().for_each(|other| other.kill().and_then(|()| other.wait()).map(drop).unwrap());
        assert_eq!(read(&path, KEY).map(|bytes| bytes.len()), Some(1 << 20));
        tidy(folder.path(), SystemTime::now() + 2 * DAY, BYTES);
        assert_eq!(names(folder.path()), [KEY], "what they have left half written");
    }

    #[test]
    fn old_entries_and_what_is_too_much_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let entry = |name: &str, days: u32| {
            let path = folder.path().join(name);
            fs::write(&path, [0; 100]).unwrap();
            File::open(&path).unwrap().set_modified(now - days * DAY).unwrap();
        };
        for (name, days) in [("new", 0), ("used", 29), ("unused", 31), ("a.1.partial", 0), ("b.2.partial", 2)] {
            entry(name, days);
        }
        tidy(folder.path(), now, 1000);
        assert_eq!(names(folder.path()), ["a.1.partial", "new", "used"]);
        entry("yesterday", 1);
        tidy(folder.path(), now, 399);
        assert_eq!(names(folder.path()), ["a.1.partial", "new", "yesterday"], "the oldest goes first");
        // An entry that is read is used.
        entry(KEY, 40);
        write(&folder.path().join(KEY), KEY, b"code").unwrap();
        File::open(folder.path().join(KEY)).unwrap().set_modified(now - 40 * DAY).unwrap();
        assert!(read(&folder.path().join(KEY), KEY).is_some());
        tidy(folder.path(), now, 1000);
        assert!(names(folder.path()).iter().any(|name| name == KEY));
    }
}
