//! What a build script sets through `Builder`.

use crate::support::{Fixture, target};
use relocgpu_build::inspect::Input;

/// Architectures and native levels of the image of this package in a program, and how often its PTX names a source line.
fn image(program: &str, package: &str) -> (Vec<u32>, Vec<String>, Vec<usize>) {
    let file = Input::open(&target().join("debug").join(program)).unwrap();
    let contents = file.contents();
    assert!(contents.faults.is_empty(), "{:?}", contents.faults);
    let container = &contents.images.iter().find(|image| image.container.manifest.unit.package == package).unwrap().container;
    let lines = |text: &str| text.lines().filter(|line| line.split_whitespace().next() == Some(".loc")).count();
    (
        container.ptx.iter().map(|entry| entry.arch).collect(),
        container.cpu_levels.clone(),
        container.ptx.iter().map(|entry| lines(&entry.text)).collect(),
    )
}

#[test]
fn architectures_levels_line_info_and_a_device_cfg_are_the_builders() {
    let fixture = Fixture::new("edited");
    fixture.edit("shapes/klib/src/helper.rs", "x + 0", "x + if cfg!(only_on_the_device) { 7 } else { 0 }");
    fixture.edit("shapes/klib/src/lib.rs", "    1000\n", "    if cfg!(only_on_the_device) { 1 } else { 1000 }\n");
    fixture.output("shapes", &["build", "-p", "app"]);
    let (architectures, levels, lines) = image("app", "klib");
    assert_eq!((&architectures[..], levels.len(), &lines[..]), (&[75][..], 3, &[0][..]));

    let builder = "relocgpu_build::Builder::new().arch(90).architectures([80, 90]).cpu_levels([\"x86-64\"]).line_info(true)";
    let script =
        format!("println!(\"cargo::rustc-check-cfg=cfg(only_on_the_device)\");\n    {builder}.cfg(\"only_on_the_device\").compile()");
    fixture.edit("shapes/klib/build.rs", "relocgpu_build::compile()", &script);
    let ran = fixture.output("shapes", &["run", "-p", "app"]);
    // The kernel has the cfg; the host, which evaluates the reference, has not.
    assert!(ran.starts_with("fill [1007, 1010, 1013, 1016]\n"), "{ran}");
    let (architectures, levels, lines) = image("app", "klib");
    assert_eq!((&architectures[..], &levels[..]), (&[80, 90][..], &["x86-64".to_owned()][..]));
    assert!(lines.iter().all(|&count| count > 0), "{lines:?}");
    // Another package's builder has not heard of it.
    assert_eq!(image("app", "app").0, [75]);
}
