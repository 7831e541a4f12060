//! `RELOCGPU_DEVICE`, in processes of their own: what it says holds for `Device::best()` and nothing else.

#![cfg(feature = "host")]

use relocgpu_runtime::{Device, DeviceKind, Error};
use std::process::Command;

/// Set in the processes that report.
const CHILD: &str = "RELOCGPU_TEST_CHILD";

/// What `Device::best()` says in a process with this environment.
fn best(device: Option<&str>) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "report", "--nocapture", "--test-threads=1"]).env(CHILD, "1").env_remove("RELOCGPU_DEVICE");
    // A machine with a GPU gives the same answers.
    child.env("CUDA_VISIBLE_DEVICES", "");
    if let Some(device) = device {
        child.env("RELOCGPU_DEVICE", device);
    }
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
    assert!(matches!(Device::cuda(4711), Err(Error::NoDevice { .. })));
    println!();
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
