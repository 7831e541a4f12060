//! The stack that native code runs on: its context is found by masking the stack pointer.

use crate::contract::cpu::{STACK_BYTES, STACK_RESERVED};
use corosensei::stack::{Stack, StackPointer};
use std::io;
use std::ptr::{self, NonNull};

/// `STACK_BYTES` of memory aligned to their own size, with pages that fault on either side. The last `STACK_RESERVED`
/// bytes are not part of the stack proper.
pub(super) struct NativeStack {
    mapping: NonNull<u8>,
    length: usize,
    start: NonNull<u8>,
}

// SAFETY: it owns its memory.
unsafe impl Send for NativeStack {}

impl NativeStack {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no precondition.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        // Somewhere in twice the size lies an aligned piece; a page before it faults, and so does what is left behind it.
        let length = 2 * STACK_BYTES + 2 * page;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the system's choice.
        let mapping = unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
        if mapping == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapping = NonNull::new(mapping.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let skip = (mapping.addr().get() + page).next_multiple_of(STACK_BYTES) - mapping.addr().get();
        // SAFETY: `skip` is at most `page + STACK_BYTES`, so the piece ends a page or more before the mapping does.
        let start = unsafe { mapping.add(skip) };
        let stack = Self { mapping, length, start };
        // SAFETY: the piece lies in the mapping, which is ours.
        if unsafe { libc::mprotect(start.as_ptr().cast(), STACK_BYTES, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stack)
    }

    /// The reserved bytes, aligned to their number.
    pub(super) fn reserved(&self) -> NonNull<u8> {
        // SAFETY: inside the piece.
        unsafe { self.start.add(STACK_BYTES - STACK_RESERVED) }
    }
}

impl Drop for NativeStack {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, made by `new`; nothing runs on it any more.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.length) };
    }
}

// SAFETY: between `limit` and `base` lie a page that faults and almost `STACK_BYTES` of memory.
unsafe impl Stack for NativeStack {
    fn base(&self) -> StackPointer {
        self.reserved().addr()
    }

    fn limit(&self) -> StackPointer {
        self.mapping.addr()
    }
}
