//! Units written by hand, delivered in each way, as the GPU's and the CPU's code have them.

use super::*;
use crate::keep::Keep;
use crate::lower::{cpu, nvptx};
use relocgpu_runtime::contract::SCHEMA;
use relocgpu_runtime::contract::manifest::{Part, Record, RecordSource, SourceMap, UnitName};

/// Three kernels that store the first word, each through a function of its own; two share a recursive one that reads the second.
const UNIT: &str = "
target triple = \"x86_64-unknown-linux-gnu\"
target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
@first = external constant i64, align 8
@second = external constant i64, align 8
define internal i64 @down(i64 %n) noinline convergent nounwind {
  %word = load i64, ptr @second
  %end = icmp eq i64 %n, %word
  br i1 %end, label %out, label %on
on:
  %less = sub i64 %n, 1
  %deep = call i64 @down(i64 %less)
  %triple = mul i64 %deep, 3
  %sum = xor i64 %triple, %n
  ret i64 %sum
out:
  ret i64 %n
}
define void @alone(ptr %params) convergent nounwind {
  %out = load ptr, ptr %params
  %word = load i64, ptr @first
  store i64 %word, ptr %out
  ret void
}
define void @deep(ptr %params) convergent nounwind {
  %out = load ptr, ptr %params
  %word = load i64, ptr @first
  %sum = call i64 @down(i64 %word)
  store i64 %sum, ptr %out
  ret void
}
define void @patched(ptr %params) convergent nounwind {
  %out = load ptr, ptr %params
  %sum = call i64 @down(i64 9)
  store i64 %sum, ptr %out
  ret void
}
";

fn table(records: &[u32], offset: u64, indirect: bool) -> Delivery {
    Delivery::Table(LaunchTable { records: records.to_vec(), offset, indirect })
}

fn unit(text: &str, kernels: &[(&str, Delivery)], records: &[(&str, Target)]) -> Unit {
    let name = UnitName { package: "p".into(), version: "1.0.0".into(), kind: "lib".into(), crate_name: "p".into(), test: false };
    let kernel = |(name, delivery): &(&str, Delivery)| Kernel {
        name: format!("p::{name}"),
        entry: (*name).to_owned(),
        params: Vec::new(),
        size: 8,
        align: 8,
        can_panic: false,
        cooperates: false,
        reads: Vec::new(),
        delivery: delivery.clone(),
    };
    let record = |(name, target): &(&str, Target)| Record {
        name: (*name).into(),
        site: Site::Slot,
        offset: 0,
        target: target.clone(),
        in_block: true,
    };
    let source = |(name, _): &(&str, Target)| RecordSource { symbol: format!("__{name}"), source: "a.rs:1:1".into(), text: "w".into() };
    Unit {
        bitcode: llvm::assemble(text, "unit").unwrap(),
        manifest: Manifest {
            schema: SCHEMA,
            unit: name,
            kernels: kernels.iter().map(kernel).collect(),
            records: records.iter().map(record).collect(),
        },
        source_map: SourceMap {
            records: records.iter().map(source).collect(),
            kernels: kernels.iter().map(|_| "a.rs:1:1".to_owned()).collect(),
            locations: Vec::new(),
        },
        hash: [7; 32],
    }
}

fn ptx(text: &str, kernels: &[(&str, Delivery)], records: &[(&str, Target)]) -> Result<String, String> {
    nvptx::run(&unit(text, kernels, records), 75, Keep::in_folder(None)).map(|ptx| ptx.text).map_err(|e| e.to_string())
}

/// The text of one entry.
fn entry<'t>(text: &'t str, name: &str) -> &'t str {
    let start = text.find(&format!(".entry {name}(")).unwrap_or_else(|| panic!("no entry {name} in\n{text}"));
    let rest = &text[start..];
    &rest[..rest.find("\n}").unwrap()]
}

fn value() -> Target {
    Target::Expr(Part::Value)
}

#[test]
fn a_table_lies_behind_the_parameters_and_goes_with_recursion() {
    let kernels = [("alone", table(&[0], 8, false)), ("deep", table(&[0, 1], 8, false)), ("patched", Delivery::Patch)];
    let text = ptx(UNIT, &kernels, &[("first", value()), ("second", value())]).unwrap();
    let alone = entry(&text, "alone");
    assert!(alone.contains(".param .align 8 .b8 alone_param_0[16]"), "{alone}");
    assert!(alone.contains("[alone_param_0+8]"), "{alone}");
    assert!(!alone.contains("ld.const"), "{alone}");
    let deep = entry(&text, "deep");
    assert!(deep.contains(".param .align 8 .b8 deep_param_0[24]") && deep.contains("[deep_param_0+8]"), "{deep}");
    // One for each delivery: with the table's address, and with the slot.
    let copies: Vec<_> = text.split(".func").filter(|part| part.contains("down") && part.contains("ret;")).collect();
    assert_eq!(copies.iter().filter(|part| part.contains("ld.const.b64")).count(), 1, "{text}");
    assert!(copies.iter().any(|part| part.contains("down") && part.contains("_param_1") && !part.contains("ld.const.b64")), "{text}");
}

