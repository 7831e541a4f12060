//! Words by name: those that the program binds, and those that are stored at a symbol.

use super::HostWord;
use crate::error::{Error, Result};
use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

struct Bound {
    word: u64,
    ty: TypeId,
    type_name: &'static str,
}

fn bound_words() -> MutexGuard<'static, HashMap<String, Bound>> {
    static BOUND: LazyLock<Mutex<HashMap<String, Bound>>> = LazyLock::new(Mutex::default);
    BOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives every `host!(bound: "name" as T)` of the program its value; before [`init`](crate::init), or before the first launch of a
/// kernel that reads it. A name may be bound anew: kernels that are delivered by table see the new value in their next
/// launch, the others after [`Device::refresh`](crate::Device::refresh).
///
/// # Errors
/// [`Error::Bind`] if the name was bound to a value of another type.
pub fn bind<T: HostWord>(name: &str, value: T) -> Result<()> {
    let new = Bound { word: value.to_word(), ty: TypeId::of::<T>(), type_name: type_name::<T>() };
    let mut bound = bound_words();
    if let Some(old) = bound.get(name).filter(|old| old.ty != new.ty) {
        return Err(Error::Bind { name: name.to_owned(), bound: old.type_name.to_owned(), now: new.type_name.to_owned() });
    }
    bound.insert(name.to_owned(), new);
    crate::resolve::changed();
    Ok(())
}

/// The word bound to a name; for the thunk of a `host!(bound: …)`, and in host code.
///
/// # Panics
/// If there is none, or it has another type.
pub fn bound<T: HostWord>(name: &str) -> T {
    match bound_words().get(name) {
        Some(bound) if bound.ty == TypeId::of::<T>() => T::from_word(bound.word),
        Some(bound) => {
            let ty = type_name::<T>();
            panic!("`{name}` is bound to a `{}` and read as a `{ty}`; bind and read it as one type", bound.type_name)
        }
        None => panic!("{}", unbound(name)),
    }
}

fn unbound(name: &str) -> String {
    format!("nothing is bound to `{name}`; call `relocgpu_runtime::bind(\"{name}\", value)?` before `init()`")
}

/// Whether a name is bound; else the reason.
pub(crate) fn is_bound(name: &str) -> std::result::Result<(), String> {
    if bound_words().contains_key(name) { Ok(()) } else { Err(unbound(name)) }
}

/// The value stored `offset` bytes after a symbol, of the objects that the process has loaded or of this library; for
/// the thunk of a `host!(symbol: …)`, and in host code. The library stays loaded.
///
/// # Panics
/// If there is no such library or symbol.
///
/// # Safety
/// So many bytes after the symbol there is a value of this type, which nothing writes meanwhile.
pub unsafe fn stored<T: HostWord>(symbol: &str, offset: usize, library: Option<&str>) -> T {
    let at = address_of(symbol, library).unwrap_or_else(|cause| panic!("{cause}"));
    // SAFETY: the caller's promise.
    unsafe { at.add(offset).cast::<T>().read_unaligned() }
}

/// The symbol's address, or why there is none.
#[cfg(relocgpu_device)]
pub(crate) fn address_of(_symbol: &str, _library: Option<&str>) -> std::result::Result<*const u8, String> {
    Err("device code has no symbols".to_owned())
}

/// The symbol's address, or why there is none.
#[cfg(not(relocgpu_device))]
pub(crate) fn address_of(symbol: &str, library: Option<&str>) -> std::result::Result<*const u8, String> {
    let name = CString::new(symbol).map_err(|_| format!("`{}` is no symbol: it holds a NUL", symbol.escape_debug()))?;
    let handle = match library {
        None => libc::RTLD_DEFAULT,
        Some(path) => {
            let file = CString::new(path).map_err(|_| format!("`{}` is no path: it holds a NUL", path.escape_debug()))?;
            // SAFETY: a C string. The library's initialisers run, which the program asked for.
            let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            if handle.is_null() {
                return Err(format!("library `{path}` cannot be loaded: {}", loader_error()));
            }
            handle
        }
    };
    // SAFETY: a handle of the loader's and a C string.
    let at = unsafe { libc::dlsym(handle, name.as_ptr()) };
    if at.is_null() {
        let place = library.map_or_else(|| "the objects that the process has loaded have".to_owned(), |path| format!("`{path}` has"));
        return Err(format!("{place} no symbol `{symbol}`: {}; a symbol of the program itself must be exported", loader_error()));
    }
    Ok(at.cast_const().cast())
}

#[cfg(not(relocgpu_device))]
fn loader_error() -> String {
    // SAFETY: null, or a C string that stays until the thread's next call of the loader.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() { "it is null".to_owned() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(run: impl FnOnce() + std::panic::UnwindSafe) -> String {
        *std::panic::catch_unwind(run).unwrap_err().downcast::<String>().unwrap()
    }

    #[test]
    fn a_name_has_one_type() {
        assert!(cause(|| _ = bound::<u32>("t.width")).contains("nothing is bound to `t.width`"));
        bind("t.width", 640u32).unwrap();
        bind("t.width", 800u32).unwrap();
        assert_eq!(bound::<u32>("t.width"), 800);
        assert_eq!(
            bind("t.width", 1.5f32).unwrap_err().to_string(),
            "`bind(\"t.width\", …)`: it is bound to a value of type `u32`, and now to one of type `f32`; use one type"
        );
        assert!(cause(|| _ = bound::<f32>("t.width")).contains("bound to a `u32` and read as a `f32`"));
    }

    #[test]
    fn symbols_are_found_in_loaded_objects_and_in_libraries() {
        // SAFETY: the C library's list of environment variables, a pointer; nothing writes it in this test.
        let environment = unsafe { stored::<*const u8>("environ", 0, None) };
        assert!(!environment.is_null());
        // SAFETY: nothing is read.
        let missing = cause(|| _ = unsafe { stored::<u32>("no_such_symbol_at_all", 0, None) });
        assert!(missing.contains("no symbol `no_such_symbol_at_all`"), "{missing}");
        // SAFETY: nothing is read.
        let missing = cause(|| _ = unsafe { stored::<u32>("x", 0, Some("/no/such/library.so")) });
        assert!(missing.contains("library `/no/such/library.so` cannot be loaded"), "{missing}");
    }
}
