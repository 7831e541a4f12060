//! `Device::best()` in processes of their own: what `RELOCGPU_DEVICE` says holds for it and nothing else; a driver that is
//! absent is passed over, one that is broken is an error.

#![cfg(feature = "host")]

use relocgpu_runtime::{Device, DeviceKind, Error};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Set in the processes that report.
const CHILD: &str = "RELOCGPU_TEST_CHILD";

/// What `Device::best()` says in a process with this environment.
fn best(device: Option<&str>) -> String {
    let mut child = child(&std::env::current_exe().unwrap());
    if let Some(device) = device {
        child.env("RELOCGPU_DEVICE", device);
    }
    said(&mut child)
}

fn child(program: &Path) -> Command {
    let mut child = Command::new(program);
    child.args(["--exact", "report", "--nocapture", "--test-threads=1"]).env(CHILD, "1").env_remove("RELOCGPU_DEVICE");
    // A machine with a GPU gives the same answers.
    child.env("CUDA_VISIBLE_DEVICES", "");
    child
}

fn said(child: &mut Command) -> String {
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.split_once("best: ")).expect("a report").1.to_owned()
}

/// Not a test of its own: what the children run.
#[test]
fn report() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let cpu = Device::cpu().expect("the CPU is always there");
    assert_eq!((cpu.kind(), cpu.reason()), (DeviceKind::Cpu, None));
    if std::env::var_os("FAKE_FAULT").is_none() {
        assert!(matches!(Device::cuda(4711), Err(Error::NoDevice { .. })));
    }
    // SAFETY: no precondition.
    println!("\nprivileged: {}", unsafe { libc::getauxval(libc::AT_SECURE) } != 0);
    match Device::best() {
        Ok(device) => println!("best: {} because {:?}", device.kind(), device.reason()),
        Err(error) => println!("best: {error}"),
    }
}

#[test]
fn without_a_gpu_it_is_the_cpu_and_says_why() {
    let text = best(None);
    assert!(text.starts_with("cpu because Some(\"") && text.contains("CUDA"), "{text}");
    assert_eq!(best(Some("")), text);
}

#[test]
fn the_environment_asks_for_the_cpu() {
    assert_eq!(best(Some("cpu")), "cpu because None");
}

#[test]
fn a_device_that_cannot_be_had_is_an_error_and_no_fallback() {
    for name in ["cuda", "cuda:0", "cuda:12"] {
        let text = best(Some(name));
        assert!(text.starts_with("device `cuda:") && text.contains("cannot be had: "), "{text}");
    }
}

#[test]
fn a_name_of_no_device_is_an_error() {
    assert_eq!(
        best(Some("gpu")),
        "environment variable RELOCGPU_DEVICE: `gpu` names no device; use `cpu`, `cuda` or `cuda:N`, or unset it"
    );
}

/// The other side of it: a copy of this program that belongs to root and has the set-user-ID bit, run by somebody else.
#[test]
fn a_privileged_process_takes_no_advice() {
    let skipped = |why: &str| writeln!(std::io::stderr(), "a_privileged_process_takes_no_advice is skipped: {why}").unwrap();
    // SAFETY: no precondition.
    if unsafe { libc::geteuid() } != 0 {
        return skipped("only root can make a program privileged");
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("privileged");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o4755)).unwrap();
    const NOBODY: u32 = 65534;
    let output = child(&copy).env("RELOCGPU_DEVICE", "gpu").current_dir("/").uid(NOBODY).gid(NOBODY).output();
    let text = output.map_or_else(|error| error.to_string(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
    if !text.contains("privileged: true") {
        return skipped("this system does not let a program be privileged in the folder for temporary files");
    }
    assert!(text.contains("best: cpu because Some("), "{text}");
}

/// A process whose driver is the one of the unit tests, with this in its environment.
fn best_with_driver(environment: &[(&str, &str)]) -> String {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cuda/tests/fake.c");
        let compile = ["-O1", "-shared", "-fPIC", "-pthread", source, "-o"];
        assert!(Command::new("cc").args(compile).arg(folder.path().join("libcuda.so.1")).status().unwrap().success());
        folder
    });
    said(child(&std::env::current_exe().unwrap()).env("LD_LIBRARY_PATH", folder.path()).envs(environment.iter().copied()))
}

#[test]
fn a_gpu_with_a_driver_is_the_best_device() {
    assert_eq!(best_with_driver(&[]), "cuda:0 because None");
    assert_eq!(best_with_driver(&[("RELOCGPU_DEVICE", "cpu")]), "cpu because None");
    assert_eq!(best_with_driver(&[("FAKE_DEVICES", "3"), ("RELOCGPU_DEVICE", "cuda:2")]), "cuda:2 because None");
}

#[test]
fn a_driver_without_a_gpu_is_passed_over() {
    for environment in [("FAKE_DEVICES", "0"), ("FAKE_FAULT", "cuInit:0:100"), ("FAKE_FAULT", "cuDeviceGetCount:0:100")] {
        let text = best_with_driver(&[environment]);
        assert!(text.starts_with("cpu because Some(\"the CUDA driver finds no GPU"), "{environment:?}: {text}");
    }
}

#[test]
fn a_broken_driver_or_gpu_is_an_error_that_says_what_to_do() {
    for (fault, remedy) in [
        ("cuInit:0:803", "restart the machine"),
        ("cuInit:0:999", "dmesg"),
        ("cuInit:0:34", "LD_LIBRARY_PATH"),
        ("cuInit:0:35", "see CUresult"),
        ("cuDeviceGetCount:0:3", "the driver is not started"),
        ("cuDeviceGet:0:101", "compute mode"),
        ("cuDevicePrimaryCtxRetain:0:46", "exclusive mode"),
        ("cuDevicePrimaryCtxRetain:0:2", "end other programs that use the GPU"),
        ("cuStreamCreate:0:999", "dmesg"),
    ] {
        let text = best_with_driver(&[("FAKE_FAULT", fault)]);
        let (call, code) = (fault.split(':').next().unwrap(), fault.rsplit(':').next().unwrap());
        assert!(text.starts_with("device `cuda") && text.contains(&format!("{call} failed with {code}")), "{fault}: {text}");
        assert!(text.contains(remedy), "{fault}: {text}");
        assert_eq!(best_with_driver(&[("FAKE_FAULT", fault), ("RELOCGPU_DEVICE", "cpu")]), "cpu because None", "{fault}");
    }
}