#[test]
fn a_large_table_is_reached_through_its_address() {
    let kernels = [("alone", table(&[0], 8, true)), ("deep", Delivery::Patch), ("patched", Delivery::Patch)];
    let text = ptx(UNIT, &kernels, &[("first", value()), ("second", value())]).unwrap();
    let alone = entry(&text, "alone");
    assert!(alone.contains("alone_param_0[16]") && alone.contains("[alone_param_0+8]"), "{alone}");
    assert_eq!(alone.matches("ld.param").count(), 2, "{alone}");
    assert!(entry(&text, "deep").contains("ld.const.b64"), "{text}");
}

#[test]
fn baked_words_are_digits_with_known_places() {
    let kernels = [("alone", Delivery::Bake), ("deep", Delivery::Bake), ("patched", Delivery::Patch)];
    let text = ptx(UNIT, &kernels, &[("first", value()), ("second", value())]).unwrap();
    let alone = entry(&text, "alone");
    assert!(alone.contains("0x5e1fc0de00000000;") && !alone.contains("ld.const"), "{alone}");
    let places = places(&text);
    assert_eq!(places.iter().map(|(record, _)| *record).collect::<std::collections::BTreeSet<_>>(), [0, 1].into());
    for (record, at) in places {
        assert_eq!(&text[at as usize - 2..at as usize + 16], format!("0x5e1fc0de{record:08x}"));
    }
    // The other kernel's copy of the shared function still reads its slot.
    assert!(text.contains("ld.const.b64"), "{text}");
}

#[test]
fn addresses_are_not_baked() {
    let all = |delivery: &Delivery| [("alone", delivery.clone()), ("deep", Delivery::Patch), ("patched", Delivery::Patch)];
    let error = ptx(UNIT, &all(&Delivery::Bake), &[("first", Target::Address), ("second", value())]).unwrap_err();
    assert!(error.contains("kernel `p::alone`: reference `first` is an address, which differs in each process"), "{error}");
    assert!(error.contains("help: deliver it by patch"), "{error}");
    let followed = UNIT.replace("store i64 %word, ptr %out", "%at = inttoptr i64 %word to ptr\n  store ptr %at, ptr %out");
    let error = ptx(&followed, &all(&Delivery::Bake), &[("first", value()), ("second", value())]).unwrap_err();
    assert!(error.contains("reference `first` is used as an address"), "{error}");
    ptx(&followed, &all(&table(&[0], 8, false)), &[("first", value()), ("second", value())]).unwrap();
}

#[test]
fn a_function_that_is_called_through_a_pointer_has_no_table() {
    let indirect = UNIT.replace(
        "  %out = load ptr, ptr %params\n  %sum = call i64 @down(i64 9)",
        "  %out = load ptr, ptr %params\n  %f = load ptr, ptr %out\n  %is = icmp eq ptr %f, @down\n  %g = select i1 %is, ptr @down, ptr null\n  %sum = call i64 %g(i64 9)",
    );
    assert_ne!(indirect, UNIT);
    let kernels = [("alone", Delivery::Patch), ("deep", Delivery::Patch), ("patched", table(&[1], 8, false))];
    let error = ptx(&indirect, &kernels, &[("first", value()), ("second", value())]).unwrap_err();
    assert!(error.contains("kernel `p::patched`: `down` reads a host reference and is called through a pointer"), "{error}");
}

#[test]
fn the_cpu_takes_every_delivery() {
    let kernels = [("alone", Delivery::Bake), ("deep", table(&[0, 1], 8, false)), ("patched", Delivery::Patch)];
    let unit = unit(UNIT, &kernels, &[("first", value()), ("second", value())]);
    let native = cpu::run(&unit, &["x86-64".to_owned()]).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(native.levels[0].kernels.len(), 3);
}

#[test]
fn a_word_is_an_address_whichever_way_it_takes() {
    let joined = UNIT.replace(
        "  %word = load i64, ptr @first\n  store i64 %word, ptr %out",
        "  %word = load i64, ptr @first\n  %other = load i64, ptr %out\n  %is = icmp eq i64 %other, 7
  br i1 %is, label %a, label %b\na:\n  br label %b\nb:\n  %one = phi i64 [ %word, %a ], [ %other, %0 ]
  %at = inttoptr i64 %one to ptr\n  store i64 1, ptr %at",
    );
    assert_ne!(joined, UNIT);
    let kernels = [("alone", Delivery::Bake), ("deep", Delivery::Patch), ("patched", Delivery::Patch)];
    let error = ptx(&joined, &kernels, &[("first", value()), ("second", value())]).unwrap_err();
    assert!(error.contains("reference `first` is used as an address"), "{error}");
}

