//! The rustc wrapper of the device pass: a program of its own, compiled by the build script with the build's rustc.
//!
//! | cargo asks for | it gets |
//! |---|---|
//! | no crate (`CARGO_CRATE_NAME` is absent): probes of cargo and of build scripts | the plain compiler |
//! | a device unit (`--target` given) | bitcode, with the switches below |
//! | the root package's build script | the one that the outer build has compiled |
//! | relocgpu-build | its stand-in, whose `compile()` returns at once |
//! | a package that only the root's build scripts use | empty files, and a build script that does nothing |
//! | any other host unit | the plain compiler |
//!
//! `RUSTC_BOOTSTRAP` opens unstable switches for device units only, and `-Zallow-features=` closes the language
//! features again, so that no dependency sees anything but a stable compiler.

use std::env::{var, var_os};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

fn main() {
    let mut args = std::env::args_os();
    let own = args.next();
    // For members of a workspace cargo puts two wrappers in front of the compiler, which are both this program.
    let Some(rustc) = args.find(|arg| Some(arg) != own.as_ref()) else { fail("no compiler given") };
    let args: Vec<OsString> = args.collect();
    let mut command = Command::new(rustc);
    command.env_remove("RUSTC_BOOTSTRAP");

    let Ok(crate_name) = var("CARGO_CRATE_NAME") else { run(command.args(args)) };
    let package = format!("{}@{}", setting("CARGO_PKG_NAME"), setting("CARGO_PKG_VERSION"));
    let is_script = crate_name.starts_with("build_script_");
    let root = PathBuf::from(setting("RELOCGPU_WRAP_ROOT"));
    let files = PathBuf::from(setting("RELOCGPU_WRAP_FILES"));
    let is_root = var_os("CARGO_MANIFEST_DIR").is_some_and(|dir| root == Path::new(&dir));

    if args.iter().any(|a| a == "--target") {
        run(device_unit(&mut command, args, &package))
    } else if is_script && is_root {
        copy_script(&args, &crate_name)
    } else if crate_name == "relocgpu_build" {
        run(with_source(&mut command, args, &files.join("stand_in.rs")))
    } else if setting("RELOCGPU_WRAP_SKIP").split(',').any(|s| s.strip_suffix('!').unwrap_or(s) == package && s.ends_with('!') == is_script)
    {
        leave_out(&args, &crate_name, is_script)
    } else {
        run(command.args(args))
    }
}

/// One crate for the device. What cargo should notice when it changes is in its RUSTFLAGS, the rest is here.
fn device_unit<'a>(command: &'a mut Command, args: Vec<OsString>, package: &str) -> &'a mut Command {
    let text = |a: &OsString| a.to_string_lossy().into_owned();
    let after = |flag: &str| args.iter().position(|a| a == flag).and_then(|i| args.get(i + 1)).map(text);
    let is_test = args.iter().any(|a| a == "--test");
    // cargo's own value depends on the package's folder, and symbol names depend on it: neither may reach the PTX.
    let mut features: Vec<String> = args.iter().map(text).filter(|a| a.starts_with("feature=")).collect();
    features.sort();
    let kind = after("--crate-type").unwrap_or_else(|| "test".to_owned());
    let metadata = format!("metadata={package}/{kind}/{is_test}/{}", features.join(","));
    for arg in &args {
        if arg.to_string_lossy().starts_with("metadata=") {
            command.arg(&metadata);
        } else {
            command.arg(arg);
        }
    }
    // Cargo leaves debug assertions to the level of optimisation, of which the device pass knows one.
    let told = |option: &str| args.iter().any(|a| a.to_string_lossy().trim_start_matches("-C").starts_with(option));
    let optimises = args.iter().map(text).any(|a| a.starts_with("opt-level=") && a != "opt-level=0");
    if !optimises && !told("debug-assertions") {
        command.arg("-Cdebug-assertions=on");
    }
    // JumpThreading duplicates barriers, which the threads of a block must reach together.
    command.env("RUSTC_BOOTSTRAP", "1").args(["-Zallow-features=", "-Zmir-enable-passes=-JumpThreading"]);
    if is_test {
        command.arg("-Zpanic_abort_tests");
    }
    // Diagnostics keep the real paths. The last prefix that matches counts.
    command.arg("--remap-path-scope=macro,debuginfo,object");
    let mut remap = |from: Option<PathBuf>, to: String| {
        if let Some(from) = from {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(from);
            flag.push("=");
            flag.push(to);
            command.arg(flag);
        }
    };
    remap(std::env::current_dir().ok(), ".".to_owned());
    remap(var_os("CARGO_MANIFEST_DIR").map(PathBuf::from), package.to_owned());
    remap(var_os("OUT_DIR").map(PathBuf::from), format!("{package}/out"));
    command
}

