//! The driver of relocgpu-runtime's unit tests, as `.ci/run` builds it in the place of libcuda.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The fake driver, which all tests share; they take turns.
pub struct Fake(#[allow(dead_code)] MutexGuard<'static, ()>);

impl Fake {
    /// # Panics
    /// Where another driver is the process's.
    pub fn get() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = !symbol("fake_log").is_null();
        assert!(found, "libcuda is not the fake driver; `.ci/run` builds it and names its folder in LD_LIBRARY_PATH");
        let fake = Self(turn);
        // SAFETY: an `int` of fake.c, which the driver reads between the calls of one test.
        unsafe { *symbol("fake_devices").cast::<c_int>() = 2 };
        fake.log();
        fake
    }

    /// The calls since the last time.
    pub fn log(&self) -> Vec<String> {
        // SAFETY: the functions' signatures in fake.c; the text is copied before it changes.
        unsafe {
            let log = std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *const c_char>(symbol("fake_log"));
            let text = CStr::from_ptr(log()).to_str().unwrap().lines().map(str::to_owned).collect();
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(symbol("fake_clear"))();
            text
        }
    }

    /// The next call of this function fails.
    pub fn fault(&self, call: &str, code: c_int) {
        let call = CString::new(call).unwrap();
        // SAFETY: the function's signature in fake.c.
        unsafe {
            let fault = std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char, c_int, c_int)>(symbol("fake_fault"));
            fault(call.as_ptr(), 0, code);
        }
    }
}

/// Address of a symbol of libcuda, whether the program links it or cudarc loads it.
fn symbol(name: &str) -> *mut c_void {
    let name = CString::new(name).unwrap();
    // SAFETY: loads the driver, which is never unloaded, and looks a name up.
    unsafe { libc::dlsym(libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW), name.as_ptr()) }
}

/// What became of the calls that order streams and launch.
pub fn order(log: &[String]) -> Vec<&str> {
    log.iter()
        .map(String::as_str)
        .filter(|call| call.starts_with("launch ") || ["cuEventRecord", "cuStreamWaitEvent"].contains(call))
        .collect()
}
