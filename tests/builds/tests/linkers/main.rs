//! Optimisation and linkers that may drop or hide what nothing seems to use. A linker that is not installed is a trial
//! that is shown as ignored.

#[allow(dead_code)]
#[path = "../builds/support.rs"]
mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use std::process::{Command, ExitCode};
use support::{Fixture, run, target};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = [("off", None), ("off", Some("lld")), ("off", Some("bfd")), ("thin", Some("lld")), ("fat", Some("bfd"))];
    let trials = trials.map(|(lto, linker)| match linker {
        Some(name) if !run(Command::new("cc").args([&format!("-fuse-ld={name}"), "-Wl,--version"])).ok => {
            Trial::test(format!("skipped_because_{name}_is_not_installed::lto_{lto}"), || Ok(())).with_ignored_flag(true)
        }
        _ => Trial::test(format!("linker_{}::lto_{lto}", linker.unwrap_or("of_cc")), move || survives(lto, linker)),
    });
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}

/// Builds and runs two programs.
fn survives(lto: &str, linker: Option<&str>) -> Result<(), Failed> {
    let fixture = Fixture::new("plain");
    // In the manifest, which the nested cargo reads as well.
    if lto != "off" {
        let optimised =
            format!("debug = 0\nlto = \"{lto}\"\nopt-level = 3\nstrip = \"symbols\"\ndebug-assertions = false\npanic = \"abort\"");
        fixture.edit("shapes/Cargo.toml", "debug = 0", &optimised);
    }
    let flags = linker.map(|name| format!("-Clink-arg=-fuse-ld={name}"));
    for (package, program, says) in [
        ("app", "app", "fill [1000, 1003, 1006, 1009]\nadd [11.5, 12.5]\n"),
        ("both", "both", "lib [1, 2, 3] bin [20, 21, 22]\n"),
        ("relay-lib", "other-name", "lib [10, 11] bin [31, 32]\n"),
    ] {
        let arguments = ["rustc", "-p", package, "--bin", program, "--", "-Clink-arg=-Wl,--gc-sections"];
        let built = run(fixture.cargo("shapes", &arguments).args(&flags));
        let ran = run(&mut Command::new(target().join("debug").join(program)));
        if !built.ok || ran.stdout != says {
            return Err(format!("{program}: {}\n{}\n{}", built.stderr, ran.stdout, ran.stderr).into());
        }
    }
    Ok(())
}
