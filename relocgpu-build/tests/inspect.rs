//! `relocgpu inspect` on objects, archives and linked programs made here, then on damaged ones.

use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope};
use relocgpu_build::inspect::{self, Input};
use relocgpu_runtime::contract::image::{Container, PtxEntry, encode};
use relocgpu_runtime::contract::layout::Layout;
use relocgpu_runtime::contract::manifest::{Kernel, Manifest, Param, Part, Record, RecordSource, Site, SourceMap, Target, UnitName};
use std::io::Cursor;
use std::path::Path;
use std::process::{Command, Output};

fn layout(name: &str, size: u64, align: u64) -> Layout {
    Layout { name: name.into(), size, align, fields: Vec::new() }
}

fn container(kind: &str) -> Container<'static> {
    let param =
        |name: &str, ty: &str, offset, size, align| Param { name: name.into(), ty: ty.into(), offset, layout: layout(ty, size, align) };
    let record = |name: &str, site, offset, target| Record { name: name.into(), site, offset, target };
    let source = |line: u32, symbol: &str, text: &str| RecordSource {
        symbol: symbol.into(),
        source: format!("src/main.rs:{line}:9"),
        text: text.into(),
    };
    Container {
        unit_hash: [0xab; 32],
        manifest: Manifest {
            schema: relocgpu_runtime::contract::SCHEMA,
            unit: UnitName { package: "photo".into(), version: "0.1.0".into(), kind: kind.into(), crate_name: "photo".into(), test: false },
            kernels: vec![Kernel {
                name: "photo::develop".into(),
                entry: "photo_develop".into(),
                params: vec![param("x", "&[f32]", 0, 16, 8), param("n", "u32", 16, 4, 4)],
                size: 24,
                align: 8,
                can_panic: true,
                cooperates: false,
            }],
            records: vec![
                record("photo_0_1_0_gain", Site::Slot, 0, Target::Expr(Part::Value)),
                record("photo_0_1_0_shapes", Site::Interior, 8, Target::Address),
                record("photo_0_1_0_word", Site::Slot, 0, Target::Load { symbol: "environ".into(), library: None, offset: 8 }),
            ],
        },
        source_map: SourceMap {
            records: vec![source(3, "__relocgpu_host_1", "gain()"), source(4, "shapes_item", "SHAPES"), source(5, "", "\"environ\", 8")],
            kernels: vec!["src/main.rs:12:4".into()],
            locations: vec![("src/main.rs".into(), 13, 5)],
        },
        ptx: vec![
            PtxEntry { arch: 75, isa: (6, 3), text: "// seventy-five".into() },
            PtxEntry { arch: 90, isa: (7, 8), text: "// ninety".into() },
        ],
        cpu_levels: vec!["x86-64".into(), "x86-64-v3".into()],
    }
}

/// An object with these bytes in `.relocgpu`, and symbols that it defines and needs.
fn object(section: &[u8], defines: &[&str], needs: &[&str]) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    if !section.is_empty() {
        let id = object.add_section(Vec::new(), b".relocgpu".to_vec(), SectionKind::ReadOnlyData);
        object.append_section_data(id, section, 16);
    }
    let text = object.section_id(StandardSection::Text);
    object.append_section_data(text, &[0xc3; 16], 16);
    let symbol = |name: &str, section| Symbol {
        name: name.into(),
        value: 0,
        size: 0,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section,
        flags: SymbolFlags::None,
    };
    defines.iter().for_each(|name| _ = object.add_symbol(symbol(name, SymbolSection::Section(text))));
    needs.iter().for_each(|name| _ = object.add_symbol(symbol(name, SymbolSection::Undefined)));
    object.write().unwrap()
}

/// A `System V` archive. Names are at most fifteen bytes.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, data) in members {
        bytes.extend(format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", format!("{name}/"), 0, 0, 0, 644, data.len()).bytes());
        bytes.extend(*data);
        bytes.resize(bytes.len().next_multiple_of(2), b'\n');
    }
    bytes
}

fn padded(containers: &[Container]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for container in containers {
        bytes.extend(encode(container));
        bytes.resize(bytes.len().next_multiple_of(16), 0);
    }
    bytes
}

