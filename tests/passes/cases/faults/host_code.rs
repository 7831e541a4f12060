// Code for the host's CPU.
use prelude::*;

use std::arch::x86_64::{_mm_cvtss_f32, _mm_rsqrt_ps, _mm_set1_ps};

kernel! { fn assembly(out: *mut u64) {
    unsafe {
        let x: u64;
        std::arch::asm!("mov {}, 5", out(reg) x);
        *out = x;
    }
} }

kernel! { fn vectors(out: *mut f32) {
    unsafe { *out = _mm_cvtss_f32(_mm_rsqrt_ps(_mm_set1_ps(*out))) }
} }

//@ fault: kernel `case::assembly`: uses the host's assembly (`asm!("mov ${0:q}, 5")`)
//@ fault:   at host_code.rs:9:9, in `case::assembly`
//@ fault: help: use portable code on the device, for instance under `cfg(not(relocgpu_device))`
//@ fault: kernel `case::vectors`: uses the x86 instruction `sse.rsqrt.ps`
//@ fault:   at host_code.rs:15:35, in `case::vectors`
//@ fault: help: use portable code on the device, for instance under `cfg(not(relocgpu_device))`
