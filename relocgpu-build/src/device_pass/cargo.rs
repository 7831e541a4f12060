//! Starting the nested cargo and reading its messages.

use super::folder::{self, Tools};
use super::targets::Plan;
use super::{artifacts, metadata};
use crate::env::{self, Env};
use crate::error::Error;
use crate::parent::Parent;
use relocgpu_runtime::contract::names::DEVICE_CFG;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A cargo command on a manifest, with a clean environment, where the outer cargo runs: there lies its configuration.
pub(super) fn command(env: &Env, parent: &Parent, subcommand: &str, manifest: &Path) -> Command {
    let mut command = Command::new(&env.cargo);
    env::scrub(&mut command);
    let cwd = parent.cwd.as_deref().filter(|dir| dir.is_dir()).unwrap_or(&env.manifest_dir);
    command.current_dir(cwd).env("RUSTC", &env.rustc).arg(subcommand).arg("--manifest-path").arg(manifest);
    for config in &parent.configs {
        command.arg("--config").arg(config);
    }
    command
}

/// A command as one would type it.
pub(super) fn shell_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = words.map(|word| {
        let word = word.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:@,+#%".contains(c);
        if !word.is_empty() && word.chars().all(plain) { word.into_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// What one nested compile came to.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    /// Finished units, dependencies before dependents.
    pub artifacts: Vec<Artifact>,
    /// `OUT_DIR`s of the build scripts that ran or were fresh.
    pub scripts: Vec<Script>,
    /// Rendered errors.
    pub errors: Vec<String>,
}

/// A `compiler-artifact` message.
#[derive(Debug, Deserialize)]
pub(super) struct Artifact {
    pub package_id: String,
    pub manifest_path: PathBuf,
    pub target: metadata::Target,
    pub profile: Profile,
    pub filenames: Vec<PathBuf>,
}

/// Of a `compiler-artifact` message.
#[derive(Debug, Deserialize)]
pub(super) struct Profile {
    pub test: bool,
}

/// A `build-script-executed` message.
#[derive(Debug, Deserialize)]
pub(super) struct Script {
    pub package_id: String,
    pub out_dir: PathBuf,
}

#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Report {
    CompilerArtifact(Artifact),
    CompilerMessage {
        message: Diagnostic,
    },
    BuildScriptExecuted(Script),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
}

/// What all nested compiles of one package have in common.
pub(super) struct Nested<'a> {
    pub env: &'a Env,
    pub parent: &'a Parent,
    pub tools: &'a Tools,
    /// The package's manifest, or one that depends on it.
    pub manifest: &'a Path,
    /// Whether the manifest's lock file must serve as it is.
    pub locked: bool,
    pub package_id: &'a str,
    /// `CARGO_ENCODED_RUSTFLAGS`.
    pub flags: String,
}

