//! Host references to words: each expression is evaluated once per process, whatever number of records and images name it.

use crate::contract::image::{DeviceValueThunk, MappedThunk, RawMapped, RawStatic, RawTable, StaticThunk, TableThunk, ValueThunk};
use crate::contract::manifest::{Part, Target};
use crate::error::{Error, Result, Unresolved};
use crate::handle::Device;
use crate::host_ref::{HostWord, named};
use crate::image::{self, Image};
use std::any::TypeId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread::{self, ThreadId};

/// Resolves every host reference of this program now. Without it each image's are resolved before its first launch.
///
/// Call it first in `main`: what is missing shows at once and together. Later calls return the same answer; expressions
/// are not evaluated again.
///
/// # Errors
/// [`Error::Unresolved`] with every reference that failed, by name and source line: its expression panicked, or needs
/// itself. [`Error::BadImages`] if images cannot be read.
pub fn init() -> Result<()> {
    let bad: Vec<_> = image::all().iter().filter_map(|image| image.as_ref().err().cloned()).collect();
    if !bad.is_empty() {
        return Err(Error::BadImages(bad));
    }
    resolve_all(image::readable())
}

/// Resolves the records of several images; all failures together.
fn resolve_all<'a>(images: impl Iterator<Item = &'a Image>) -> Result<()> {
    let failures: Vec<_> = images.flat_map(|image| resolve(image, None).err().unwrap_or_default()).collect();
    if failures.is_empty() { Ok(()) } else { Err(Error::Unresolved(failures)) }
}

/// What a record's word is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// The word itself.
    Word(u64),
    /// The address of a table's elements on the device.
    TablePtr(RawTable),
    /// The address of mapped memory on the device.
    Mapped(RawMapped),
    /// The address of a device static: of which, and its initial value.
    Static(StaticThunk, RawStatic),
}

// SAFETY: what it points at lives as long as the process, and its type is `Sync` (`DeviceData`).
unsafe impl Send for Value {}

/// One value for each record of the image on this device, in manifest order, or every failure.
pub(crate) fn values(image: &Image, device: &Device) -> Result<Vec<Value>> {
    resolve(image, Some(device)).map_err(Error::Unresolved)
}

/// Without a device, what differs from device to device is left out.
fn resolve(image: &Image, device: Option<&Device>) -> std::result::Result<Vec<Value>, Vec<Unresolved>> {
    let manifest = &image.container.manifest;
    let (mut values, mut failures) = (Vec::with_capacity(manifest.records.len()), Vec::new());
    for (i, record) in manifest.records.iter().enumerate() {
        match record_value(&record.target, image.host_word(i), device) {
            Ok(value) => values.extend(value),
            Err(cause) => {
                let origin = &image.container.source_map.records[i];
                // A table has two records and one expression: it fails once.
                if !failures.iter().any(|f: &Unresolved| f.source == origin.source && f.text == origin.text && f.cause == cause) {
                    let (source, text) = (origin.source.clone(), origin.text.clone());
                    failures.push(Unresolved { name: record.name.clone(), source, text, cause });
                }
            }
        }
    }
    if failures.is_empty() { Ok(values) } else { Err(failures) }
}

