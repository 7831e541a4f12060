//! A process that is forked after the driver was started has a driver that does not work in the child.

/// What the child is told.
pub(super) const REMEDY: &str =
    "the process was forked after it had opened a CUDA device, and the driver does not work in the child; open devices after the fork";

#[cfg(unix)]
mod watched {
    use std::sync::Once;
    use std::sync::atomic::{AtomicBool, Ordering};

    static FORKED: AtomicBool = AtomicBool::new(false);

    extern "C" fn in_child() {
        FORKED.store(true, Ordering::Relaxed);
    }

    pub(crate) fn watch() {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| {
            // SAFETY: the handler only stores to an atomic, and the code stays loaded: a Rust library with thread-local
            // destructors is not unloaded. Without memory for the handler there is no check, and the driver itself fails.
            unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        });
    }

    pub(crate) fn forked() -> bool {
        FORKED.load(Ordering::Relaxed)
    }
}

#[cfg(not(unix))]
mod watched {
    pub(crate) fn watch() {}

    pub(crate) fn forked() -> bool {
        false
    }
}

pub(super) use watched::{forked, watch};
