//! Kernels compiled by rustc, lowered, linked and run.

use super::*;
use relocgpu_runtime::contract::SCHEMA;
use relocgpu_runtime::contract::manifest::{Kernel, Part, Record, RecordSource, Site, Target, UnitName};
use std::path::Path;
use std::process::Command;

const KERNELS: [&str; 5] = ["cooperate", "indices", "panics", "panics_late", "saxpy"];

fn manifest() -> Manifest {
    let unit = UnitName { package: "p".into(), version: "1.0.0".into(), kind: "lib".into(), crate_name: "p".into(), test: false };
    let kernel = |name: &&str| Kernel {
        name: format!("kernels::{name}"),
        entry: format!("entry_{name}"),
        params: Vec::new(),
        size: 0,
        align: 8,
        can_panic: true,
        cooperates: false,
    };
    let records = vec![Record { name: "test_gain".into(), site: Site::Slot, offset: 0, target: Target::Expr(Part::Value) }];
    Manifest { schema: SCHEMA, unit, kernels: KERNELS.iter().map(kernel).collect(), records }
}

fn bitcode(dir: &Path) -> Vec<u8> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lower/cpu/tests/kernels.rs");
    let out = dir.join("kernels.bc");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let flags = [
        "--edition=2024",
        "--crate-type=lib",
        "--emit=llvm-bc",
        "-Copt-level=3",
        "-Cno-prepopulate-passes",
        "-Cpanic=abort",
        "-Ccodegen-units=1",
    ];
    let status = Command::new(rustc).args(flags).arg(&source).arg("-o").arg(&out).status().unwrap();
    assert!(status.success());
    std::fs::read(out).unwrap()
}

#[test]
fn objects() {
    let dir = std::path::PathBuf::from("/tmp/cpu-objects");
    std::fs::create_dir_all(&dir).unwrap();
    let levels = ["x86-64", "x86-64-v3", "x86-64-v4"].map(String::from);
    let native = run(&bitcode(&dir), &manifest(), &SourceMap::default(), &levels).unwrap();
    for level in &native.levels {
        std::fs::write(dir.join(format!("{}.o", level.name)), &level.object).unwrap();
        eprintln!("{} {:?}", level.name, level.kernels);
    }
}
