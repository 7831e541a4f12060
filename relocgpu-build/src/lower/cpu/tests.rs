//! Kernels compiled by rustc, lowered, and run.

use super::*;
use crate::lower::Code;
use ::object::read::elf::ElfFile64;
use ::object::{Object, ObjectSection, ObjectSymbol, SymbolFlags, elf};
use relocgpu_runtime::contract::SCHEMA;
use relocgpu_runtime::contract::image::decode;
use relocgpu_runtime::contract::manifest::{Delivery, Kernel, Manifest, Part, Record, RecordSource, Site, SourceMap, Target, UnitName};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const KERNELS: [&str; 11] =
    ["cooperate", "indices", "mixed", "mixed_option", "narrow", "owned", "owned_late", "panics", "panics_late", "phases", "saxpy"];
const LEVELS: [&str; 3] = ["x86-64", "x86-64-v3", "x86-64-v4"];

/// A unit of the kernels in `tests/<folder>`, with one slot if they have it.
fn unit(folder: &str, kernels: &[&str], slot: Option<&str>) -> Unit {
    let dir = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/lower/cpu/tests/{folder}/lib.rs"));
    let out = dir.path().join("kernels.bc");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let flags = "--edition=2024 --crate-type=lib --emit=llvm-bc -Copt-level=3 -Cno-prepopulate-passes -Cpanic=abort -Ccodegen-units=1";
    let status = Command::new(rustc).args(flags.split(' ')).arg(&source).arg("-o").arg(&out).status().unwrap();
    assert!(status.success());

    let record = |name: &str| record(name, Site::Slot, 0);
    unit_of(std::fs::read(out).unwrap(), folder, kernels, slot.map(record).into_iter().collect())
}

fn record(name: &str, site: Site, offset: u64) -> Record {
    Record { name: name.into(), site, offset, target: Target::Expr(Part::Value), in_block: site == Site::Slot }
}

fn unit_of(bitcode: Vec<u8>, folder: &str, kernels: &[&str], records: Vec<Record>) -> Unit {
    let unit = UnitName { package: "p".into(), version: "1.0.0".into(), kind: "lib".into(), crate_name: "p".into(), test: false };
    let kernel = |name: &&str| Kernel {
        name: format!("{folder}::{name}"),
        entry: format!("entry_{name}"),
        params: Vec::new(),
        size: 0,
        align: 8,
        can_panic: true,
        cooperates: false,
        reads: Vec::new(),
        delivery: Delivery::Patch,
    };
    let source = |_: &Record| RecordSource { symbol: "__relocgpu_host_1".into(), source: "a.rs:1:1".into(), text: "1".into() };
    Unit {
        bitcode,
        source_map: SourceMap {
            records: records.iter().map(source).collect(),
            kernels: kernels.iter().enumerate().map(|(i, _)| format!("src/k.rs:{}:4", i + 1)).collect(),
            locations: Vec::new(),
        },
        manifest: Manifest { schema: SCHEMA, unit, kernels: kernels.iter().map(kernel).collect(), records },
        hash: [7; 32],
    }
}

fn lower(unit: &Unit, levels: &[&str]) -> Result<Native, Stopped> {
    let levels: Vec<String> = levels.iter().map(|l| (*l).to_owned()).collect();
    run(unit, &levels)
}

/// Names of an object's symbols that other objects define, or see.
fn symbols(bytes: &[u8], defined: bool) -> BTreeSet<String> {
    let file: ElfFile64 = ElfFile64::parse(bytes).unwrap();
    let wanted = |s: &::object::read::elf::ElfSymbol<_>| s.is_global() && s.is_definition() == defined && s.is_undefined() != defined;
    file.symbols().filter(|s| !s.name().unwrap().is_empty() && wanted(s)).map(|s| s.name().unwrap().to_owned()).collect()
}

/// Whether every global symbol of an object is hidden.
fn all_hidden(bytes: &[u8]) -> bool {
    let file: ElfFile64 = ElfFile64::parse(bytes).unwrap();
    file.symbols().filter(|s| s.is_global() && !s.name().unwrap().is_empty()).all(|s| match s.flags() {
        SymbolFlags::Elf { st_other, .. } => st_other.0 & 3 == elf::STV_HIDDEN.0,
        _ => false,
    })
}

