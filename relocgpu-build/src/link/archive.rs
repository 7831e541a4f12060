//! Bitcode in the archives of the standard library.

use crate::stage_error::StageError;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};
use std::path::Path;

/// Bitcode of the members of an archive that carry it.
pub(super) fn members(path: &Path) -> Result<Vec<Vec<u8>>, StageError> {
    let file = |source| StageError::File { path: path.into(), source };
    let bytes = std::fs::read(path).map_err(file)?;
    let damaged = |e: object::Error| StageError::unit("link", format!("{}: not a readable archive: {e}", path.display()));
    let archive = ArchiveFile::parse(&*bytes).map_err(damaged)?;
    let mut members = Vec::new();
    for member in archive.members() {
        let data = member.map_err(damaged)?.data(&*bytes).map_err(damaged)?;
        // Metadata members are no objects.
        let Ok(object) = object::File::parse(data) else { continue };
        let Some(section) = object.section_by_name(".llvmbc") else { continue };
        members.push(section.data().map_err(damaged)?.to_vec());
    }
    if members.is_empty() {
        return Err(StageError::unit(
            "link",
            format!("{} carries no bitcode; relocgpu needs the standard library as rustup installs it", path.display()),
        ));
    }
    Ok(members)
}
