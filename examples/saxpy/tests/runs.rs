//! The example runs on the CPU and finds its own results right.

use std::process::Command;

#[test]
fn verifies_itself() {
    let output = Command::new(env!("CARGO_BIN_EXE_saxpy")).env("RELOCGPU_DEVICE", "cpu").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(" 0 wrong"), "{text}");
}
