//@ ptx: .shared .align 4 .b8
//@ ptx: st.shared.b32
//@ ptx: ld.shared.b32
//@ ptx: atom.shared.add.u32
//@ ptx-not: .extern
// Block-shared memory is one array a block, also in a function of its own.
use prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

#[inline(never)]
fn total(tile: &[u32; 64]) -> u32 {
    tile.iter().sum()
}

kernel! { fn tiles(x: Slice<u32>, out: *mut u32) {
    let tile = shared!([u32; 64]);
    let count = shared!(u32);
    let t = __relocgpu_thread_idx_x() as usize & 63;
    unsafe {
        (*tile)[t] = x[index()];
        AtomicU32::from_ptr(count).fetch_add(1, Ordering::Relaxed);
        barrier();
        *out.add(index()) = (*tile)[63 - t] + total(&*tile) + *count;
    }
} }
