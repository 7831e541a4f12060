//! Starting the nested cargo and reading its messages.

use crate::env::{self, Env};
use crate::error::Error;
use serde::Deserialize;
use std::path::PathBuf;
use std::process::Command;

/// Cargo on the package, with a clean environment.
pub(super) fn command(env: &Env) -> Command {
    let mut command = Command::new(&env.cargo);
    env::scrub(&mut command);
    command.current_dir(&env.manifest_dir).env("RUSTC", &env.rustc);
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
    /// The command.
    pub command: String,
}

/// A `compiler-artifact` message.
#[derive(Debug, Deserialize)]
pub(super) struct Artifact {
    pub package_id: String,
    pub manifest_path: PathBuf,
    pub target: super::metadata::Target,
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
enum Message {
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

/// Runs a prepared `cargo check --message-format=json`. A compile error is not an `Err`.
pub(super) fn check(env: &Env, mut command: Command) -> Result<Compiled, Error> {
    let shown = shell_line(&command);
    let failed = |stderr: String| Error::NestedCargo { package: env.package.clone(), command: shown.clone(), stderr };
    // The messages must not reach our standard output, where cargo would take them for instructions.
    let output = command.output().map_err(|e| failed(e.to_string()))?;
    let mut compiled = Compiled { command: shown.clone(), ..Compiled::default() };
    for line in String::from_utf8_lossy(&output.stdout).lines().filter(|l| l.starts_with('{')) {
        match serde_json::from_str(line).map_err(|e| Error::Message { what: e.to_string(), line: line.to_owned() })? {
            Message::CompilerArtifact(artifact) => compiled.artifacts.push(artifact),
            Message::BuildScriptExecuted(script) => compiled.scripts.push(script),
            Message::CompilerMessage { message } if message.level.starts_with("error") => compiled.errors.extend(message.rendered),
            Message::CompilerMessage { .. } | Message::Other => {}
        }
    }
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    eprint!("{stderr}");
    if !output.status.success() && compiled.errors.is_empty() {
        return Err(failed(stderr));
    }
    if output.status.success() {
        compiled.errors.clear();
    }
    Ok(compiled)
}

/// What a prepared `cargo check` would compile, as JSON; nothing is compiled. `None` if cargo cannot say.
pub(super) fn unit_graph(mut command: Command) -> Option<Vec<u8>> {
    command.args(["--unit-graph", "-Zunstable-options"]).env("RUSTC_BOOTSTRAP", "1");
    command.output().ok().filter(|output| output.status.success()).map(|output| output.stdout)
}
