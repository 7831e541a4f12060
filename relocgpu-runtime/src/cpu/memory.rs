//! Aligned memory that grows and is kept.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

/// Memory of a fixed alignment whose contents nobody relies on.
pub(super) struct Scratch<const ALIGN: usize> {
    at: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it owns its memory.
unsafe impl<const ALIGN: usize> Send for Scratch<ALIGN> {}

impl<const ALIGN: usize> Scratch<ALIGN> {
    pub(super) const fn new() -> Self {
        Self { at: NonNull::dangling(), bytes: 0 }
    }

    /// At least so many bytes; `None` if there is no memory for them.
    pub(super) fn at_least(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        if bytes > self.bytes {
            let layout = Layout::from_size_align(bytes.checked_next_power_of_two()?, ALIGN).ok()?;
            self.release();
            // SAFETY: the size is not zero.
            self.at = NonNull::new(unsafe { alloc(layout) })?;
            self.bytes = layout.size();
        }
        Some(self.at)
    }

    fn release(&mut self) {
        if let (true, Ok(layout)) = (self.bytes > 0, Layout::from_size_align(self.bytes, ALIGN)) {
            // SAFETY: made by `at_least` with this layout.
            unsafe { dealloc(self.at.as_ptr(), layout) };
        }
        (self.at, self.bytes) = (NonNull::dangling(), 0);
    }
}

impl<const ALIGN: usize> Drop for Scratch<ALIGN> {
    fn drop(&mut self) {
        self.release();
    }
}
