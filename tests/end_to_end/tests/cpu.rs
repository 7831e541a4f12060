//! Runs the checks of every kernel crate on the CPU, each as a test of its own.

use libtest_mimic::{Arguments, Failed, Trial};
use relocgpu_runtime::Device;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // A panic is reported at the device's next synchronisation: checks that share the device take turns.
    arguments.test_threads = Some(1);
    let trials = end_to_end::themes().into_iter().flat_map(|(theme, checks)| {
        checks.into_iter().map(move |check| {
            Trial::test(format!("{theme}::{}", check.name), move || {
                let device = Device::cpu()?;
                (check.run)(&device).map_err(|error| Failed::from(error.to_string()))
            })
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
