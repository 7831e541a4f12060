//! The macro crate has copies of what it cannot depend on: they must agree with the contract.

extern crate proc_macro;

use relocgpu_runtime::contract::manifest::{Faults, KernelFault, Part, Rejection, UnitName};
use relocgpu_runtime::contract::names as contract;

#[allow(dead_code)]
#[path = "../../../relocgpu-macros/src/fault_report.rs"]
mod fault_report;
#[allow(dead_code)]
#[path = "../../../relocgpu-macros/src/names.rs"]
mod names;

/// Messages that no program here shows: a launch returns them, or another package's build (`tests/builds`).
const ELSEWHERE: [&str; 4] = ["SKIPPED", "NO_CRATE", "REJECTED", "NO_RUNTIME"];

#[test]
fn every_message_has_a_rejected_program() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("a file of the repository");
    let mut shown = String::new();
    for folder in ["rejected", "no_build_script", "device_pass"] {
        for entry in std::fs::read_dir(format!("{root}{folder}")).expect("a folder of the repository") {
            let path = entry.expect("a file of the repository").path();
            if path.extension().is_some_and(|extension| extension == "stderr") {
                shown.push_str(&read(&path));
            }
        }
    }
    let source = read(format!("{root}../../relocgpu-macros/src/diagnostics.rs").as_ref());
    let file = syn::parse_file(&source).expect("valid Rust");
    let messages = file.items.iter().filter_map(|item| match item {
        syn::Item::Const(message) => Some(message),
        _ => None,
    });
    let mut missing = Vec::new();
    for message in messages.filter(|message| !ELSEWHERE.iter().any(|name| message.ident == name)) {
        if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &*message.expr
            && !shown.contains(text.value().lines().next().unwrap_or_default())
        {
            missing.push(message.ident.to_string());
        }
    }
    assert!(missing.is_empty(), "no program under tests/ui shows {missing:?}");
}

#[test]
fn image_symbols_agree() {
    for kind in ["lib", "bin", "test"] {
        for test in [false, true] {
            let theirs = names::Unit { package: "photo".into(), version: "0.1.0".into(), kind, crate_name: Some("photo_lib".into()) };
            let ours = contract::Unit { package: "photo", version: "0.1.0", kind, crate_name: "photo_lib", test };
            assert_eq!(theirs.image_symbol(test), contract::image_symbol(&ours));
        }
    }
}

#[test]
fn hashes_agree() {
    assert_eq!(names::fnv1a(b"gain()"), contract::fnv1a(b"gain()"));
    assert_eq!(names::FIELD, contract::FIELD_SEPARATOR);
}

#[test]
fn the_report_of_faults_is_read_as_it_is_written() {
    let unit = UnitName { package: "p".into(), version: "1.0.0".into(), kind: "bin".into(), crate_name: "b".into(), test: true };
    let kernel = KernelFault { kernel: "a::k<f32>".into(), file: "x/src/a.rs".into(), line: 7, message: "two\nlines".into() };
    let text = Faults { kernels: vec![kernel], rejected: vec![Rejection { unit, text: "no\nway".into() }] }.to_text();
    let entries = fault_report::entries(&text);
    let place = names::Place { file: "src/a.rs".into(), line: 7, column: 1 };
    assert_eq!(entries[0].of_kernel("k", &place), Some("two\nlines"));
    assert_eq!(entries[1].of_unit("bin", "b"), Some((true, "no\nway")));
}

#[test]
fn words_agree() {
    assert_eq!(names::REFERENCE_TAG, contract::Reference::TAG);
    assert_eq!(names::SHARED_SECTION, contract::SHARED_SECTION);
    let kinds = {
        use names::kind::{DEVICE_VALUE, MAPPED, STATIC, TABLE_LEN, TABLE_PTR, VALUE};
        [VALUE, DEVICE_VALUE, TABLE_PTR, TABLE_LEN, MAPPED, STATIC]
    };
    assert_eq!(kinds, Part::ALL.map(Part::name));
    let others = [names::kind::ITEM, names::kind::LOAD, names::kind::BOUND];
    assert_eq!(others, [contract::Reference::ITEM, contract::Reference::LOAD, contract::Reference::BOUND]);
    assert_eq!(names::DETAIL, contract::DETAIL_SEPARATOR);
    assert_eq!((names::env::PASS, names::env::FAULTS), (contract::env::PASS, contract::env::FAULTS));
    assert_eq!(names::env::DEVICE_PASS, contract::env::DEVICE_PASS);
    let pass = [names::pass::LINKED, names::pass::SKIPPED, names::pass::REJECTED];
    assert_eq!(pass, [contract::pass::LINKED, contract::pass::SKIPPED, contract::pass::REJECTED]);
}
