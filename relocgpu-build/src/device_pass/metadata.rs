//! `cargo metadata --no-deps`: the package as cargo sees it, after workspace inheritance. Resolves nothing, downloads
//! nothing, writes nothing.

use super::cargo;
use crate::env::Env;
use crate::error::Error;
use crate::parent::Parent;
use serde::Deserialize;
use std::path::PathBuf;

/// The workspace that the package's folder belongs to.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    /// Folder of the workspace's manifest.
    pub workspace_root: PathBuf,
    /// Members.
    pub packages: Vec<Package>,
}

/// One member.
#[derive(Debug, Deserialize)]
pub(super) struct Package {
    /// Package id specification.
    pub id: String,
    pub name: String,
    pub version: String,
    pub targets: Vec<Target>,
}

/// One target of a package.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Target {
    pub name: String,
    pub kind: Vec<String>,
    pub crate_types: Vec<String>,
    pub src_path: PathBuf,
    #[serde(default, rename = "required-features")]
    pub required_features: Vec<String>,
}

/// Asks cargo.
pub(super) fn read(env: &Env, parent: &Parent) -> Result<Metadata, Error> {
    let mut command = cargo::command(env, parent, "metadata", &env.manifest_dir.join("Cargo.toml"));
    command.args(["--no-deps", "--offline", "--format-version=1"]);
    let shown = cargo::shell_line(&command);
    let failed = |stderr: String| Error::NestedCargo { package: env.package.clone(), command: shown.clone(), stderr };
    let output = command.output().map_err(|e| failed(e.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| Error::Message { what: e.to_string(), line: shown })
}

impl Metadata {
    /// The package whose build script this is.
    pub fn own(&self, env: &Env) -> Result<&Package, Error> {
        let found = self.packages.iter().find(|p| p.name == env.package && p.version == env.version);
        found.ok_or_else(|| Error::NotAMember { package: env.package.clone(), workspace: self.workspace_root.clone() })
    }
}
