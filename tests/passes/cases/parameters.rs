//@ ptx: .visible .entry case__nothing_
//@ ptx: .version 8.1
//@ ptx: .param .align 16 .b8
//@ kernel: case::large 5008 8
//@ kernel: case::nothing 0 1
//@ kernel: case::wide 32 16
// No parameter for no bytes; large blocks need PTX 8.1; alignment is kept.
use prelude::*;

kernel! { fn nothing() {} }

kernel! { fn wide(a: u128, out: *mut u128) {
    unsafe { *out = a }
} }

kernel! { fn large(a: [u64; 625], out: *mut u64) {
    unsafe { *out = a[index() % 625] }
} }
