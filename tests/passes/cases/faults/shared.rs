// More shared memory than a block has, or with a value that nobody gives it.
use prelude::*;

kernel! { fn large(out: *mut u64) {
    unsafe {
        let tile = shared!([u64; 7000]);
        (*tile)[index()] = 3;
        *out = (*tile)[0];
    }
} }

kernel! { fn initialised(out: *mut u64) {
    #[unsafe(link_section = ".relocgpu.shared")]
    static mut SEEN: [u64; 4] = [7; 4];
    unsafe { *out = (*&raw const SEEN)[index() % 4] }
} }

//@ fault: kernel `case::initialised`: declares block-shared memory `case::initialised::SEEN` with an initial value, which no device gives it
//@ fault:   at shared.rs:15:21, in `case::initialised`
//@ fault: help: declare it with `device!(shared: [T; N])`, write it, and wait at the barrier before the first read
//@ fault: kernel `case::large`: declares 56000 bytes or more of block-shared memory; a block has 49152
//@ fault:   at shared.rs:7:9, in `case::large`
//@ fault: help: use smaller tiles, or keep part of the data in a buffer
