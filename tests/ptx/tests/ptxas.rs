//! Every PTX of the examples and of the kernel crates: assembled for each architecture, and held against what its kernels
//! must and must not contain.

use libtest_mimic::{Arguments, Failed, Trial};
use ptx::Module;
use ptxas::Ptxas;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

const ARCHITECTURES: [u32; 7] = [75, 80, 86, 89, 90, 100, 120];
/// Each with the kernels and the records that its image holds at least.
const EXAMPLES: [(&str, usize, usize); 4] = [("saxpy", 1, 0), ("host_references", 1, 5), ("mandelbrot", 1, 0), ("photo", 2, 3)];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    // Listing must not build anything.
    let executables = if arguments.list { Ok(BTreeMap::new()) } else { executables() };
    let modules = if arguments.list { Ok(Vec::new()) } else { executables.clone().and_then(|executables| modules(&executables)) };
    let mut trials = match modules {
        Ok(modules) => trials(modules),
        Err(error) => vec![Trial::test("modules", move || Err(Failed::from(error)))],
    };
    trials.extend(EXAMPLES.map(|(name, kernels, records)| {
        let executables = executables.clone();
        Trial::test(format!("inspect --json: {name}"), move || {
            let executables = executables?;
            let inspect = ["inspect", executable(&executables, name)?, "--json"];
            let report = stdout(Command::new(executable(&executables, "relocgpu")?).args(inspect))?;
            Ok(ptx::report::check(&report, name, kernels, records)?)
        })
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trials(modules: Vec<Module>) -> Vec<Trial> {
    let mut trials = contents(&modules);
    let ptxas = Ptxas::find();
    let missing = ptxas.is_none();
    if missing {
        eprintln!("{}", ptxas::MISSING);
    }
    for module in modules {
        let name = format!("{} sm_{}", module.image, module.arch);
        let unresolved = module.clone();
        trials.push(Trial::test(format!("nothing is left open: {name}"), move || match unresolved.unresolved()[..] {
            [] => Ok(()),
            ref open => Err(open.join("\n").into()),
        }));
        for arch in ARCHITECTURES.into_iter().filter(|&arch| arch >= module.arch) {
            let (ptxas, module) = (ptxas.clone(), module.clone());
            let assembles = move || match ptxas {
                Some(ptxas) => Ok(ptxas.assemble(&module.text, arch)?),
                None => Err(Failed::from(ptxas::MISSING)),
            };
            trials.push(Trial::test(format!("assembles for sm_{arch}: {name}"), assembles).with_ignored_flag(missing));
        }
    }
    trials
}

/// The kernel crates' modules and the examples'.
fn modules(executables: &BTreeMap<String, String>) -> Result<Vec<Module>, String> {
    let mut modules = ptx::linked().map_err(|error| error.to_string())?;
    let themes = end_to_end::themes().len();
    if modules.len() < themes {
        return Err(format!("{} modules of {themes} kernel crates", modules.len()));
    }
    for (example, ..) in EXAMPLES {
        modules.extend(extracted(executable(executables, "relocgpu")?, executable(executables, example)?)?);
    }
    Ok(modules)
}

fn executable<'a>(executables: &'a BTreeMap<String, String>, name: &str) -> Result<&'a str, String> {
    executables.get(name).map(String::as_str).ok_or_else(|| format!("the workspace has no executable `{name}`"))
}

/// Name and path of each executable of the workspace, built with the features that `cargo test --workspace` gives them.
fn executables() -> Result<BTreeMap<String, String>, String> {
    let build = ["build", "--offline", "--quiet", "--workspace", "--bins", "--message-format=json"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let messages = stdout(Command::new(env!("CARGO")).args(build).current_dir(root))?;
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let named =
        |message: serde_json::Value| Some((message["target"]["name"].as_str()?.to_owned(), message["executable"].as_str()?.to_owned()));
    Ok(messages.filter_map(named).collect())
}

fn stdout(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The modules that `relocgpu inspect` takes out of an example.
fn extracted(inspect: &str, example: &str) -> Result<Vec<Module>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    stdout(Command::new(inspect).args(["inspect", example, "--extract"]).arg(folder.path()))?;
    let mut modules = Vec::new();
    for entry in std::fs::read_dir(folder.path()).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        // IMAGE.ARCH.ptx
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((image, arch)) = name.strip_suffix(".ptx").and_then(|stem| stem.rsplit_once('.')) else { continue };
        let arch = arch.trim_start_matches("sm_").parse().map_err(|_| format!("{name} does not say its architecture"))?;
        modules.push(Module::new(image, arch, std::fs::read_to_string(&path).map_err(|error| error.to_string())?));
    }
    if modules.is_empty() { Err(format!("{example} holds no PTX")) } else { Ok(modules) }
}

/// What a kernel's PTX must hold, and what it must not.
struct Content {
    name: &'static str,
    kernel: &'static str,
    must: &'static [&'static str],
    must_not: &'static [&'static str],
}