/// The value of one record, if it has one without a device; or why there is none.
fn record_value(target: &Target, host: *const (), device: Option<&Device>) -> Outcome<Option<Value>> {
    if host.is_null() {
        return Err("the linker left its word empty; build the program again".to_owned());
    }
    let value = match target {
        Target::Bound { name, .. } => {
            named::is_bound(name)?;
            // Not kept: what is bound is the value.
            let thunk: ValueThunk = thunk(host);
            // SAFETY: as in `value`.
            Value::Word(evaluate(|| Once::Word(unsafe { thunk() }))?.word())
        }
        Target::Load { symbol, library, .. } => {
            named::address_of(symbol, library.as_deref())?;
            Value::Word(value(thunk(host))?)
        }
        Target::Expr(Part::Value) => Value::Word(value(thunk(host))?),
        Target::Expr(Part::DeviceValue) => {
            let Some(device) = device else { return Ok(None) };
            Value::Word(device_value(thunk(host), device)?)
        }
        Target::Expr(part @ (Part::TablePtr | Part::TableLen)) => {
            let table = table(thunk(host))?;
            if *part == Part::TableLen { Value::Word(table.len as u64) } else { Value::TablePtr(table) }
        }
        Target::Expr(Part::Mapped) => Value::Mapped(mapped(thunk(host))?),
        Target::Expr(Part::Static) => {
            let thunk: StaticThunk = thunk(host);
            Value::Static(thunk, device_static(thunk)?)
        }
        // SAFETY: the host table holds the address of a constant word (contract).
        Target::Address => Value::Word(unsafe { *host.cast::<*const ()>() }.expose_provenance() as u64),
    };
    Ok(Some(value))
}

/// A word of the host table as the thunk that the contract says it is for its record's target.
fn thunk<T: Copy>(host: *const ()) -> T {
    const { assert!(size_of::<T>() == size_of::<*const ()>()) }
    // SAFETY: of the same size, and not null; the callers name the type that the contract gives to the target.
    unsafe { std::mem::transmute_copy(&host) }
}

/// A value, or why there is none, as a clause.
type Outcome<T> = std::result::Result<T, String>;

/// The word of a `host!` expression.
fn value(thunk: ValueThunk) -> Outcome<u64> {
    // SAFETY: a thunk is an ordinary Rust function made by the macro; it has no precondition.
    once(Key::Thunk(thunk as usize, 0), || Once::Word(unsafe { thunk() })).map(Once::word)
}

/// The word of a `host!` expression that depends on a generic kernel's instance.
pub(crate) fn instance_word<R: HostWord>(instance: TypeId, number: u32, expression: fn() -> R) -> Outcome<u64> {
    once(Key::Instance(instance, number), || Once::Word(expression().to_word())).map(Once::word)
}

/// The word of a `host!(|device| …)` expression on one device.
fn device_value(thunk: DeviceValueThunk, device: &Device) -> Outcome<u64> {
    let evaluate = AssertUnwindSafe(|| {
        // SAFETY: as in `value`; the argument is a device (contract).
        Once::Word(unsafe { thunk((&raw const *device).cast()) })
    });
    once(Key::Thunk(thunk as usize, device.inner.id), evaluate).map(Once::word)
}

/// The elements of a `host!(table: …)` expression.
pub(crate) fn table(thunk: TableThunk) -> Outcome<RawTable> {
    // SAFETY: as in `value`.
    match once(Key::Thunk(thunk as usize, 0), || Once::Table(unsafe { thunk() }))? {
        Once::Table(table) => Ok(table),
        _ => unreachable!("one thunk has one type"),
    }
}

/// The memory of a `host!(mapped: …)`.
pub(crate) fn mapped(thunk: MappedThunk) -> Outcome<RawMapped> {
    // SAFETY: as in `value`.
    match once(Key::Thunk(thunk as usize, 0), || Once::Mapped(unsafe { thunk() }))? {
        Once::Mapped(memory) => Ok(memory),
        _ => unreachable!("one thunk has one type"),
    }
}

/// The initial value of a `device!(static: …)`.
pub(crate) fn device_static(thunk: StaticThunk) -> Outcome<RawStatic> {
    // SAFETY: as in `value`.
    match once(Key::Thunk(thunk as usize, 0), || Once::Static(unsafe { thunk() }))? {
        Once::Static(initial) => Ok(initial),
        _ => unreachable!("one thunk has one type"),
    }
}

/// A number that another one replaces whenever a value of the host may have changed.
pub(crate) fn state() -> u64 {
    STATE.load(Ordering::Acquire)
}

/// Notes that a value of the host may have changed.
pub(crate) fn changed() {
    STATE.fetch_add(1, Ordering::Release);
}

static STATE: AtomicU64 = AtomicU64::new(0);