#[test]
fn each_level_has_hidden_block_functions_and_needs_the_slots_only() {
    let unit = unit("kernels", &KERNELS, Some("test_gain"));
    let native = lower(&unit, &LEVELS).unwrap_or_else(|e| panic!("{e:?}"));
    for level in &native.levels {
        let runs: BTreeSet<_> = level.kernels.iter().map(|k| k.symbol.clone()).collect();
        assert_eq!(symbols(&level.object, true), runs, "{}", level.name);
        assert_eq!(symbols(&level.object, false), BTreeSet::from([native.slots.clone()]), "{}", level.name);
        assert!(all_hidden(&level.object), "{}", level.name);
        let keeping: Vec<_> = level.kernels.iter().map(|k| k.frame_bytes > 0).collect();
        assert_eq!(keeping, [true, false, true, true, false, false, true, false, false, true, false]);
        assert!(level.kernels.iter().all(|k| k.shared_bytes >= 3 + 256 * 8));
    }
}

#[test]
fn barriers_one_after_the_other_make_phases_and_others_coroutines() {
    let unit = unit("kernels", &KERNELS, Some("test_gain"));
    let shaped = shape(&llvm::new_context(), &unit, "p").unwrap_or_else(|e| panic!("{e:?}"));
    let coroutines: Vec<_> =
        shaped.frame_bytes.iter().zip(KERNELS).filter(|(bytes, _)| bytes.is_none()).map(|(_, kernel)| kernel).collect();
    assert_eq!(coroutines, ["cooperate", "mixed_option"]);
}

#[test]
fn a_loop_over_threads_with_a_panicking_index_is_vectorised() {
    let unit = unit("kernels", &KERNELS, Some("test_gain"));
    let shaped = shape(&llvm::new_context(), &unit, "p").unwrap_or_else(|e| panic!("{e:?}"));
    for (level, product) in [("x86-64", "fmul <4 x float>"), ("x86-64-v3", "fmul <8 x float>"), ("x86-64-v4", "fmul <8 x float>")] {
        let context = llvm::new_context();
        let module = llvm::load(&context, &shaped.bitcode, level).unwrap();
        let machine = llvm::machine(&module.get_triple().as_str().to_string_lossy(), level, "").unwrap();
        llvm::run_passes(&module, emit::PASSES, &machine).unwrap();
        let text = module.print_to_string().to_string();
        for kernel in ["narrow", "saxpy"] {
            let index = KERNELS.iter().position(|k| *k == kernel).unwrap();
            let function = text.split(&format!("@{}{index}(", names::BLOCK)).skip(1).find(|f| f.split('\n').next().unwrap().ends_with('{'));
            let function = function.and_then(|f| f.split("\n}\n").next()).unwrap_or("");
            assert!(function.contains(product), "{kernel} at {level}: {function}");
        }
    }
}

#[test]
fn the_image_is_hidden_and_holds_its_container() {
    let unit = unit("kernels", &KERNELS, Some("test_gain"));
    let native = lower(&unit, &LEVELS).unwrap_or_else(|e| panic!("{e:?}"));
    let dir = tempfile::tempdir().unwrap();
    let (slots, hash) = (native.slots.clone(), unit.hash);
    let files = crate::embed::run(unit, Code { ptx: Vec::new(), native }, dir.path()).unwrap().objects;
    assert_eq!(files.len(), 1 + LEVELS.len());
    let image = std::fs::read(&files[0]).unwrap();
    assert!(all_hidden(&image));
    let made = symbols(&image, true);
    assert!(made.len() == 2 && made.contains(&slots) && made.iter().any(|s| s.starts_with("__relocgpu_image_")), "{made:?}");
    let needed = symbols(&image, false);
    assert!(needed.contains("__relocgpu_host_1") && needed.len() == 1 + LEVELS.len() * KERNELS.len(), "{needed:?}");

    let file: ElfFile64 = ElfFile64::parse(&*image).unwrap();
    let section = file.section_by_name(".relocgpu").unwrap();
    let (container, length) = decode(section.data().unwrap()).unwrap();
    assert_eq!((container.unit_hash, length as u64), (hash, section.size()));
    assert_eq!(container.cpu_levels, LEVELS);
    assert!(section.relocations().next().is_none(), "it is read from files");
    for name in [".relocgpu", "relocgpu_images"] {
        let section = file.section_by_name(name).unwrap();
        let ::object::SectionFlags::Elf { sh_flags, .. } = section.flags() else { panic!() };
        assert!(sh_flags.0 & elf::SHF_GNU_RETAIN.0 != 0, "{name} would be collected");
    }
}

#[test]
fn a_barrier_that_is_not_in_the_kernels_own_code_is_a_fault_at_the_kernel() {
    for (kernel, why) in [("recursive", "calls itself"), ("dynamic", "through a pointer")] {
        let unit = unit("faults", &[kernel], None);
        let Err(Stopped::Faults(faults)) = lower(&unit, &["x86-64"]) else { panic!("{kernel} must be refused") };
        let [fault] = &faults[..] else { panic!("{faults:?}") };
        assert_eq!((&*fault.kernel, &*fault.file, fault.line), (&*format!("faults::{kernel}"), "src/k.rs", 1));
        assert!(fault.message.contains(why) && fault.message.contains("barrier"), "{}", fault.message);
    }
}

