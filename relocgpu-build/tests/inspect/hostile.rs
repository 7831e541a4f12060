//! Files made to harm, and damaged ones: what is read stays in proportion to the file, in memory and in time.

use crate::make::{archive, container, layout, object, padded, read};
use object::write::Object;
use object::{Architecture, BinaryFormat, Endianness, SectionKind};
use relocgpu_runtime::contract::image::encode;
use relocgpu_runtime::contract::layout::Layout;
use std::alloc::{GlobalAlloc, System};
use std::cell::Cell;
use std::process::Command;
use std::time::{Duration, Instant};

/// The system's allocator, which notes how much of it each thread holds.
struct Counted;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        let held = HELD.get().saturating_add(layout.size());
        HELD.set(held);
        PEAK.set(PEAK.get().max(held));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: std::alloc::Layout) {
        HELD.set(HELD.get().saturating_sub(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// Reads a damaged file. The memory for it and the time are a small multiple of its size.
fn survives(bytes: Vec<u8>, how: &str) {
    let size = bytes.len();
    let before = HELD.get();
    PEAK.set(before);
    let start = Instant::now();
    read(bytes);
    let (took, peak) = (start.elapsed(), PEAK.get() - before);
    assert!(peak <= 64 * size + (4 << 20), "{how}: {peak} bytes for a file of {size}");
    assert!(took < Duration::from_secs(10), "{how}: {took:?} for a file of {size} bytes");
}

/// A linked program with two images, plain and stripped; the object that holds them; archives of it, one in another.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let image = object(&padded(&[container("lib"), container("bin")]), &["image"], &["native"]);
    let native = object(&[], &["native"], &[]);
    std::fs::write(path("image.o"), &image).unwrap();
    std::fs::write(path("native.o"), &native).unwrap();
    std::fs::write(path("main.c"), "extern void image(void), native(void); int main(void) { image(); native(); return 0; }").unwrap();
    let link = |flag: &str, name: &str| {
        let objects = ["main.c", "image.o", "native.o"].map(path);
        let status = Command::new("cc").arg(flag).arg("-o").arg(path(name)).args(objects).status();
        assert!(status.expect("a C compiler is needed to build Rust programs").success());
        std::fs::read(path(name)).unwrap()
    };
    let inner = archive(&[("image.o", &image), ("native.o", &native)]);
    let outer = archive(&[("lib.rmeta", b"metadata"), ("inner.a", &inner), ("native.o", &native)]);
    vec![("program", link("-g", "program")), ("stripped", link("-s", "stripped")), ("object", image), ("archive", inner), ("outer", outer)]
}

/// Deterministic: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    /// A number that a reader of counts, sizes and offsets may stumble over.
    fn number(&mut self, size: usize) -> u64 {
        let near = [0, 1, size as u64, size as u64 / 2, 0x7f, 0x80, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, u64::MAX >> 1, u64::MAX];
        near[self.below(near.len())].wrapping_add(self.below(5) as u64).wrapping_sub(2)
    }

    /// Where structure is: near the start, near the end, in a container, or anywhere.
    fn place(&mut self, file: &[u8], containers: &[usize]) -> usize {
        match self.below(4) {
            0 => self.below(file.len().min(512)),
            1 => file.len() - 1 - self.below(file.len().min(4096)),
            2 if !containers.is_empty() => containers[self.below(containers.len())] + self.below(700),
            _ => self.below(file.len()),
        }
        .min(file.len() - 1)
    }
}

/// A file with a few changes: numbers of each width, bits, varints, parts cut out, doubled or moved.
fn damaged(file: &[u8], containers: &[usize], random: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.place(&bytes, containers);
        match random.below(8) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => {
                // A varint that does not end soon: huge counts in the container's encoding.
                let end = (at + 1 + random.below(10)).min(bytes.len());
                bytes[at..end].fill(0xff);
            }
            3 => bytes.truncate(at.max(1)),
            4 => {
                let length = random.below(64).min(bytes.len() - at);
                let part = bytes[at..at + length].to_vec();
                let to = random.place(&bytes, containers);
                bytes.splice(to..to, part);
            }
            width => {
                let width = [1, 2, 4, 8][width % 4];
                let number = random.number(file.len()).to_le_bytes();
                let end = (at + width).min(bytes.len());
                bytes[at..end].copy_from_slice(&number[..end - at]);
            }
        }
    }
    bytes
}

