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

/// One word for each record, by kind of site, in manifest order.
pub(crate) fn words(backend: &dyn Backend, tables: &mut Tables, image: &Image, values: &[Value]) -> Result<Words> {
    let mut words = Words { slots: Vec::new(), interiors: Vec::new() };
    for (record, value) in image.container.manifest.records.iter().zip(values) {
        let word = match value {
            Value::Word(word) => *word,
            Value::TablePtr(table) => tables.address(backend, table)?,
        };
        match record.site {
            Site::Slot => words.slots.push(word),
            Site::Interior => words.interiors.push(word),
        }
    }
    Ok(words)
}
