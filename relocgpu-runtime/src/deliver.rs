//! Values to the words of an image on one device.

use crate::backend::{Backend, DeviceKind, DevicePtr, Words};
use crate::contract::image::RawTable;
use crate::contract::manifest::Site;
use crate::error::Result;
use crate::image::Image;
use crate::resolve::Value;
use std::collections::HashMap;

/// The tables that lie on a device, by the host address of their elements. They stay for the life of the process.
#[derive(Default)]
pub(crate) struct Tables(HashMap<(usize, usize), DevicePtr>);

impl Tables {
    /// Address of the table's elements on the device; copied there the first time.
    fn address(&mut self, backend: &dyn Backend, table: &RawTable) -> Result<DevicePtr> {
        let host = table.data.expose_provenance();
        let bytes = table.len * table.element_size;
        // The elements are constant, so the CPU device reads them where they are.
        if bytes == 0 || backend.kind() == DeviceKind::Cpu {
            return Ok(host as DevicePtr);
        }
        if let Some(&at) = self.0.get(&(host, bytes)) {
            return Ok(at);
        }
        let at = backend.allocate(bytes)?;
        // SAFETY: a table's elements live as long as the process (contract).
        let elements = unsafe { std::slice::from_raw_parts(table.data.cast(), bytes) };
        backend.write(at, elements).inspect_err(|_| backend.free(at, bytes))?;
        self.0.insert((host, bytes), at);
        Ok(at)
    }
}

/// One word for each record of the image, in manifest order.
pub(crate) fn words(backend: &dyn Backend, tables: &mut Tables, values: &[Value]) -> Result<Vec<u64>> {
    let word = |value: &Value| match value {
        Value::Word(word) => Ok(*word),
        Value::TablePtr(table) => tables.address(backend, table),
    };
    values.iter().map(word).collect()
}

/// The words by kind of site.
pub(crate) fn by_site(image: &Image, words: &[u64]) -> Words {
    let of = |site| image.container.manifest.records.iter().zip(words).filter(move |(r, _)| r.site == site).map(|(_, &w)| w).collect();
    Words { slots: of(Site::Slot), interiors: of(Site::Interior) }
}
