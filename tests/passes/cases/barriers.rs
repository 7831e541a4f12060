//@ ptx-count: 4 bar.sync
//@ kernel: case::after_a_branch 16 8 cooperates
//@ kernel: case::in_a_function 16 8 cooperates
//@ kernel: case::in_a_loop 16 8 cooperates
//@ kernel: case::through_a_pointer 16 8 cooperates
// One call of the barrier stays one, whatever leads to it. (`in_a_function` and `through_a_pointer` share a function.)
use prelude::*;

kernel! { fn after_a_branch(p: *mut u32, c: u32) {
    let t = index() as u32;
    let mut x = 0;
    if t < c {
        x = 1;
        unsafe { *p = 2 }
    }
    barrier();
    if x == 1 {
        unsafe { *p.add(1) = 3 }
    }
} }

kernel! { fn in_a_loop(p: *mut u32, n: u32) {
    for i in 0..n {
        unsafe { *p.add(index()) += i }
        barrier();
    }
} }

#[inline(never)]
fn wrapped(p: *mut u32) {
    unsafe { *p += 1 }
    barrier();
}

kernel! { fn in_a_function(p: *mut u32, c: u32) {
    let mut x = 0;
    if index() as u32 > c {
        x = 1;
        unsafe { *p = 2 }
    }
    wrapped(p);
    if x == 1 {
        unsafe { *p.add(1) = 3 }
    }
} }

#[inline(never)]
fn other(p: *mut u32) {
    unsafe { *p += 2 }
    barrier();
}

kernel! { fn through_a_pointer(p: *mut u32, c: u32, d: u32) {
    let f: fn(*mut u32) = if d == 0 { wrapped } else { other };
    let mut x = 0;
    if index() as u32 > c {
        x = 1;
        unsafe { *p = 2 }
    }
    f(p);
    if x == 1 {
        unsafe { *p.add(1) = 3 }
    }
} }
