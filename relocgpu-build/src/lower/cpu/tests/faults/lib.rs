//! Kernels whose barriers cannot be waited for.
#![no_std]

unsafe extern "C" {
    safe fn __relocgpu_block_barrier() -> u32;
    safe fn __relocgpu_thread_end() -> !;
}

fn barrier() {
    if __relocgpu_block_barrier() != 0 {
        __relocgpu_thread_end()
    }
}

#[inline(never)]
fn again(n: u32) {
    barrier();
    if n > 0 {
        again(n - 1);
        again(n / 2);
    }
}

#[inline(never)]
fn recursive(n: u32) {
    again(n)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_recursive(p: *const u32) {
    recursive(unsafe { *p })
}

trait Wait {
    fn wait(&self);
}

struct A;
struct B;

impl Wait for A {
    fn wait(&self) {
        barrier()
    }
}

impl Wait for B {
    fn wait(&self) {}
}

#[inline(never)]
fn dynamic(n: u32) {
    let both: [&dyn Wait; 2] = [&A, &B];
    both[n as usize & 1].wait()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn entry_dynamic(p: *const u32) {
    dynamic(unsafe { *p })
}
