//! Real packages built by real cargo: copies of `tests/fixtures`, one target folder for all of them.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard};

/// Tests take turns: they share the target folder, and some look at what a build left there.
static TURN: Mutex<()> = Mutex::new(());

/// A copy of the fixtures.
pub struct Fixture {
    /// `shapes`, `consumer` and the rest.
    pub dir: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

/// How a command ended.
pub struct Run {
    pub ok: bool,
    pub stdout: String,
    pub stderr: String,
}

impl Fixture {
    /// The copy of this name, brought back to the fixtures' state. A stable folder: cargo need not compile it anew for
    /// each run of the tests.
    pub fn new(name: &str) -> Self {
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let dir = scratch().join(name);
        let root = root();
        let text = root.join("tests/fixtures");
        sync(&text, &dir, &root);
        let lock = fs::read(root.join("Cargo.lock")).unwrap();
        for workspace in ["shapes", "consumer", "registered", "twice"] {
            let path = dir.join(workspace).join("Cargo.lock");
            // Cargo prunes it to what the workspace needs.
            if !path.exists() {
                fs::write(path, &lock).unwrap();
            }
        }
        Self { dir, _turn: turn }
    }

    /// A cargo command in one of the workspaces.
    pub fn cargo(&self, workspace: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO"));
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if ["RELOCGPU_", "CARGO_PKG_", "CARGO_BIN_", "RUSTC_WRAPPER", "RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_TARGET_DIR"]
                .iter()
                .any(|p| name.starts_with(p))
            {
                command.env_remove(name);
            }
        }
        command.current_dir(self.dir.join(workspace)).args(args).env("CARGO_TARGET_DIR", target());
        command.env("CARGO_INCREMENTAL", "0").env("CARGO_TERM_COLOR", "never").env("CARGO_NET_OFFLINE", "true");
        command
    }

    /// Runs it.
    pub fn run(&self, workspace: &str, args: &[&str]) -> Run {
        run(&mut self.cargo(workspace, args))
    }

    /// Runs it and returns its standard output; anything but success fails the test.
    pub fn output(&self, workspace: &str, args: &[&str]) -> String {
        let run = self.run(workspace, args);
        assert!(run.ok, "cargo {args:?} in {workspace}:\n{}\n{}", run.stdout, run.stderr);
        run.stdout
    }

    /// Puts the package `twice` into the workspace `shapes` as well, and makes `loader` depend on it.
    pub fn twice_in_workspace(&self) {
        let (from, to) = (self.dir.join("twice"), self.dir.join("shapes/twice"));
        fs::create_dir_all(to.join("src")).unwrap();
        for file in ["Cargo.toml", "build.rs", "src/lib.rs", "src/main.rs"] {
            fs::copy(from.join(file), to.join(file)).unwrap();
        }
        self.edit("shapes/Cargo.toml", "\"loader\"", "\"loader\", \"twice\"");
        self.edit("shapes/loader/Cargo.toml", "[dependencies]\n", "[dependencies]\ntwice = { path = \"../twice\" }\n");
    }

    /// Replaces text in a file of the copy.
    pub fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.dir.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from:?}");
        fs::write(path, text.replace(from, to)).unwrap();
    }
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Run {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Run { ok: output.status.success(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Cargo's JSON messages with this reason.
pub fn messages(stdout: &str, reason: &str) -> Vec<Value> {
    let lines = stdout.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(|message| message["reason"] == reason).collect()
}

/// Compile errors as (code, file, line, all that is shown); rustc's closing summary is none.
pub fn errors(stdout: &str) -> Vec<(String, String, u64, String)> {
    let found = messages(stdout, "compiler-message").into_iter().filter(|m| m["message"]["level"] == "error");
    let with_span = found.filter(|m| !m["message"]["spans"].as_array().unwrap().is_empty());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    with_span
        .map(|m| {
            let (message, span) = (&m["message"], &m["message"]["spans"][0]);
            (text(&message["code"]["code"]), text(&span["file_name"]), span["line_start"].as_u64().unwrap(), text(&message["rendered"]))
        })
        .collect()
}

/// Target folder of all fixtures.
pub fn target() -> PathBuf {
    scratch().join("target")
}

fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds")
}

/// Root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Makes `to` equal to `from` with the repository's path filled in; files that are equal keep their age. What a test
/// added is removed, lock files stay.
fn sync(from: &Path, to: &Path, root: &Path) {
    fs::create_dir_all(to).unwrap();
    let names = |dir: &Path| fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>();
    for name in names(to) {
        if !from.join(&name).exists() && name != "Cargo.lock" {
            let path = to.join(&name);
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
    }
    for name in names(from) {
        let (source, copy) = (from.join(&name), to.join(&name));
        if source.is_dir() {
            sync(&source, &copy, root);
            continue;
        }
        let text = fs::read_to_string(&source).unwrap().replace("@RELOCGPU@", &root.display().to_string());
        if fs::read_to_string(&copy).ok().as_deref() != Some(&text) {
            fs::write(copy, text).unwrap();
        }
    }
}
