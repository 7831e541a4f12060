//! What `RELOCGPU_KEEP` shows of a unit.
//!
//! | file | made by |
//! |---|---|
//! | `1-linked.ll` | link |
//! | `2-normalised.ll` | normalise |
//! | `3-unit.ll`, `3-unit.bc` | relocate: as text, and the very bytes that the hash covers |
//! | `4-sm_75.legal.ll`, `4-sm_75.optimised.ll`, `4-sm_75.ptx` | lowering to PTX |
//! | `4-x86-64.o` | lowering to native code |

use crate::error::Error;
use inkwell::module::Module;
use std::fs;
use std::path::Path;

/// The folder for intermediates, if anybody wants them.
#[derive(Clone, Copy)]
pub(crate) struct Keep<'a> {
    folder: Option<&'a Path>,
}

impl<'a> Keep<'a> {
    /// Keeps in this folder, which is made when it is needed.
    pub fn in_folder(folder: Option<&'a Path>) -> Self {
        Self { folder }
    }

    /// Keeps a module as text.
    pub fn module(&self, name: &str, module: &Module) -> Result<(), Error> {
        self.file(name, || module.print_to_string().to_string())
    }

    /// Keeps a file.
    pub fn file<B: AsRef<[u8]>>(&self, name: &str, bytes: impl FnOnce() -> B) -> Result<(), Error> {
        let Some(folder) = self.folder else { return Ok(()) };
        let path = folder.join(name);
        fs::create_dir_all(folder).map_err(Error::file("make the folder", folder))?;
        fs::write(&path, bytes()).map_err(Error::file("write", &path))
    }
}
