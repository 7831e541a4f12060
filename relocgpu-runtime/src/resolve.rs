//! Host references to words: each expression is evaluated once per process, whatever number of records and images name it.

use crate::contract::image::{RawTable, TableThunk, ValueThunk};
use crate::contract::manifest::{Part, Target};
use crate::error::{Error, Result, Unresolved};
use crate::image::{self, Image};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::catch_unwind;
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
    let failures: Vec<_> = images.flat_map(|image| resolve(image).err().unwrap_or_default()).collect();
    if failures.is_empty() { Ok(()) } else { Err(Error::Unresolved(failures)) }
}

/// What a record's word is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// The word itself.
    Word(u64),
    /// The address of a table's elements on the device.
    TablePtr(RawTable),
}

// SAFETY: a table's elements live as long as the process and are never written; their type is `Sync` (`DeviceData`).
unsafe impl Send for Value {}

/// One value for each record of the image, in manifest order, or every failure.
pub(crate) fn values(image: &Image) -> Result<Vec<Value>> {
    resolve(image).map_err(Error::Unresolved)
}

fn resolve(image: &Image) -> std::result::Result<Vec<Value>, Vec<Unresolved>> {
    let manifest = &image.container.manifest;
    let (mut values, mut failures) = (Vec::with_capacity(manifest.records.len()), Vec::new());
    for (i, record) in manifest.records.iter().enumerate() {
        match record_value(&record.target, image.host_word(i)) {
            Ok(value) => values.push(value),
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

/// The value of one record, or why there is none.
fn record_value(target: &Target, host: *const ()) -> std::result::Result<Value, String> {
    match target {
        Target::Expr(_) | Target::Address if host.is_null() => Err("the linker left its word empty; build the program again".to_owned()),
        // SAFETY: for this part the host table holds a `ValueThunk` (contract).
        Target::Expr(Part::Value) => value(unsafe { std::mem::transmute::<*const (), ValueThunk>(host) }).map(Value::Word),
        // SAFETY: for these parts the host table holds a `TableThunk` (contract).
        Target::Expr(part) => table(unsafe { std::mem::transmute::<*const (), TableThunk>(host) }).map(|table| match part {
            Part::TableLen => Value::Word(table.len as u64),
            _ => Value::TablePtr(table),
        }),
        Target::Address => Ok(Value::Word(host.expose_provenance() as u64)),
        Target::Load { .. } | Target::Bound { .. } => {
            Err("this version of relocgpu-runtime does not resolve references of its kind; use the same version of relocgpu-build"
                .to_owned())
        }
    }
}

/// The word of a `host!` expression.
fn value(thunk: ValueThunk) -> std::result::Result<u64, String> {
    // SAFETY: a thunk is an ordinary Rust function made by the macro; it has no precondition.
    match once(thunk as usize, || Once::Word(unsafe { thunk() }))? {
        Once::Word(word) => Ok(word),
        Once::Table(_) => unreachable!("one thunk has one type"),
    }
}

/// The elements of a `host!(table: …)` expression.
pub(crate) fn table(thunk: TableThunk) -> std::result::Result<RawTable, String> {
    // SAFETY: as in `value`.
    match once(thunk as usize, || Once::Table(unsafe { thunk() }))? {
        Once::Table(table) => Ok(table),
        Once::Word(_) => unreachable!("one thunk has one type"),
    }
}

/// What a thunk returned.
#[derive(Clone, Copy)]
enum Once {
    Word(u64),
    Table(RawTable),
}

// SAFETY: as for `Value`.
unsafe impl Send for Once {}

/// Evaluations by address of the thunk.
#[derive(Default)]
struct Evaluations {
    done: HashMap<usize, std::result::Result<Once, String>>,
    running: HashMap<usize, ThreadId>,
    /// What a thread waits for that another one evaluates.
    waiting: HashMap<ThreadId, usize>,
}

impl Evaluations {
    /// Whether a thread that waited for `thunk` would wait for itself.
    fn waits_for(&self, mut thunk: usize, me: ThreadId) -> bool {
        loop {
            match self.running.get(&thunk) {
                Some(&owner) if owner == me => return true,
                Some(owner) => match self.waiting.get(owner) {
                    Some(&next) => thunk = next,
                    None => return false,
                },
                None => return false,
            }
        }
    }
}

/// The thunk's result: evaluated by the first caller, without a lock held; others wait. A thunk may use other thunks'
/// values; one that needs itself is an error, also around several threads.
fn once(thunk: usize, evaluate: impl FnOnce() -> Once + std::panic::UnwindSafe) -> std::result::Result<Once, String> {
    static STATE: Mutex<Option<Evaluations>> = Mutex::new(None);
    static CHANGED: Condvar = Condvar::new();
    // Nothing panics while it is locked.
    fn lock() -> MutexGuard<'static, Option<Evaluations>> {
        STATE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    let me = thread::current().id();
    let mut guard = lock();
    loop {
        let state = guard.get_or_insert_default();
        if let Some(done) = state.done.get(&thunk) {
            return done.clone();
        }
        if let Entry::Vacant(free) = state.running.entry(thunk) {
            free.insert(me);
            break;
        }
        if state.waits_for(thunk, me) {
            return Err("its expression needs its own value: it calls `init`, launches a kernel that uses it, or reads it; \
                        move that out of the expression"
                .to_owned());
        }
        state.waiting.insert(me, thunk);
        guard = CHANGED.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner());
        guard.get_or_insert_default().waiting.remove(&me);
    }
    drop(guard);

    let result = catch_unwind(evaluate).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        format!("its expression panicked: {}", text.unwrap_or("(a value that is no text)"))
    });
    let mut guard = lock();
    let state = guard.get_or_insert_default();
    state.running.remove(&thunk);
    state.done.insert(thunk, result.clone());
    CHANGED.notify_all();
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_image::{Item, image};
    use std::sync::atomic::{AtomicU32, Ordering};

    static CALLS: AtomicU32 = AtomicU32::new(0);
    extern "C-unwind" fn counted() -> u64 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_millis(20));
        42
    }
    extern "C-unwind" fn fails() -> u64 {
        panic!("GAIN is not set")
    }
    extern "C-unwind" fn fails_with_number() -> u64 {
        std::panic::panic_any(7u8)
    }
    extern "C-unwind" fn fails_as_table() -> RawTable {
        panic!("no file {}", "curve.txt")
    }
    extern "C-unwind" fn three() -> RawTable {
        crate::host_ref::raw_table(vec![1u16, 2, 3])
    }

    fn word(value: Value) -> u64 {
        match value {
            Value::Word(word) => word,
            Value::TablePtr(table) => table.data.addr() as u64,
        }
    }

    #[test]
    fn every_expression_is_evaluated_once_whatever_names_it() {
        let first = image(&[Item::Value("a", counted), Item::Value("b", counted)]);
        let second = image(&[Item::Value("c", counted)]);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    assert_eq!(values(first).unwrap().into_iter().map(word).collect::<Vec<_>>(), [42, 42]);
                    assert_eq!(values(second).unwrap().into_iter().map(word).collect::<Vec<_>>(), [42]);
                });
            }
        });
        assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn tables_give_an_address_and_a_length() {
        let values = values(image(&[Item::TableLen("t_len", three), Item::TablePtr("t_ptr", three)])).unwrap();
        let host = table(three).unwrap();
        assert_eq!([word(values[0]), word(values[1])], [3, host.data.addr() as u64]);
        assert_eq!((host.element_size, host.element_align), (2, 2));
    }

    #[test]
    fn all_failures_of_all_images_are_returned_at_once() {
        let first = image(&[Item::Value("bad", fails), Item::Value("good", counted), Item::Value("odd", fails_with_number)]);
        let second = image(&[Item::TableLen("t_len", fails_as_table), Item::TablePtr("t_ptr", fails_as_table), Item::Null("empty")]);
        for _ in 0..2 {
            let Err(Error::Unresolved(all)) = resolve_all([first, second].into_iter()) else { panic!("expected failures") };
            let found: Vec<_> = all.iter().map(|u| (u.name.as_str(), u.source.as_str(), u.cause.as_str())).collect();
            assert_eq!(
                found,
                [
                    ("bad", "src/main.rs:1:1", "its expression panicked: GAIN is not set"),
                    ("odd", "src/main.rs:3:1", "its expression panicked: (a value that is no text)"),
                    ("t_len", "src/main.rs:1:1", "its expression panicked: no file curve.txt"),
                    ("empty", "src/main.rs:3:1", "the linker left its word empty; build the program again"),
                ]
            );
        }
    }

    extern "C-unwind" fn outer() -> u64 {
        word(values(image(&[Item::Value("inner", inner)])).unwrap()[0]) + 1
    }
    extern "C-unwind" fn inner() -> u64 {
        5
    }
    #[test]
    fn an_expression_may_use_others() {
        assert_eq!(word(values(image(&[Item::Value("outer", outer)])).unwrap()[0]), 6);
    }

    extern "C-unwind" fn selfish() -> u64 {
        let Err(Error::Unresolved(all)) = values(image(&[Item::Value("again", selfish)])) else { panic!("expected an error") };
        panic!("{}", all[0].cause)
    }
    #[test]
    fn an_expression_that_needs_itself_is_an_error_and_no_deadlock() {
        let Err(Error::Unresolved(all)) = values(image(&[Item::Value("selfish", selfish)])) else { panic!("expected an error") };
        assert!(all[0].cause.contains("needs its own value"), "{}", all[0].cause);
    }

    static MEET: std::sync::Barrier = std::sync::Barrier::new(2);
    extern "C-unwind" fn left() -> u64 {
        MEET.wait();
        values(image(&[Item::Value("right", right)])).map_or(1, |_| 0)
    }
    extern "C-unwind" fn right() -> u64 {
        MEET.wait();
        values(image(&[Item::Value("left", left)])).map_or(1, |_| 0)
    }
    #[test]
    fn a_cycle_around_two_threads_is_an_error_and_no_deadlock() {
        std::thread::scope(|scope| {
            let a = scope.spawn(|| value(left).unwrap());
            let b = scope.spawn(|| value(right).unwrap());
            assert_eq!(a.join().unwrap() + b.join().unwrap(), 1, "exactly one of them sees the cycle");
        });
    }
}
