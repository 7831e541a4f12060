//! What the reports say of host references: who reads them, by which delivery, and where their words lie.

use crate::make::{container, object, padded};
use crate::{relocgpu, utf8};
use relocgpu_runtime::contract::image::Container;
use relocgpu_runtime::contract::manifest::{Delivery, Kernel, LaunchTable};

/// A kernel for each delivery. Only one of them reads the first slot from the block; none reads the last.
fn three_deliveries() -> Container<'static> {
    let mut image = container("bin");
    let patched = image.manifest.kernels[0].clone();
    let kernel = |name: &str, reads: &[u32], delivery| Kernel { name: name.into(), reads: reads.into(), delivery, ..patched.clone() };
    let table = LaunchTable { records: vec![0, 2], offset: 24, indirect: false };
    let far = LaunchTable { records: vec![0], offset: 4096, indirect: true };
    image.manifest.kernels = vec![
        kernel("photo::baked", &[0], Delivery::Bake),
        kernel("photo::far", &[0], Delivery::Table(far)),
        kernel("photo::none", &[], Delivery::Patch),
        kernel("photo::patched", &[1], Delivery::Patch),
        kernel("photo::table", &[0, 1, 2], Delivery::Table(table)),
    ];
    image.manifest.records[2].in_block = false;
    image
}

fn report(arguments: &[&str], image: Container) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("photo.o");
    std::fs::write(&file, object(&padded(&[image]), &[], &[])).unwrap();
    let output = relocgpu(arguments, &file);
    assert!(output.status.success(), "{}", utf8(&output.stderr));
    utf8(&output.stdout).to_owned()
}

#[test]
fn each_record_says_who_reads_it_and_each_kernel_how() {
    let text = report(&[], three_deliveries());
    let records = "  records   3
    slot      photo_0_1_0_gain
              value of an expression: gain()
              src/main.rs:3:9
              read by photo::baked (bake), photo::far (table), photo::table (table)
    interior  photo_0_1_0_shapes+8
              address of a host item: SHAPES
              src/main.rs:4:9
              read by photo::patched (patch), photo::table (patch)
    slot      photo_0_1_0_word
              u64 stored at environ+8: \"environ\", 8
              src/main.rs:5:9
              read by photo::table (table)
";
    assert!(text.ends_with(records), "{text}");
    let reads: Vec<_> = text.lines().map(str::trim).filter(|line| line.starts_with("reads ")).collect();
    assert_eq!(
        reads,
        [
            "reads 1 host reference, delivered by bake: in the code",
            "reads 1 host reference, delivered by table: 1 word in device memory, their address at byte 4096 of the launch",
            "reads no host references",
            "reads 1 host reference, delivered by patch: in the module",
            "reads 3 host references, delivered by table: 2 words at byte 24 of the launch",
        ]
    );
}

#[test]
fn the_layout_shows_every_word_and_where_it_lies() {
    let text = report(&["--layout"], three_deliveries());
    let layout = "layout of photo-photo
  slots     1 word, 8 bytes
    word 0 at byte 0  photo_0_1_0_gain
  interior  1 word
    photo_0_1_0_shapes+8
  table of photo::far  1 word
    word 0 at byte 0 of their device copy  photo_0_1_0_gain
  table of photo::table  2 words
    word 0 at byte 24  photo_0_1_0_gain
    word 1 at byte 32  photo_0_1_0_word
";
    assert!(text.starts_with("image photo-photo") && text.ends_with(layout), "{text}");
    let both = report(&["--layout"], container("bin"));
    assert!(both.contains("2 words, 16 bytes\n    word 0 at byte 0  photo_0_1_0_gain\n    word 1 at byte 8  photo_0_1_0_word\n"), "{both}");
}

#[test]
fn json_has_the_same() {
    let json: serde_json::Value = serde_json::from_str(&report(&["--json", "--layout"], three_deliveries())).unwrap();
    let image = &json["images"][0];
    let deliveries: Vec<_> = image["kernels"].as_array().unwrap().iter().map(|kernel| kernel["delivery"].as_str().unwrap()).collect();
    assert_eq!(deliveries, ["bake", "table", "patch", "patch", "table"]);
    assert_eq!(image["kernels"][4]["reads"], serde_json::json!([0, 1, 2]));
    assert_eq!(image["kernels"][4]["table"], serde_json::json!({"offset": 24, "indirect": false, "records": [0, 2]}));
    assert!(image["kernels"][0]["table"].is_null());
    let places: Vec<_> = image["records"].as_array().unwrap().iter().map(|record| (&record["in_block"], &record["slot"])).collect();
    let nowhere = (&false.into(), &serde_json::Value::Null);
    assert_eq!(places, [(&true.into(), &0.into()), nowhere, nowhere]);
}

#[test]
fn numbers_of_records_that_are_not_there_are_said() {
    let mut image = three_deliveries();
    image.manifest.kernels[4].reads = vec![7];
    image.manifest.kernels[4].delivery = Delivery::Table(LaunchTable { records: vec![u32::MAX], offset: u64::MAX, indirect: false });
    let text = report(&["--layout"], image);
    assert!(text.contains("record 4294967295, which is not there"), "{text}");
}
