//! Values to the words of an image on one device.

use crate::backend::{Backend, Bytes, DeviceKind, DevicePtr, Words};
use crate::contract::image::{RawMapped, RawStatic, RawTable, StaticThunk};
use crate::contract::manifest::Site;
use crate::error::Result;
use crate::handle::Device;
use crate::image::Image;
use crate::resolve::{self, Value};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::PoisonError;

/// What host references have on one device. It stays for the life of the process.
#[derive(Default)]
pub(crate) struct Memory {
    /// Tables by host address and bytes of their elements.
    tables: HashMap<(usize, usize), DevicePtr>,
    /// Mapped memory by host address.
    mapped: HashMap<usize, DevicePtr>,
    /// Device statics by thunk.
    statics: HashMap<usize, DevicePtr>,
}

impl Memory {
    /// Address of the table's elements on the device; copied there the first time.
    fn table(&mut self, backend: &dyn Backend, table: &RawTable) -> Result<DevicePtr> {
        let host = table.data.expose_provenance();
        let bytes = table.len * table.element_size;
        // The elements are constant, so the CPU device reads them where they are.
        if bytes == 0 || backend.kind() == DeviceKind::Cpu {
            return Ok(host as DevicePtr);
        }
        match self.tables.entry((host, bytes)) {
            Entry::Occupied(there) => Ok(*there.get()),
            // SAFETY: a table's elements live as long as the process (contract).
            Entry::Vacant(free) => Ok(*free.insert(copy(backend, unsafe { std::slice::from_raw_parts(table.data.cast(), bytes) })?)),
        }
    }

    fn mapped(&mut self, backend: &dyn Backend, memory: &RawMapped) -> Result<DevicePtr> {
        match self.mapped.entry(memory.data.addr()) {
            Entry::Occupied(there) => Ok(*there.get()),
            Entry::Vacant(free) => Ok(*free.insert(backend.map(memory.data, memory.bytes)?)),
        }
    }

    fn device_static(&mut self, backend: &dyn Backend, thunk: StaticThunk, initial: &RawStatic) -> Result<DevicePtr> {
        if initial.bytes == 0 {
            return Ok(initial.data.expose_provenance() as DevicePtr);
        }
        match self.statics.entry(thunk as usize) {
            Entry::Occupied(there) => Ok(*there.get()),
            Entry::Vacant(free) => {
                // SAFETY: the initial value lives as long as the process, and nothing writes to it (contract).
                Ok(*free.insert(copy(backend, unsafe { std::slice::from_raw_parts(initial.data.cast(), initial.bytes) })?))
            }
        }
    }
}

/// New memory of the device with these bytes.
fn copy(backend: &dyn Backend, bytes: &Bytes) -> Result<DevicePtr> {
    let at = backend.allocate(bytes.len())?;
    backend.write(at, bytes).inspect_err(|_| backend.free(at, bytes.len()))?;
    Ok(at)
}

/// One word for each record of the image, in manifest order.
pub(crate) fn words(device: &Device, image: &Image) -> Result<Vec<u64>> {
    // Before the lock: this runs the program's expressions, which may use the device.
    let values = resolve::values(image, device)?;
    let backend = &*device.inner.backend;
    let mut memory = device.inner.memory.lock().unwrap_or_else(PoisonError::into_inner);
    let word = |value: &Value| match value {
        Value::Word(word) => Ok(*word),
        Value::TablePtr(table) => memory.table(backend, table),
        Value::Mapped(mapped) => memory.mapped(backend, mapped),
        Value::Static(thunk, initial) => memory.device_static(backend, *thunk, initial),
    };
    values.iter().map(word).collect()
}

impl Device {
    /// Address of a device static's memory, made the first time.
    pub(crate) fn static_address(&self, thunk: StaticThunk) -> Result<DevicePtr> {
        let initial = resolve::device_static(thunk).map_err(|cause| crate::Error::Static { cause })?;
        let mut memory = self.inner.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.device_static(&*self.inner.backend, thunk, &initial)
    }
}

/// The words by kind of site.
pub(crate) fn by_site(image: &Image, words: &[u64]) -> Words {
    let manifest = &image.container.manifest;
    let interiors = manifest.records.iter().zip(words).filter(|(record, _)| record.site == Site::Interior);
    Words {
        slots: manifest.slots().map(|(record, _)| words[record]).collect(),
        interiors: interiors.map(|(_, word)| *word).collect(),
        all: words.to_vec(),
    }
}
