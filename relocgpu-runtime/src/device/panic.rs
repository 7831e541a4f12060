//! Panics in device code. Nothing here may panic itself: raw pointers and plain loops only.

use super::intrinsic;
use crate::contract::panic::{PanicRecord, PanicReport, TEXT_BYTES};
use std::sync::atomic::{AtomicU32, Ordering, fence};

// SAFETY: lowering defines it with this signature.
unsafe extern "C" {
    fn __relocgpu_panic(report: *const PanicReport) -> !;
}

/// Every panic entry point of `core` becomes a call of this.
///
/// # Safety
/// `text` is null or valid for `len` bytes.
#[unsafe(no_mangle)]
#[cold]
#[inline(never)]
pub unsafe extern "C" fn __relocgpu_report(kind: u32, a: u64, b: u64, c: u64, text: *const u8, len: u64, location: u64) -> ! {
    let report = PanicReport {
        kind,
        reserved: 0,
        location,
        args: [a, b, c],
        text,
        text_len: len,
        thread: intrinsic::thread_idx(),
        block: intrinsic::block_idx(),
    };
    // SAFETY: a complete report, which outlives the call since it does not return.
    unsafe { __relocgpu_panic(&raw const report) }
}

/// Fills `record` from `report`, once: the first caller of the launch wins.
///
/// # Safety
/// `report` is complete; `record` is memory that the host reads after the launch; `claim` is aligned memory that the
/// threads of the launch share, 0 before it.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn __relocgpu_store_record(report: *const PanicReport, record: *mut PanicRecord, claim: *mut u32) {
    // SAFETY: the caller's promises.
    unsafe {
        if AtomicU32::from_ptr(claim).swap(1, Ordering::AcqRel) != 0 {
            return;
        }
        (&raw mut (*record).kind).write_volatile((*report).kind);
        (&raw mut (*record).location).write_volatile((*report).location);
        (&raw mut (*record).args).write_volatile((*report).args);
        (&raw mut (*record).thread).write_volatile((*report).thread);
        (&raw mut (*record).block).write_volatile((*report).block);
        let text = (*report).text;
        let mut len = 0;
        if !text.is_null() {
            let to = (&raw mut (*record).text).cast::<u8>();
            while len < TEXT_BYTES && (len as u64) < (*report).text_len {
                to.add(len).write_volatile(text.add(len).read());
                len = len.wrapping_add(1);
            }
        }
        (&raw mut (*record).text_len).write_volatile(len as u32);
        // Everything above is in host memory before the state says so.
        fence(Ordering::SeqCst);
        (&raw mut (*record).state).write_volatile(1);
    }
}
