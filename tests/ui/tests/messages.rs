//! Compiles the programs in the folders of this package and compares what rustc says.

use relocgpu_runtime::contract::manifest::{Faults, KernelFault, Rejection, UnitName};
use relocgpu_runtime::contract::names::env;

/// Says to the macros what a build script would say: trybuild's packages have none.
fn build_script_says(variable: &str, value: Option<&str>) {
    // SAFETY: this program has one thread.
    unsafe {
        match value {
            Some(value) => std::env::set_var(variable, value),
            None => std::env::remove_var(variable),
        }
    }
}

/// A report on the programs of `device_pass`, in the order in which trybuild numbers them.
fn faults() -> Faults {
    let message = "`prints` cannot run on a device: `std::io::stdio::_print` is a function of the host\n  called by prints".to_owned();
    let fault = KernelFault { kernel: "trybuild000::prints".to_owned(), file: "device_pass/kernel_fault.rs".to_owned(), line: 8, message };
    let rejection = |crate_name: &str| Rejection {
        unit: UnitName {
            package: "ui-tests".to_owned(),
            version: "0.0.0".to_owned(),
            kind: "bin".to_owned(),
            crate_name: crate_name.to_owned(),
            test: false,
        },
        text: "error: rejected by the nested compile\n to see it again: cargo check …".to_owned(),
    };
    Faults { kernels: vec![fault], rejected: vec![rejection("trybuild001"), rejection("trybuild002")] }
}

fn main() {
    build_script_says(env::PASS, Some("skipped"));
    {
        let cases = trybuild::TestCases::new();
        cases.compile_fail("rejected/*.rs");
        // With a program to run, trybuild builds all of them: some errors appear only when code is made.
        cases.pass("no_build_script/no_kernels.rs");
    }

    build_script_says(env::PASS, None);
    {
        let cases = trybuild::TestCases::new();
        cases.compile_fail("no_build_script/missing.rs");
        cases.pass("no_build_script/no_kernels.rs");
    }

    let report = concat!(env!("CARGO_TARGET_TMPDIR"), "/faults");
    std::fs::write(report, faults().to_text()).expect("the folder for tests' files can be written");
    build_script_says(env::PASS, Some("rejected"));
    build_script_says(env::FAULTS, Some(&format!("{report}#0123456789abcdef")));
    let cases = trybuild::TestCases::new();
    cases.compile_fail("device_pass/kernel_fault.rs");
    cases.compile_fail("device_pass/rejected.rs");
    cases.compile_fail("device_pass/rejected_by_both.rs");
    cases.pass("no_build_script/no_kernels.rs");
}