fn read(bytes: Vec<u8>) -> (Vec<String>, Vec<String>) {
    let input = Input::new(Cursor::new(bytes), "file").unwrap();
    let contents = input.contents();
    let _ = (inspect::text(&contents), inspect::json(&contents));
    (contents.images.into_iter().map(|image| image.name).collect(), contents.faults.into_iter().map(|fault| fault.0).collect())
}

fn relocgpu(arguments: &[&str], file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_relocgpu")).arg("inspect").arg(file).args(arguments).output().unwrap()
}

fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn json_has_the_promised_fields() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("photo.o");
    std::fs::write(&file, object(&padded(&[container("bin")]), &[], &[])).unwrap();
    let output = relocgpu(&["--json"], &file);
    assert!(output.status.success(), "{}", utf8(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let image = &json["images"][0];
    assert_eq!(image["name"], "photo-photo");
    assert_eq!(image["hash"], "ab".repeat(32));
    assert_eq!(image["architectures"], serde_json::json!(["sm_75", "sm_90"]));
    assert_eq!(image["kernels"][0]["name"], "photo::develop");
    let param = &image["kernels"][0]["params"][1];
    assert_eq!((&param["name"], &param["type"], &param["size"], &param["align"]), (&"n".into(), &"u32".into(), &4.into(), &4.into()));
    let records = image["records"].as_array().unwrap();
    let kinds: Vec<_> = records.iter().map(|record| (&record["kind"], &record["offset"], &record["target"]["kind"])).collect();
    assert_eq!(
        kinds,
        [
            (&"slot".into(), &0.into(), &"expr".into()),
            (&"interior".into(), &8.into(), &"address".into()),
            (&"slot".into(), &0.into(), &"load".into())
        ]
    );
    assert_eq!(records[0]["source"], "src/main.rs:3:9");
    assert_eq!(records[2]["target"], serde_json::json!({"kind": "load", "symbol": "environ", "library": null, "offset": 8}));
}

#[test]
fn text_names_everything() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("photo.o");
    std::fs::write(&file, object(&padded(&[container("bin")]), &[], &[])).unwrap();
    let output = relocgpu(&[], &file);
    let text = utf8(&output.stdout);
    for part in [
        "image photo-photo",
        &"ab".repeat(32),
        "sm_90 (PTX 7.8",
        "x86-64-v3",
        "photo::develop",
        "&[f32]",
        "interior",
        "+8",
        "src/main.rs:4:9",
        "gain()",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}

#[test]
fn containers_lie_back_to_back_and_names_are_unique() {
    let (names, faults) = read(object(&padded(&[container("lib"), container("bin")]), &[], &[]));
    assert_eq!((names, faults), (vec!["photo-photo-lib".to_owned(), "photo-photo-bin".to_owned()], vec![]));
    let mut other = container("bin");
    other.unit_hash = [0xcd; 32];
    let (names, _) = read(object(&padded(&[container("bin"), other, container("bin")]), &[], &[]));
    assert_eq!(names, ["photo-photo-bin-abababab-1", "photo-photo-bin-cdcdcdcd", "photo-photo-bin-abababab-2"]);
}

#[test]
fn a_damaged_container_does_not_hide_the_next() {
    let mut bytes = padded(&[container("lib"), container("bin")]);
    bytes[8] = 200;
    let (names, faults) = read(object(&bytes, &[], &[]));
    assert_eq!(names, ["photo-photo"]);
    assert!(faults[0].contains("schema 200") && faults[0].contains("section .relocgpu of `file`"), "{faults:?}");
}

#[test]
fn archives_yield_ptx_and_the_objects_of_the_image_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libphoto.rlib");
    let image = object(&padded(&[container("bin")]), &["image"], &["native_v3", "__relocgpu_host_1", "memcpy"]);
    let native = object(&[], &["native_v3"], &["memset"]);
    let host = object(&[], &["__relocgpu_host_1", "shapes_item"], &[]);
    let inner = archive(&[("image.o", &image), ("v3.o", &native)]);
    std::fs::write(&file, archive(&[("lib.rmeta", b"metadata"), ("host.o", &host), ("inner.a", &inner)])).unwrap();
    let out = folder.path().join("made/with/parents");
    let output = relocgpu(&["--extract", out.to_str().unwrap()], &file);
    assert!(output.status.success(), "{}", utf8(&output.stderr));
    let mut names: Vec<_> = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["photo-photo.image.o", "photo-photo.sm_75.ptx", "photo-photo.sm_90.ptx", "photo-photo.v3.o"]);
    assert_eq!(std::fs::read(out.join("photo-photo.v3.o")).unwrap(), native);
    assert_eq!(std::fs::read_to_string(out.join("photo-photo.sm_75.ptx")).unwrap(), "// seventy-five");
}