/// Lets the images' expressions be evaluated again when they are next asked for, but for those that own memory.
pub(crate) fn forget<'a>(images: impl Iterator<Item = &'a Image>, device: &Device) {
    let mut guard = evaluations();
    let done = &mut guard.get_or_insert_default().done;
    for image in images {
        for (i, record) in image.container.manifest.records.iter().enumerate() {
            let thunk = image.host_word(i) as usize;
            match record.target {
                Target::Expr(Part::Value) | Target::Load { .. } => _ = done.remove(&Key::Thunk(thunk, 0)),
                Target::Expr(Part::DeviceValue) => _ = done.remove(&Key::Thunk(thunk, device.inner.id)),
                _ => {}
            }
        }
    }
    // They travel with launches: no image says whose they are.
    done.retain(|key, _| !matches!(key, Key::Instance(..)));
    drop(guard);
    changed();
}

/// Runs an expression; its panic is the reason why there is no value.
fn evaluate(expression: impl FnOnce() -> Once + std::panic::UnwindSafe) -> Outcome<Once> {
    catch_unwind(expression).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        format!("its expression panicked: {}", text.unwrap_or("(a value that is no text)"))
    })
}

/// What a thunk returned.
#[derive(Clone, Copy)]
enum Once {
    Word(u64),
    Table(RawTable),
    Mapped(RawMapped),
    Static(RawStatic),
}

impl Once {
    fn word(self) -> u64 {
        match self {
            Self::Word(word) => word,
            _ => unreachable!("one thunk has one type"),
        }
    }
}

// SAFETY: as for `Value`.
unsafe impl Send for Once {}

/// One evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// Address of a thunk, and the device that it takes; 0 if none.
    Thunk(usize, usize),
    /// A generic kernel's instance, and the number of the word.
    Instance(TypeId, u32),
}

/// Evaluations by thunk and device.
#[derive(Default)]
struct Evaluations {
    done: HashMap<Key, Outcome<Once>>,
    running: HashMap<Key, ThreadId>,
    /// What a thread waits for that another one evaluates.
    waiting: HashMap<ThreadId, Key>,
}

fn evaluations() -> MutexGuard<'static, Option<Evaluations>> {
    static EVALUATIONS: Mutex<Option<Evaluations>> = Mutex::new(None);
    // Nothing panics while it is locked.
    EVALUATIONS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Evaluations {
    /// Whether a thread that waited for `key` would wait for itself.
    fn waits_for(&self, mut key: Key, me: ThreadId) -> bool {
        loop {
            match self.running.get(&key) {
                Some(&owner) if owner == me => return true,
                Some(owner) => match self.waiting.get(owner) {
                    Some(&next) => key = next,
                    None => return false,
                },
                None => return false,
            }
        }
    }
}

/// The thunk's result: evaluated by the first caller, without a lock held; others wait. A thunk may use other thunks'
/// values; one that needs itself is an error, also around several threads.
fn once(key: Key, expression: impl FnOnce() -> Once + std::panic::UnwindSafe) -> Outcome<Once> {
    static CHANGED: Condvar = Condvar::new();
    let lock = evaluations;

    let me = thread::current().id();
    let mut guard = lock();
    loop {
        let state = guard.get_or_insert_default();
        if let Some(done) = state.done.get(&key) {
            return done.clone();
        }
        if let Entry::Vacant(free) = state.running.entry(key) {
            free.insert(me);
            break;
        }
        if state.waits_for(key, me) {
            return Err("its expression needs its own value: it calls `init`, launches a kernel that uses it, or reads it; \
                        move that out of the expression"
                .to_owned());
        }
        state.waiting.insert(me, key);
        guard = CHANGED.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner());
        guard.get_or_insert_default().waiting.remove(&me);
    }
    drop(guard);

    let result = evaluate(expression);
    let mut guard = lock();
    let state = guard.get_or_insert_default();
    state.running.remove(&key);
    state.done.insert(key, result.clone());
    CHANGED.notify_all();
    result
}

#[cfg(test)]
mod tests;
