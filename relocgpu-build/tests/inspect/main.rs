//! `relocgpu inspect` on objects, archives and linked programs made here, then on damaged ones.

mod hostile;
mod make;
mod references;

use make::{archive, container, object, padded, read};
use relocgpu_build::inspect::{self, Input};
use std::io::Cursor;
use std::path::Path;
use std::process::{Command, Output};

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
    let load = serde_json::json!({"kind": "load", "symbol": "environ", "type": "u64", "library": null, "offset": 8});
    assert_eq!(records[2]["target"], load);
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