#[test]
fn linked_and_stripped_programs_still_show_their_images() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.o"), object(&padded(&[container("lib")]), &["a"], &[])).unwrap();
    std::fs::write(path("b.o"), object(&padded(&[container("bin")]), &["b"], &[])).unwrap();
    std::fs::write(path("main.c"), "extern void a(void), b(void); int main(void) { a(); b(); return 0; }").unwrap();
    let status = Command::new("cc").args(["-s", "-o"]).arg(path("program")).args([path("main.c"), path("a.o"), path("b.o")]).status();
    assert!(status.expect("a C compiler is needed to build Rust programs").success());
    let out = path("out");
    let output = relocgpu(&["--extract", out.to_str().unwrap()], &path("program"));
    assert!(output.status.success(), "{}", utf8(&output.stderr));
    assert!(utf8(&output.stdout).contains("image photo-photo-lib") && utf8(&output.stdout).contains("image photo-photo-bin"));
    assert!(utf8(&output.stderr).contains("linked into the file"));
    assert!(out.join("photo-photo-bin.sm_75.ptx").exists());
}

#[test]
fn names_from_the_file_stay_in_the_folder_and_out_of_the_terminal() {
    let mut hostile = container("bin");
    hostile.manifest.unit.package = "../../up\u{1b}[2J".into();
    let bytes = object(&padded(&[hostile]), &[], &[]);
    let input = Input::new(Cursor::new(bytes), "x/../file").unwrap();
    let contents = input.contents();
    assert!(!contents.images[0].name.contains('/') && !contents.images[0].name.starts_with('.'));
    assert!(!inspect::text(&contents).contains('\u{1b}'));
    let folder = tempfile::tempdir().unwrap();
    for file in inspect::extract(&contents, &folder.path().join("out")).unwrap().files {
        assert_eq!(file.parent().unwrap(), folder.path().join("out"));
    }
}

#[test]
fn refusals_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "hello").unwrap();
    let plain = folder.path().join("plain.o");
    std::fs::write(&plain, object(&[], &["f"], &[])).unwrap();
    for (file, part) in [
        (text.as_path(), "neither an ELF executable"),
        (&plain, "relocgpu_build::compile()"),
        (folder.path(), "not a regular file"),
        (Path::new("/dev/zero"), "not a regular file"),
        (Path::new("absent"), "cannot read `absent`"),
    ] {
        let output = relocgpu(&[], file);
        assert_eq!(output.status.code(), Some(1));
        assert!(utf8(&output.stderr).contains(part), "{}", utf8(&output.stderr));
    }
    let output = relocgpu(&["--nonsense"], &plain);
    assert_eq!(output.status.code(), Some(2));
    assert!(utf8(&output.stderr).contains("--nonsense"));
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

/// Every seventh truncation, then many files with a few bytes changed: no panic, no endless loop.
#[test]
fn damaged_files_never_panic() {
    let image = object(&padded(&[container("lib"), container("bin")]), &["image"], &["native"]);
    let native = object(&[], &["native"], &[]);
    let files = [image.clone(), archive(&[("image.o", &image), ("native.o", &native)])];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for file in files {
        for length in (0..file.len()).step_by(7) {
            read(file[..length].to_vec());
        }
        for _ in 0..4000 {
            let mut damaged = file.clone();
            for _ in 0..1 + random() % 4 {
                let at = (random() % damaged.len() as u64) as usize;
                damaged[at] = if random() % 2 == 0 { random() as u8 } else { damaged[at] ^ (1 << (random() % 8)) };
            }
            read(damaged);
        }
    }
}
