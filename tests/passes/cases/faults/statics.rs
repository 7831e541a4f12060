// Statics that are not the same memory on the device.
use prelude::*;

use std::sync::atomic::{AtomicU64, Ordering};

static mut COUNT: u64 = 0;
static TOTAL: AtomicU64 = AtomicU64::new(3);
thread_local! {
    static OWN: std::cell::Cell<u64> = const { std::cell::Cell::new(4) };
}

kernel! { fn counts(out: *mut u64) {
    unsafe {
        COUNT += 1;
        *out = COUNT + TOTAL.load(Ordering::Relaxed);
    }
} }

kernel! { fn own(out: *mut u64) {
    unsafe { *out = OWN.get() }
} }

kernel! { fn foreign(out: *mut u64) {
    unsafe extern "C" {
        static environ: u64;
    }
    unsafe { *out = environ }
} }

static LOCKED: std::sync::Mutex<u64> = std::sync::Mutex::new(5);

// A lock needs much of the host: it is told once.
kernel! { fn locks(out: *mut u64) {
    unsafe { *out = *LOCKED.lock().unwrap() }
} }

//@ fault: kernel `case::counts`: uses `case::COUNT`, a static that can change: on the device it would be another one than on the host
//@ fault:   at statics.rs:14:9, in `case::counts`
//@ fault: also uses `case::TOTAL`, a static that can change: on the device it would be another one than on the host
//@ fault:   at statics.rs:15:30, in `case::counts`
//@ fault: help: pass a buffer to the kernel, read the host's value through `host!(…)`, or declare block-shared memory with `device!(shared: …)`
//@ fault: kernel `case::foreign`: uses the static `environ`, whose value is not known when the kernel is built
//@ fault:   at statics.rs:27:21, in `case::foreign`
//@ fault: help: pass its value, as a parameter or through `host!(…)`
//@ fault: kernel `case::locks`: uses `case::LOCKED`, a static that can change: on the device it would be another one than on the host
//@ fault: also calls `<std::sys::sync::mutex::futex::Mutex>::lock_contended`, which belongs to the host's operating system
//@ fault: also uses the static `std::panicking::panic_count::GLOBAL_PANIC_COUNT`, whose value is not known when the kernel is built
//@ fault: also calls `std::panicking::panic_count::is_zero_slow_path`, which belongs to the host's operating system
//@ fault:   at statics.rs:34:29, in `case::locks`
//@ fault: also calls `<std::sys::sync::mutex::futex::Mutex>::wake`, which belongs to the host's operating system
//@ fault:   at statics.rs:34:43, in `case::locks`
//@ fault: help: pass a buffer to the kernel, read the host's value through `host!(…)`, or declare block-shared memory with `device!(shared: …)`
//@ fault: help: call it on the host and pass the result, as a parameter or through `host!(…)`
//@ fault: help: pass its value, as a parameter or through `host!(…)`
//@ fault: kernel `case::own`: calls `std::thread::local::panic_access_error`, which belongs to the host's operating system
//@ fault: also uses the thread-local `case::OWN::{K#0}::{closure#1}::__RUST_STD_INTERNAL_VAL`, which belongs to the host's threads
//@ fault:   at statics.rs:20:25, in `case::own`
//@ fault: help: call it on the host and pass the result, as a parameter or through `host!(…)`
//@ fault: help: pass the value, as a parameter or through `host!(…)`
