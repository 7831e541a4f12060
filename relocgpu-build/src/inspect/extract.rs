//! Writes an image's code to files.
//!
//! ```text
//! DIR/photo-photo.sm_75.ptx                 one for each architecture
//! DIR/photo-photo.<object's file name>      its native objects, where FILE is an object or an archive of them
//! ```

use super::{Contents, InspectError, file_name};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What [`extract`] wrote.
#[derive(Debug, Default)]
pub struct Extracted {
    /// The files written.
    pub files: Vec<PathBuf>,
    /// Names of images whose native code is part of the file's own code and not written.
    pub linked: Vec<String>,
}

/// Writes PTX and native objects of every image to `folder`, which is made with its parents. Files of the same names
/// are replaced.
pub fn extract(contents: &Contents, folder: &Path) -> Result<Extracted, InspectError> {
    let failed = |path: &Path, source| InspectError::Write { path: path.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    let mut extracted = Extracted::default();
    let mut taken = HashSet::new();
    for image in &contents.images {
        let container = &image.container;
        let mut files: Vec<(String, &[u8])> =
            container.ptx.iter().map(|entry| (format!("{}.sm_{}.ptx", image.name, entry.arch), entry.text.as_bytes())).collect();
        files.extend(image.objects.iter().map(|object| (format!("{}.{}", image.name, file_name(&object.name)), object.bytes)));
        for (name, bytes) in files {
            let path = folder.join(free_name(&mut taken, name));
            std::fs::write(&path, bytes).map_err(|source| failed(&path, source))?;
            extracted.files.push(path);
        }
        if image.objects.is_empty() && !container.cpu_levels.is_empty() {
            extracted.linked.push(image.name.clone());
        }
    }
    Ok(extracted)
}

/// `name`, with a number before its extension if an earlier file of this run has it: archive members may share names.
fn free_name(taken: &mut HashSet<String>, name: String) -> String {
    let (stem, extension) = name.rsplit_once('.').map_or((name.as_str(), ""), |(stem, extension)| (stem, extension));
    let numbered = |number: usize| if number == 1 { name.clone() } else { format!("{stem}-{number}.{extension}") };
    (1..).map(numbered).find(|name| taken.insert(name.clone())).expect("numbers do not end")
}
