//@ ptx: .visible .global .align 4 .u32 relocgpu_panic_claim;
//@ ptx: .visible .global .align 8 .u64 relocgpu_panic_record;
//@ ptx: ld.volatile.global.b32
//@ ptx-not: core__fmt
//@ ptx-not: .extern
//@ location: panics.rs:25:21
//@ location: panics.rs:30:10
//@ location: panics.rs:33:9
//@ location: panics.rs:36:9
//@ location: panics.rs:40:5
//@ kernel: case::quiet 8 8
//@ unit: call void @__relocgpu_report(i32 1,
// Every panic is a call of the reporter with the number of its place; no formatting is linked.
use prelude::*;

#[derive(Debug)]
struct Fault(#[allow(dead_code)] u32);

#[inline(never)]
fn fails(x: u32) -> Result<u32, Fault> {
    if x > 3 { Err(Fault(x)) } else { Ok(x) }
}

kernel! { fn all(x: Slice<u32>, out: *mut u32) {
    let mut value = x[index()];
    value /= x[1];
    value += x.iter().copied().find(|v| *v > 9).unwrap();
    let part = &x[value as usize..];
    value += fails(value)
        .expect("no fault");
    value += part.len() as u32;
    if value == 7 {
        panic!("seven");
    }
    if value > 100 {
        panic!("{value:>5} is too much of {}", x.len());
    }
    unsafe { *out = value }
    let other = unsafe { *out.add(1) };
    assert_eq!(value, other, "at {}", index());
} }

kernel! { fn quiet(out: *mut u32) {
    unsafe { *out = 1 }
} }