#[test]
fn blocks_run_and_compute_what_the_kernels_say() {
    let unit = unit("kernels", &KERNELS, Some("test_gain"));
    let native = lower(&unit, &LEVELS).unwrap_or_else(|e| panic!("{e:?}"));
    let dir = tempfile::tempdir().unwrap();
    // What the harness knows of each level: the entries of the image's CPU table.
    let (mut declarations, mut table, mut objects) = (String::new(), String::new(), Vec::new());
    for (number, level) in native.levels.iter().enumerate() {
        declarations += &format!("static int has_{number}(void) {{ return __builtin_cpu_supports(\"{}\"); }}\n", level.name);
        table += &format!("{{ \"{}\", has_{number}, {{", level.name);
        for kernel in &level.kernels {
            declarations += &format!("void {}(const void *);\n", kernel.symbol);
            table += &format!(" {{ {}, {}, {} }},", kernel.symbol, kernel.frame_bytes, kernel.shared_bytes);
        }
        table += " } },\n";
        let object = dir.path().join(format!("{number}.o"));
        std::fs::write(&object, &level.object).unwrap();
        objects.push(object);
    }
    let header = format!(
        "{declarations}typedef struct {{ const char *name; int (*supported)(void); Kernel kernels[{}]; }} Level;\nstatic const Level levels[] = {{\n{table}}};\n",
        KERNELS.len()
    );
    std::fs::write(dir.path().join("kernels.h"), header).unwrap();
    run_each_level("run.c", dir.path(), &format!("-DSLOTS={}", native.slots), &objects);
}

/// Compiles a program of this folder with the header in `dir` and objects, and runs it: each level has run, or the
/// processor lacks it, which is said.
fn run_each_level(source: &str, dir: &Path, define: &str, objects: &[PathBuf]) {
    let program = dir.join("run");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lower/cpu/tests").join(source);
    let compiled = Command::new("cc").args(["-O1", "-I"]).arg(dir).arg(define).arg(&source).args(objects).arg("-o").arg(&program).status();
    assert!(compiled.unwrap().success());
    let run = Command::new(&program).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("x86-64 ran"), "{}: {said}", run.status);
    for level in LEVELS {
        let skipped = said.lines().find(|line| line.starts_with(&format!("{level} skipped")));
        assert!(skipped.is_some() || said.lines().any(|line| line == format!("{level} ran")), "{level}: {said}");
        if let Some(skipped) = skipped {
            // Not `eprintln!`, which the harness keeps to itself where a test passes.
            writeln!(std::io::stderr(), "{}: {skipped}", source.display()).unwrap();
        }
    }
}

#[test]
fn words_inside_constants_are_patched_at_each_level_and_read() {
    let text = include_str!("tests/interiors.ll");
    let records = [("slot", Site::Slot, 0), ("table", Site::Interior, 8), ("table", Site::Interior, 24), ("word", Site::Interior, 0)];
    let records = records.map(|(name, site, offset)| record(name, site, offset)).into();
    let unit = unit_of(llvm::assemble(text, "interiors").unwrap(), "interiors", &["read"], records);
    let native = lower(&unit, &LEVELS).unwrap_or_else(|e| panic!("{e:?}"));
    let dir = tempfile::tempdir().unwrap();
    let mut objects = crate::embed::run(unit, Code { ptx: Vec::new(), native }, dir.path()).unwrap().objects;
    // What the program would define for its records.
    let host = dir.path().join("host.c");
    std::fs::write(&host, "char __relocgpu_host_1;").unwrap();
    objects.push(host);
    let image: ElfFile64 = ElfFile64::parse(&*std::fs::read(&objects[0]).unwrap().leak()).unwrap();
    let symbol = image.symbols().filter_map(|s| s.name().ok()).find(|name| name.starts_with("__relocgpu_image_")).unwrap();
    let supports = |level: (usize, &str)| format!("case {}: return __builtin_cpu_supports(\"{}\") != 0;", level.0, level.1);
    let header = format!(
        "#define LEVELS {}\nstatic const char *const names[] = {{ \"{}\" }};\nstatic int supported(int level) {{ switch (level) {{ {} }} return 0; }}\n",
        LEVELS.len(),
        LEVELS.join("\", \""),
        LEVELS.into_iter().enumerate().map(supports).collect::<String>()
    );
    std::fs::write(dir.path().join("levels.h"), header).unwrap();
    run_each_level("interiors.c", dir.path(), &format!("-DIMAGE={symbol}"), &objects);
}
