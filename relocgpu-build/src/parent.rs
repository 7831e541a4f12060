//! The process that started the build script: cargo, whose command line and folder no variable tells.

use std::path::{Path, PathBuf};

/// What can be seen of the outer cargo; everything is absent where the system does not show it.
#[derive(Debug, Default)]
pub(crate) struct Parent {
    /// Folder in which it was started.
    pub cwd: Option<PathBuf>,
    /// Folder of the manifest that its command line names.
    pub manifest_dir: Option<PathBuf>,
    /// Its subcommand.
    pub subcommand: Option<String>,
    /// Values of its `--config` options.
    pub configs: Vec<String>,
}

impl Parent {
    /// Looks at the parent process.
    pub fn look() -> Self {
        let process = PathBuf::from(format!("/proc/{}", std::os::unix::process::parent_id()));
        let cwd = std::fs::read_link(process.join("cwd")).ok();
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let words: Vec<String> = line.split(|b| *b == 0).map(|w| String::from_utf8_lossy(w).into_owned()).collect();
        Self {
            manifest_dir: manifest(&words)
                .map(|m| cwd.as_deref().unwrap_or(Path::new("/")).join(m))
                .and_then(|m| m.parent().map(Path::to_owned)),
            subcommand: subcommand(&words),
            configs: values(&words, "--config"),
            cwd,
        }
    }

    /// Whether the outer build only makes documentation.
    pub fn documents(&self) -> bool {
        self.subcommand.as_deref().is_some_and(|s| ["doc", "d", "rustdoc"].contains(&s))
    }
}

/// The first word that is no option, no option's value and no toolchain.
fn subcommand(words: &[String]) -> Option<String> {
    const WITH_VALUE: [&str; 6] = ["--color", "--config", "--explain", "--manifest-path", "-C", "-Z"];
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') && !word.starts_with('+') {
            return Some(word.clone()).filter(|w| !w.is_empty());
        }
    }
    None
}

fn manifest(words: &[String]) -> Option<String> {
    values(words, "--manifest-path").pop()
}

/// What stands after each `option`, or behind its `=`. What follows `--` is for others.
fn values(words: &[String], option: &str) -> Vec<String> {
    let words: Vec<&String> = words.iter().take_while(|w| *w != "--").collect();
    let value = |(i, word): (usize, &&String)| match word.strip_prefix(option)? {
        "" => words.get(i + 1).map(|next| (*next).clone()),
        rest => rest.strip_prefix('=').map(str::to_owned),
    };
    words.iter().enumerate().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_subcommand_comes_after_options() {
        let of = |line| subcommand(&words(line)).unwrap_or_default();
        assert_eq!(of("cargo doc --no-deps"), "doc");
        assert_eq!(of("cargo +stable --config doc.browser=\"x\" -Z unstable build"), "build");
        assert_eq!(of("cargo -v --color always rustdoc"), "rustdoc");
        assert_eq!(of("cargo"), "");
    }

    #[test]
    fn the_manifest_is_named_in_two_ways() {
        assert_eq!(manifest(&words("cargo build --manifest-path a/Cargo.toml")).as_deref(), Some("a/Cargo.toml"));
        assert_eq!(manifest(&words("cargo build --manifest-path=b/Cargo.toml")).as_deref(), Some("b/Cargo.toml"));
        assert_eq!(values(&words("cargo --config a=1 build --config=b.toml -- --config c"), "--config"), ["a=1", "b.toml"]);
    }
}