impl Nested<'_> {
    fn command(&self, target_dir: &Path, selection: &[String]) -> Command {
        let env = self.env;
        let mut command = command(env, self.parent, "check", self.manifest);
        let profile = folder::profile(env);
        command.args(["--offline", "--message-format=json", "--keep-going"]);
        command.args(["--package", self.package_id, "--profile", &profile, "--target", &env.target]);
        // A program that is optimised at link time leaves no bitcode of its own behind; this pass links by itself.
        command.arg("--config").arg(format!("profile.{profile}.lto=\"off\""));
        // The flags say how device code panics. Cargo would compile each library a second time for tests, which unwind.
        command.arg("--config").arg(format!("profile.{profile}.panic=\"unwind\""));
        // Intermediate files too: the outer build's folder for them may be configured, and is locked.
        let build_dir = toml::Value::String(target_dir.display().to_string());
        command.arg("--config").arg(format!("build.build-dir={build_dir}")).arg("--target-dir").arg(target_dir).args(selection);
        if self.locked {
            command.args(["--locked", "--no-default-features", "--features", &env.features.join(",")]);
        }
        // In place of whatever a configuration names. An empty value would do so too, and cost cargo its cache of what it
        // has asked rustc.
        command.env("RUSTC_WRAPPER", &self.tools.wrapper).env("RUSTC_WORKSPACE_WRAPPER", &self.tools.wrapper);
        command.env("CARGO_ENCODED_RUSTFLAGS", &self.flags).env("CARGO_INCREMENTAL", "0").env(env::DEVICE_PASS, "1");
        command
    }

    /// A command that shows a rejection outside of any build script.
    pub fn again(&self) -> String {
        let variables = format!("{}=1 RUSTFLAGS='--cfg {DEVICE_CFG}'", env::DEVICE_PASS);
        let features = if self.env.features.is_empty() { String::new() } else { format!(" --features {}", self.env.features.join(",")) };
        format!("shown again by: {variables} cargo check -p {} --no-default-features{features}", self.env.package)
    }

    /// What cargo would compile, as JSON; nothing is compiled. `None` if cargo cannot say.
    pub fn unit_graph(&self, selection: &[String]) -> Option<Vec<u8>> {
        let mut command = self.command(&self.tools.files.join("graph"), selection);
        command.args(["--unit-graph", "-Zunstable-options"]).env("RUSTC_BOOTSTRAP", "1");
        command.output().ok().filter(|output| output.status.success()).map(|output| output.stdout)
    }

    /// Compiles. A compile error is not an `Err`.
    pub fn check(&self, target_dir: &Path, skipped: &str, plan: &Plan) -> Result<Compiled, Error> {
        let mut command = self.command(target_dir, &plan.selection);
        let script = env::own_program()?;
        command.env("RELOCGPU_WRAP_ROOT", &self.env.manifest_dir).env("RELOCGPU_WRAP_FILES", &self.tools.files);
        command.env("RELOCGPU_WRAP_SKIP", skipped).env("RELOCGPU_WRAP_SCRIPT", script);
        let compiled = run(self.env, &mut command)?;
        let bitcode = compiled.artifacts.iter().filter_map(|a| artifacts::bitcode(a, &target_dir.join(&self.env.target)));
        let missing: Vec<PathBuf> = bitcode.filter(|b| !b.exists()).collect();
        if missing.is_empty() {
            return Ok(compiled);
        }
        // Cargo does not miss files that only our flags make: somebody has cleaned up among them. It misses its own.
        for bitcode in missing {
            let stem = bitcode.file_stem().unwrap_or_default().to_string_lossy();
            let _ = std::fs::remove_file(bitcode.with_file_name(format!("lib{stem}.rmeta")));
        }
        run(self.env, &mut command)
    }
}

/// Runs a `cargo check --message-format=json`.
fn run(env: &Env, command: &mut Command) -> Result<Compiled, Error> {
    let shown = shell_line(command);
    let failed = |stderr: String| Error::NestedCargo { package: env.package.clone(), command: shown.clone(), stderr };
    // The messages must not reach our standard output, where cargo would take them for instructions.
    let output = command.output().map_err(|e| failed(e.to_string()))?;
    let mut compiled = Compiled::default();
    for line in String::from_utf8_lossy(&output.stdout).lines().filter(|l| l.starts_with('{')) {
        match serde_json::from_str(line).map_err(|e| Error::Message { what: e.to_string(), line: line.to_owned() })? {
            Report::CompilerArtifact(artifact) => compiled.artifacts.push(artifact),
            Report::BuildScriptExecuted(script) => compiled.scripts.push(script),
            Report::CompilerMessage { message } if message.level.starts_with("error") => compiled.errors.extend(message.rendered),
            Report::CompilerMessage { .. } | Report::Other => {}
        }
    }
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    eprint!("{stderr}");
    if !output.status.success() && compiled.errors.is_empty() {
        return Err(failed(stderr));
    }
    Ok(compiled)
}
