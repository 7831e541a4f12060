//@ ptx-count: 3 fence.acq_rel.sys
//@ ptx-count: 1 fence.sc.sys
//@ ptx-count: 5 atom.
//@ kernel: case::orders 8 8
//@ ptx: ld.acquire.sys.global.b32
//@ ptx: st.release.sys.global.b32
// NVPTX drops the ordering of read-modify-write operations; compiler fences and spin hints are nothing.
use prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::*, compiler_fence};

kernel! { fn orders(p: *mut u32) {
    let a = unsafe { AtomicU32::from_ptr(p) };
    a.fetch_add(1, Relaxed);
    a.fetch_add(2, Acquire);
    a.fetch_sub(3, Release);
    a.fetch_xor(4, SeqCst);
    let _ = a.compare_exchange(5, 6, AcqRel, Acquire);
    compiler_fence(SeqCst);
    while a.load(Acquire) == 7 {
        std::hint::spin_loop();
    }
    a.store(8, Release);
    std::hint::black_box(a.load(Relaxed));
} }
