//! A process that is forked after the driver was started has a driver that does not work in the child.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the child is told.
pub(super) const REMEDY: &str =
    "the process was forked after it had opened a CUDA device, and the driver does not work in the child; open devices after the fork";

static FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
}

/// From now on a fork is noticed.
pub(super) fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        // SAFETY: the handler only stores to an atomic, and the C library forgets it when this library is unloaded.
        // Without memory for the handler there is no check, and the driver's own error says less.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}

/// Whether this is such a child.
pub(super) fn forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}
