// Statics that are not the same memory on the device.
use prelude::*;

use std::sync::atomic::{AtomicU64, Ordering};

static mut COUNT: u64 = 0;
static TOTAL: AtomicU64 = AtomicU64::new(3);
struct Ring(&'static Ring, u64);
static A: Ring = Ring(&B, 1);
static B: Ring = Ring(&A, 2);
thread_local! {
    static OWN: std::cell::Cell<u64> = const { std::cell::Cell::new(4) };
}

kernel! { fn counts(out: *mut u64) {
    unsafe {
        COUNT += 1;
        *out = COUNT + TOTAL.load(Ordering::Relaxed);
    }
} }

kernel! { fn circles(out: *mut u64) {
    unsafe {
        let mut at = &A;
        for _ in 0..*out {
            at = at.0;
        }
        *out = at.1;
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

//@ fault: kernel `case::circles`: uses `case::A` and `case::B`, constants that refer to each other in a circle
//@ fault:   at statics.rs:24:22, in `case::circles`
//@ fault: help: refer by index instead of by reference
//@ fault: kernel `case::counts`: uses `case::COUNT`, a static that can change: on the device it would be another one than on the host
//@ fault:   at statics.rs:17:9, in `case::counts`
//@ fault: help: pass a buffer to the kernel, read the host's value through `host!(…)`, or declare block-shared memory with `device!(shared: …)`
//@ fault: kernel `case::counts`: uses `case::TOTAL`, a static that can change: on the device it would be another one than on the host
//@ fault:   at statics.rs:18:30, in `case::counts`
//@ fault: help: pass a buffer to the kernel, read the host's value through `host!(…)`, or declare block-shared memory with `device!(shared: …)`
//@ fault: kernel `case::foreign`: uses the static `environ`, whose value is not known when the kernel is built
//@ fault:   at statics.rs:40:21, in `case::foreign`
//@ fault: help: pass its value, as a parameter or through `host!(…)`
//@ fault: kernel `case::own`: calls `std::thread::local::panic_access_error`, which belongs to the host's operating system
//@ fault:   at statics.rs:33:25, in `case::own`
//@ fault: help: call it on the host and pass the result, as a parameter or through `host!(…)`
//@ fault: kernel `case::own`: uses the thread-local `case::OWN::{K#0}::{closure#1}::__RUST_STD_INTERNAL_VAL`, which belongs to the host's threads
//@ fault:   at statics.rs:33:25, in `case::own`
//@ fault: help: pass the value, as a parameter or through `host!(…)`
