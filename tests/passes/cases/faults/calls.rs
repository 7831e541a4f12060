// Calls that cannot exist on the device: all of them in one report, each with its way from the kernel.
use prelude::*;

#[inline(never)]
fn helper() -> u64 {
    unsafe extern "C" {
        fn getpid() -> i32;
    }
    unsafe { getpid() as u64 }
}

kernel! { fn foreign(out: *mut u64) {
    unsafe { *out = helper() }
} }

kernel! { fn clock(out: *mut u64) {
    unsafe { *out = std::time::Instant::now().elapsed().as_secs() }
} }

kernel! { fn prints(out: *mut u64) {
    println!("{}", unsafe { *out });
} }

kernel! { fn grows(out: *mut u64) {
    let mut v = Vec::new();
    unsafe {
        v.push(*out);
        *out = v.iter().sum();
    }
} }

kernel! { fn sine(out: *mut f32) {
    unsafe { *out = (*out).sin() + (*out).tan() + (*out).exp_m1() }
} }

// Stands for a generic kernel, called as a function, whose words come with its own launch.
#[inline(never)]
fn of_instance() {
    __relocgpu_needs_launch()
}

kernel! { fn calls(_out: *mut f32) {
    of_instance()
} }

//@ fault: kernel `case::calls`: calls a generic kernel as a function whose `host!` depends on a generic parameter: the value comes with that kernel's own launch
//@ fault:   at calls.rs:39:5, in `case::of_instance`
//@ fault:   at calls.rs:43:5, in `case::calls`
//@ fault: help: move what both do into a function that takes the value as an argument
//@ fault: kernel `case::clock`: calls `<std::time::Instant>::now`, which belongs to the host's operating system
//@ fault:   at calls.rs:17:21, in `case::clock`
//@ fault: also calls `<std::time::Instant>::elapsed`, which belongs to the host's operating system
//@ fault:   at calls.rs:17:47, in `case::clock`
//@ fault: help: call it on the host and pass the result, as a parameter or through `host!(…)`
//@ fault: kernel `case::foreign`: calls `getpid`, which has no body for the device
//@ fault:   at calls.rs:9:14, in `case::helper`
//@ fault:   at calls.rs:13:21, in `case::foreign`
//@ fault: help: write it in Rust, or call it on the host and pass the result, as a parameter or through `host!(…)`
//@ fault: kernel `case::grows`: allocates memory, and there is no allocator on the device
//@ fault:   at calls.rs:27:11, in `case::grows`
//@ fault: help: use fixed-size arrays, or pass a buffer to the kernel
//@ fault: kernel `case::prints`: calls `std::io::stdio::_print`, which belongs to the host's operating system
//@ fault:   at calls.rs:21:5, in `case::prints`
//@ fault: help: call it on the host and pass the result, as a parameter or through `host!(…)`
//@ fault: kernel `case::sine`: calls the C library's `tanf`, which is not yet supported on the device
//@ fault:   at calls.rs:33:43, in `case::sine`
//@ fault: also calls the C library's `expm1f`, which is not yet supported on the device
//@ fault:   at calls.rs:33:58, in `case::sine`
//@ fault: help: compute it on the host (a `DeviceTable`), or use the functions of the `libm` crate