/// Two kernels with code of their own call one function that uses shared memory.
const SHARED: &str = "
target triple = \"x86_64-unknown-linux-gnu\"
target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
@first = external constant i64, align 8
@tile = internal global [1000 x i64] undef, section \".relocgpu.shared\", align 8
declare i32 @__relocgpu_block_barrier() convergent
declare i32 @__relocgpu_thread_idx_x()
declare void @__relocgpu_thread_end() noreturn
define internal i64 @turn(i64 %n) noinline convergent nounwind {
  %word = load i64, ptr @first
  %i = call i32 @__relocgpu_thread_idx_x()
  %own = getelementptr i64, ptr @tile, i32 %i
  %sum = add i64 %word, %n
  store i64 %sum, ptr %own
  %gone = call i32 @__relocgpu_block_barrier() convergent
  %is = icmp ne i32 %gone, 0
  br i1 %is, label %end, label %on
end:
  call void @__relocgpu_thread_end()
  unreachable
on:
  %j = xor i32 %i, 1
  %other = getelementptr i64, ptr @tile, i32 %j
  %got = load i64, ptr %other
  ret i64 %got
}
define void @one(ptr %params) convergent nounwind {
  %out = load ptr, ptr %params
  %got = call i64 @turn(i64 1) convergent
  store i64 %got, ptr %out
  ret void
}
define void @two(ptr %params) convergent nounwind {
  %out = load ptr, ptr %params
  %got = call i64 @turn(i64 2) convergent
  store i64 %got, ptr %out
  ret void
}
";

#[test]
fn shared_memory_and_barriers_are_as_many_as_before() {
    for (one, two) in [
        (table(&[0], 8, false), table(&[0], 8, false)),
        (table(&[0], 8, false), Delivery::Bake),
        (Delivery::Patch, Delivery::Bake),
        (Delivery::Patch, Delivery::Patch),
    ] {
        let kernels = [("one", one.clone()), ("two", two.clone())];
        let mut unit = unit(SHARED, &kernels, &[("first", value())]);
        unit.manifest.kernels.iter_mut().for_each(|kernel| kernel.cooperates = true);
        let text = nvptx::run(&unit, 75, Keep::in_folder(None)).unwrap_or_else(|e| panic!("{e}")).text;
        let shared: Vec<_> = text.lines().filter(|line| line.contains(".shared .align")).collect();
        assert_eq!(shared.len(), 1, "{one:?} {two:?}: {shared:?}");
        assert_eq!(text.matches("bar.sync").count(), 2, "{one:?} {two:?}: {text}");
        let native = cpu::run(&unit, &["x86-64".to_owned()]).unwrap_or_else(|e| panic!("{e:?}"));
        assert!(native.levels[0].kernels.iter().all(|kernel| kernel.shared_bytes == 8000), "{one:?} {two:?}");
    }
}

/// The constant bank holds 8,192 words, whatever other constants there are: those lie elsewhere.
#[test]
fn the_block_of_slots_is_in_const_as_long_as_it_fits() {
    for count in [8191, 8192, 8193] {
        let names: Vec<String> = (0..count).map(|i| format!("slot_{i:05}")).collect();
        let declared: String = names.iter().map(|name| format!("@{name} = external constant i64, align 8\n")).collect();
        let header = &UNIT[..UNIT.find("@first").unwrap()];
        let text = format!(
            "{header}{declared}@curve = internal constant [9000 x i64] zeroinitializer, align 8
define void @alone(ptr %params) convergent nounwind {{
  %out = load ptr, ptr %params
  %a = load i64, ptr @slot_00000
  %z = load i64, ptr @{}
  %at = getelementptr i64, ptr @curve, i64 %a
  store i64 %z, ptr %out
  %second = getelementptr i64, ptr %out, i64 1
  store ptr %at, ptr %second
  ret void
}}
",
            names[count - 1]
        );
        let records: Vec<_> = names.iter().map(|name| (name.as_str(), value())).collect();
        let text = ptx(&text, &[("alone", Delivery::Patch)], &records).unwrap();
        let space = if count <= 8192 { ".const" } else { ".global" };
        assert!(text.contains(&format!(".visible {space} .align 8 .b8 relocgpu_slots[{}]", 8 * count)), "{count}: {text}");
        assert_eq!(text.matches(".const .align").count(), usize::from(count <= 8192), "{count}");
        assert!(text.contains(&format!("relocgpu_slots+{}", 8 * (count - 1))), "{count}: {text}");
    }
}
