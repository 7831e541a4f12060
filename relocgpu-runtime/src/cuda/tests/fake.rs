//! One copy of the fake driver for each test, so that tests do not share its state.

use crate::contract::image::{Container, PtxEntry, RawImage, encode};
use crate::contract::manifest::{Delivery, Kernel, Manifest, Part, Record, RecordSource, Site, SourceMap, Target, UnitName};
use crate::cuda::Cuda;
use crate::cuda::driver::Driver;
use crate::image::Image;
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

pub struct Fake {
    path: PathBuf,
    library: Library,
    // Removed last.
    _folder: tempfile::TempDir,
}

impl Fake {
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// With macros for the C compiler.
    pub fn with(defines: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libcuda.so.1");
        std::fs::write(&path, compiled(defines)).unwrap();
        // SAFETY: the library has no initialisers.
        let library = unsafe { Library::new(&path).unwrap() };
        Self { path, library, _folder: folder }
    }

    pub fn driver(&self) -> Arc<Driver> {
        Arc::new(Driver::open(&[&self.path]).map_err(|missing| format!("{missing:?}")).unwrap())
    }

    pub fn open(&self) -> Result<Driver, crate::backend::Missing> {
        Driver::open(&[&self.path])
    }

    pub fn cuda(&self) -> Cuda {
        self.cuda_of(self.driver(), 0)
    }

    pub fn cuda_of(&self, driver: Arc<Driver>, ordinal: usize) -> Cuda {
        Cuda::new(driver, ordinal).map_err(|missing| format!("{missing:?}")).unwrap()
    }

    pub fn set(&self, name: &str, value: c_int) {
        // SAFETY: all names are `int`s of fake.c, which the driver reads between calls of one test.
        unsafe { **self.library.get::<*mut c_int>(name.as_bytes()).unwrap() = value }
    }

    pub fn get(&self, name: &str) -> c_int {
        // SAFETY: as in `set`.
        unsafe { **self.library.get::<*mut c_int>(name.as_bytes()).unwrap() }
    }

    /// The call of that number from now, counted from 0, fails.
    pub fn fault(&self, call: &str, after: c_int, code: c_int) {
        let call = CString::new(call).unwrap();
        // SAFETY: the function's signature in fake.c.
        unsafe {
            let fault = self.library.get::<unsafe extern "C" fn(*const c_char, c_int, c_int)>(b"fake_fault").unwrap();
            fault(call.as_ptr(), after, code);
        }
    }

    /// The calls since the last time.
    pub fn log(&self) -> Vec<String> {
        // SAFETY: the functions' signatures in fake.c; the text is copied before it changes.
        unsafe {
            let log = self.library.get::<unsafe extern "C" fn() -> *const c_char>(b"fake_log").unwrap();
            let text = CStr::from_ptr(log()).to_str().unwrap().lines().map(str::to_owned).collect();
            self.library.get::<unsafe extern "C" fn()>(b"fake_clear").unwrap()();
            text
        }
    }

    /// A function of the library, as the program calls it on its own.
    ///
    /// # Safety
    /// `T` is the function's type.
    pub unsafe fn function<T>(&self, name: &str) -> libloading::Symbol<'_, T> {
        // SAFETY: the caller's promise.
        unsafe { self.library.get(name.as_bytes()) }.unwrap()
    }

    /// The calling thread's stack of contexts: its depth, and what is current.
    pub fn stack(&self) -> (c_int, usize) {
        // SAFETY: the functions' signatures in fake.c.
        unsafe {
            (
                self.function::<unsafe extern "C" fn() -> c_int>("fake_depth")(),
                self.function::<unsafe extern "C" fn() -> usize>("fake_current")(),
            )
        }
    }

    /// What is allocated or open: blocks, pinned blocks, modules, streams, contexts, events.
    pub fn live(&self) -> [c_int; 6] {
        ["blocks", "pinned", "modules", "streams", "contexts", "events"].map(|kind| self.get(&format!("fake_{kind}_live")))
    }
}

/// The library's bytes, compiled once for each set of macros.
fn compiled(defines: &[&str]) -> Vec<u8> {
    static COMPILED: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let compile = || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fake.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cuda/tests/fake.c");
        let defines = defines.iter().map(|define| format!("-D{define}"));
        let status = Command::new("cc").args(defines).args(["-O1", "-shared", "-fPIC", "-pthread", "-o"]).arg(&path).arg(source).status();
        assert!(status.expect("linking Rust needs a C compiler as well").success());
        std::fs::read(path).unwrap()
    };
    COMPILED.lock().unwrap_or_else(PoisonError::into_inner).entry(defines.join(" ")).or_insert_with(compile).clone()
}

/// A kernel of the manifest.
pub fn kernel(name: &str, can_panic: bool) -> Kernel {
    Kernel {
        name: format!("k::{name}"),
        entry: name.into(),
        params: Vec::new(),
        size: 24,
        align: 8,
        can_panic,
        cooperates: false,
        reads: Vec::new(),
        delivery: Delivery::Patch,
    }
}

pub fn entry(arch: u32, isa: (u32, u32), text: &str) -> PtxEntry<'static> {
    PtxEntry { arch, isa, text: text.to_owned().into(), baked: Vec::new() }
}

/// An image with these records: (global, kind, offset).
pub fn image(ptx: Vec<PtxEntry<'static>>, kernels: Vec<Kernel>, records: &[(&str, Site, u64)]) -> &'static Image {
    let record = |&(name, site, offset): &(&str, Site, u64)| Record {
        name: name.into(),
        site,
        offset,
        target: Target::Expr(Part::Value),
        in_block: true,
    };
    let source = RecordSource { symbol: String::new(), source: "src/main.rs:1:1".into(), text: "x".into() };
    let unit = UnitName { package: "fake".into(), version: "1.0.0".into(), kind: "bin".into(), crate_name: "fake".into(), test: false };
    let container = Container {
        unit_hash: [0; 32],
        source_map: SourceMap {
            records: vec![source; records.len()],
            kernels: vec!["src/main.rs:2:2".into(); kernels.len()],
            locations: vec![("src/main.rs".into(), 7, 9)],
        },
        manifest: Manifest { schema: crate::contract::SCHEMA, unit, kernels, records: records.iter().map(record).collect() },
        ptx,
        cpu_levels: Vec::new(),
    };
    let (bytes, table) = (encode(&container).leak(), vec![std::ptr::null(); records.len()].leak());
    let raw = RawImage {
        schema: crate::contract::SCHEMA,
        reserved: 0,
        container: bytes.as_ptr(),
        container_len: bytes.len(),
        host_table: table.as_ptr(),
        host_table_len: table.len(),
        cpu: std::ptr::null(),
    };
    // SAFETY: all of it is leaked.
    Box::leak(Box::new(unsafe { Image::read(Box::leak(Box::new(raw))) }.unwrap()))
}

/// PTX of the fake's kind, with everything that kernels of these tests need.
pub const PTX: &str = "entry scale 1024\nentry add_slots 512\nentry panic_a 1024\nentry panic_b 1024\nentry trap 1024\n\
    global relocgpu_slots 16\nglobal relocgpu_panic_claim 4\nglobal relocgpu_panic_record 8\nglobal table 24";