/// The same arguments with another source file.
fn with_source<'a>(command: &'a mut Command, args: Vec<OsString>, source: &Path) -> &'a mut Command {
    let given = args.iter().position(|a| {
        let text = a.to_string_lossy();
        text.ends_with(".rs") && !text.starts_with('-') && !text.contains('=')
    });
    let capped = args.iter().any(|a| a == "--cap-lints");
    for (i, arg) in args.iter().enumerate() {
        command.arg(if given == Some(i) { source.as_os_str() } else { arg });
    }
    if !capped {
        command.args(["--cap-lints", "allow"]);
    }
    command
}

/// The outer build's script does here what it does there; compiling it again would take all of its dependencies.
/// Cargo learns from the `.d` file when to ask again.
fn copy_script(args: &[OsString], crate_name: &str) -> ! {
    let (out_dir, name, source) = outputs(args, crate_name);
    let (script, copy) = (PathBuf::from(setting("RELOCGPU_WRAP_SCRIPT")), out_dir.join(&name));
    let made = remove(&copy)
        .and_then(|()| std::fs::copy(&script, &copy).map(drop))
        .and_then(|()| depend(&out_dir.join(name + ".d"), &copy, &[&source, &script]));
    match made {
        Ok(()) => exit(0),
        Err(e) => fail(&format!("cannot copy `{}` to `{}`: {e}", script.display(), copy.display())),
    }
}

/// The files that cargo expects of a crate which nobody reads: only crates that are left out themselves name it.
fn leave_out(args: &[OsString], crate_name: &str, is_script: bool) -> ! {
    let (out_dir, name, source) = outputs(args, crate_name);
    let is_macro = args.iter().any(|a| a == "proc-macro");
    let files = match () {
        () if is_script => vec![name.clone()],
        () if is_macro => vec![format!("lib{name}.so")],
        () => vec![format!("lib{name}.rmeta"), format!("lib{name}.rlib")],
    };
    let made = files.iter().try_for_each(|file| {
        let path = out_dir.join(file);
        remove(&path)?;
        std::fs::write(&path, if is_script { "#!/bin/sh\n" } else { "" })?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
    });
    match made.and_then(|()| depend(&out_dir.join(format!("{name}.d")), &out_dir.join(&files[0]), &[&source])) {
        Ok(()) => exit(0),
        Err(e) => fail(&format!("cannot write the files of `{name}` to `{}`: {e}", out_dir.display())),
    }
}

/// Where a crate's files go, their stem, and its source.
fn outputs(args: &[OsString], crate_name: &str) -> (PathBuf, String, PathBuf) {
    let out_dir = args.iter().position(|a| a == "--out-dir").and_then(|i| args.get(i + 1)).map(PathBuf::from);
    let extra = args.iter().find_map(|a| a.to_str()?.strip_prefix("extra-filename=").map(str::to_owned));
    let source = args.iter().find(|a| a.to_string_lossy().ends_with(".rs")).map(PathBuf::from);
    let (Some(out_dir), Some(source)) = (out_dir, source) else { fail("cargo compiles this crate in an unknown way") };
    (out_dir, format!("{crate_name}{}", extra.unwrap_or_default()), source)
}

/// Leaves the list of what an output depends on.
fn depend(list: &Path, output: &Path, on: &[&Path]) -> std::io::Result<()> {
    let escaped = |path: &Path| path.to_string_lossy().replace(' ', "\\ ");
    let on: Vec<String> = on.iter().map(|path| escaped(path)).collect();
    std::fs::write(list, format!("{}: {}\n", escaped(output), on.join(" ")))
}

/// Removes a file if it is there: cargo links to it by other names, which keep what they have.
fn remove(path: &Path) -> std::io::Result<()> {
    std::fs::remove_file(path).or_else(|e| if e.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(e) })
}

fn setting(name: &str) -> String {
    var(name).unwrap_or_else(|_| fail(&format!("the environment variable `{name}` is not set")))
}

fn run(command: &mut Command) -> ! {
    let error = command.exec();
    fail(&format!("cannot start {:?}: {error}", command.get_program()))
}

fn fail(what: &str) -> ! {
    eprintln!("relocgpu's rustc wrapper: {what}");
    exit(101)
}
