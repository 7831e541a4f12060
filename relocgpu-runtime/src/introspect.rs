//! What a program carries, for programs that want to print it.

use crate::contract::manifest::{Part, Target};
use crate::error::{Error, Result};
use crate::handle::Device;
use crate::{deliver, image};

/// One image of this executable or library.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImageInfo {
    /// Package, version and target.
    pub name: String,
    /// SHA-256 of the relocatable unit: the same in every process and for every device.
    pub hash: [u8; 32],
    /// Names of its kernels.
    pub kernels: Vec<String>,
    /// Architecture (`75` for `sm_75`) and PTX text, by rising architecture.
    pub ptx: Vec<(u32, String)>,
    /// Target CPUs of its native code, by rising level.
    pub cpu_levels: Vec<String>,
}

/// The images of this executable or library.
///
/// # Errors
/// [`Error::BadImages`] if images cannot be read.
pub fn images() -> Result<Vec<ImageInfo>> {
    let bad: Vec<_> = image::all().iter().filter_map(|image| image.as_ref().err().cloned()).collect();
    if !bad.is_empty() {
        return Err(Error::BadImages(bad));
    }
    let info = |image: &image::Image| ImageInfo {
        name: image.name(),
        hash: image.container.unit_hash,
        kernels: image.container.manifest.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
        ptx: image.container.ptx.iter().map(|entry| (entry.arch, entry.text.to_string())).collect(),
        cpu_levels: image.container.cpu_levels.clone(),
    };
    Ok(image::readable().map(info).collect())
}

/// One word of a host reference, as a device has it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReferenceInfo {
    /// Name of its site in the image.
    pub name: String,
    /// What it is: `value of gain()`, `address of …`.
    pub target: String,
    /// `file:line:column`.
    pub source: String,
    /// The resolved word.
    pub word: u64,
}

impl Device {
    /// The host references of this program's images, resolved for this device, in the order of their manifests.
    ///
    /// # Errors
    /// [`Error::Unresolved`] if some cannot be resolved; if a table cannot be copied to the device.
    pub fn references(&self) -> Result<Vec<ReferenceInfo>> {
        let mut all = Vec::new();
        for image in image::readable() {
            let words = deliver::words(self, image)?;
            let sources = &image.container.source_map.records;
            for ((record, origin), word) in image.container.manifest.records.iter().zip(sources).zip(words) {
                let target = describe(&record.target, &origin.text);
                all.push(ReferenceInfo { name: record.name.clone(), target, source: origin.source.clone(), word });
            }
        }
        Ok(all)
    }
}

fn describe(target: &Target, text: &str) -> String {
    match target {
        Target::Expr(Part::Value) => format!("value of `{text}`"),
        Target::Expr(Part::TablePtr) => format!("elements of `{text}`"),
        Target::Expr(Part::TableLen) => format!("length of `{text}`"),
        Target::Expr(Part::DeviceValue) => format!("value of `{text}` for the device"),
        Target::Expr(Part::Mapped | Part::Static) => format!("memory of `{text}`"),
        Target::Address => format!("address of `{text}`"),
        Target::Load { symbol, ty, library: None, offset } => format!("`{ty}` at `{symbol}` + {offset}"),
        Target::Load { symbol, ty, library: Some(library), offset } => format!("`{ty}` at `{symbol}` + {offset} of {library}"),
        Target::Bound { name, ty } => format!("`{ty}` bound to `{name}`"),
    }
}