const CONTENTS: [Content; 8] = [
    Content {
        name: "read-only slices go through the read-only cache, outputs do not",
        kernel: "saxpy",
        must: &["ld.global.nc", "st.global"],
        must_not: &["st.u32", "st.f32", "ld.f32"],
    },
    Content { name: "slots are constants", kernel: "read_integers", must: &["ld.const"], must_not: &[] },
    Content { name: "remainders of floats are fmod's", kernel: "remainder_kernel", must: &["fmod"], must_not: &["div.full", "div.approx"] },
    Content {
        name: "atomics keep their orderings",
        kernel: "unsigned_32_kernel",
        must: &["atom.", ".add.u32", "fence.acq_rel", "fence.sc", "cas.b32"],
        must_not: &[],
    },
    Content {
        name: "a relaxed increment has no fence",
        kernel: "take_tickets",
        must: &["atom.", ".add.u32"],
        must_not: &["acq_rel", "fence", "membar"],
    },
    Content { name: "fences stay", kernel: "sum_by_the_last", must: &["fence.acq_rel"], must_not: &[] },
    Content { name: "a swap is an exchange", kernel: "swap_values", must: &["atom.", "exch.b64", "acq_rel"], must_not: &[] },
    Content { name: "shared memory is shared memory", kernel: "rotate_pairs", must: &["st.shared", "ld.shared"], must_not: &[] },
];

fn contents(modules: &[Module]) -> Vec<Trial> {
    let body = |kernel: &str| modules.iter().find_map(|module| module.kernel(kernel));
    let mut trials: Vec<Trial> = CONTENTS
        .iter()
        .map(|content| {
            let body = body(content.kernel);
            Trial::test(content.name, move || {
                let body = body.ok_or_else(|| format!("no entry `{}`", content.kernel))?;
                let missing: Vec<&str> = content.must.iter().copied().filter(|text| !body.contains(text)).collect();
                let present: Vec<&str> = content.must_not.iter().copied().filter(|text| body.contains(text)).collect();
                if missing.is_empty() && present.is_empty() {
                    return Ok(());
                }
                Err(format!("`{}`: missing {missing:?}, not wanted {present:?} in\n{body}", content.kernel).into())
            })
        })
        .collect();
    for (kernel, barriers) in [("reverse", 1), ("transpose", 1), ("greatest_twice", 4), ("count", 2)] {
        let body = body(kernel);
        trials.push(Trial::test(format!("{barriers} barriers stay {barriers}: {kernel}"), move || {
            let body = body.ok_or_else(|| format!("no entry `{kernel}`"))?;
            let found = body.matches("bar.sync").count() + body.matches("barrier.sync").count();
            if found == barriers { Ok(()) } else { Err(format!("{found} barriers in\n{body}").into()) }
        }));
    }
    trials
}