fn containers_of(file: &[u8]) -> Vec<usize> {
    file.windows(8).enumerate().filter(|(_, magic)| magic == b"RELOCGPU").map(|(at, _)| at).collect()
}

/// Damage of each kind to each kind of file. `RELOCGPU_FUZZ=ROUNDS:FILE:…` damages other files as well, and more often.
#[test]
fn damaged_files_cost_little_and_never_panic() {
    let mut files: Vec<(String, Vec<u8>)> = files().into_iter().map(|(name, file)| (name.to_owned(), file)).collect();
    let mut rounds = 3000;
    if let Ok(more) = std::env::var("RELOCGPU_FUZZ") {
        let mut parts = more.split(':');
        rounds = parts.next().and_then(|rounds| rounds.parse().ok()).expect("RELOCGPU_FUZZ=ROUNDS:FILE:…");
        files.extend(parts.map(|path| (path.to_owned(), std::fs::read(path).unwrap())));
    }
    for (name, file) in files {
        let containers = containers_of(&file);
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for length in (0..file.len()).step_by(1 + file.len() / 500) {
            survives(file[..length].to_vec(), &format!("{name} cut at {length}"));
        }
        for round in 0..rounds {
            survives(damaged(&file, &containers, &mut random), &format!("{name}, round {round}"));
        }
    }
}

/// Each byte of a container in turn is the start of a number that is as large as it can be.
#[test]
fn huge_counts_in_a_container_are_refused() {
    let bytes = padded(&[container("bin")]);
    for at in 0..bytes.len() {
        for length in [1, 5, 10] {
            let mut damaged = bytes.clone();
            let end = (at + length).min(damaged.len());
            damaged[at..end].fill(0xff);
            survives(object(&damaged, &[], &[]), &format!("{length} bytes at {at}"));
        }
    }
}

#[test]
fn types_nested_without_end_are_refused() {
    let mut deep = container("bin");
    for _ in 0..50_000 {
        let inner = std::mem::replace(&mut deep.manifest.kernels[0].params[0].layout, layout("", 0, 0));
        deep.manifest.kernels[0].params[0].layout =
            Layout { name: String::new(), size: 0, align: 1, fields: vec![(String::new(), 0, inner)] };
    }
    // Encoding and dropping it recurse too, in this test only.
    let bytes = std::thread::Builder::new().stack_size(1 << 30).spawn(move || encode(&deep)).unwrap().join().unwrap();
    let (names, faults) = read(object(&bytes, &[], &[]));
    assert_eq!(names.len(), 0);
    assert!(faults[0].contains("damaged relocgpu image"), "{faults:?}");
}

#[test]
fn overlapping_sections_are_refused() {
    // Many headers of one large section would make a small file cost a lot of memory.
    let bytes = padded(&[container("bin")]);
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    for _ in 0..8 {
        let id = object.add_section(Vec::new(), b".relocgpu".to_vec(), SectionKind::ReadOnlyData);
        object.append_section_data(id, &bytes, 16);
    }
    let mut file = object.write().unwrap();
    let headers = u64::from_le_bytes(file[0x28..0x30].try_into().unwrap()) as usize;
    let sections = file.len().saturating_sub(headers) / 64;
    for section in 0..sections {
        let at = headers + section * 64;
        if u64::from_le_bytes(file[at + 0x20..at + 0x28].try_into().unwrap()) == bytes.len() as u64 {
            file[at + 0x18..at + 0x20].copy_from_slice(&0u64.to_le_bytes());
            let whole = (headers as u64).to_le_bytes();
            file[at + 0x20..at + 0x28].copy_from_slice(&whole);
        }
    }
    let (_, faults) = read(file);
    assert!(faults.iter().any(|fault| fault.contains("overlaps")), "{faults:?}");
}
