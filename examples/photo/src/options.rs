//! The command line.

use lexopt::prelude::*;
use std::path::{Path, PathBuf};

/// What to develop, and how.
pub struct Options {
    /// Photograph to read: PNG or JPEG.
    pub input: PathBuf,
    /// PNG or JPEG to write.
    pub output: PathBuf,
    /// How much of the detail is added back: 0 leaves the picture as soft as it is.
    pub strength: f32,
}

impl Options {
    /// Reads the arguments of the process.
    pub fn from_arguments() -> Result<Self, lexopt::Error> {
        let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let mut files = Vec::new();
        let mut strength = 1.0;
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("strength") => strength = parser.value()?.parse()?,
                Value(file) if files.len() < 2 => files.push(PathBuf::from(file)),
                other => return Err(other.unexpected()),
            }
        }
        let mut files = files.into_iter();
        match (files.next(), files.next()) {
            (None, _) => Ok(Self { input: package.join("astronaut.png"), output: target_folder().join("photo.png"), strength }),
            (Some(input), Some(output)) => Ok(Self { input, output, strength }),
            (Some(_), None) => Err("usage: photo [IN OUT] [--strength NUMBER]".into()),
        }
    }
}

/// `target` of the workspace that this example belongs to.
fn target_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).join("target")
}
