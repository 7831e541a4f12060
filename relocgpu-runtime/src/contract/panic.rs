//! How a panic travels from a kernel to the host.

/// What went wrong; the host turns it into the text that Rust prints.
///
/// The numbers cross from device code to the host: append, never renumber.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PanicKind {
    /// The text is the whole message (`panic!("literal")`, `expect`, `assert!`).
    Text = 0,
    /// `index out of bounds: the len is {b} but the index is {a}`.
    Bounds = 1,
    /// A range `a..b` that does not fit a slice of length `c`.
    SliceRange = 2,
    /// A fixed message: `a` is an index into [`FIXED_MESSAGES`].
    Fixed = 3,
    /// `copy_from_slice`: destination length `a`, source length `b`.
    CopyLength = 4,
    /// The text is a `fmt::Arguments` template whose values were not carried along.
    Template = 5,
    /// `Result::unwrap`/`expect`: the text is the message before `: {error}`; the error's value is not carried along.
    ResultUnwrap = 6,
    /// A string sliced off its character boundaries or length, from `a` to `b`; length `c`.
    StrRange = 7,
}

/// Messages without arguments, as `core` words them.
pub const FIXED_MESSAGES: [&str; 17] = [
    "attempt to add with overflow",
    "attempt to subtract with overflow",
    "attempt to multiply with overflow",
    "attempt to divide with overflow",
    "attempt to calculate the remainder with overflow",
    "attempt to negate with overflow",
    "attempt to shift left with overflow",
    "attempt to shift right with overflow",
    "attempt to divide by zero",
    "attempt to calculate the remainder with a divisor of zero",
    "called `Option::unwrap()` on a `None` value",
    "RefCell already borrowed",
    "RefCell already mutably borrowed",
    "argument of integer logarithm must be positive",
    "assertion `left == right` failed",
    "user-provided comparison function does not correctly implement a total order",
    "panic in a function that cannot unwind",
];

/// Bytes of text that a report carries; longer messages are cut at this length.
pub const TEXT_BYTES: usize = 512;

/// Built on a panicking thread's stack and handed to [`PANIC`](super::names::intrinsic::PANIC).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PanicReport {
    /// A [`PanicKind`].
    pub kind: u32,
    /// Unused, zero.
    pub reserved: u32,
    /// Index into the source map's locations plus one; 0 when the place is not known.
    pub location: u64,
    /// Arguments of the kind.
    pub args: [u64; 3],
    /// Text of the kind: device memory, may be null when `text_len` is 0.
    pub text: *const u8,
    /// Bytes of the text.
    pub text_len: u64,
    /// Index of the thread in its block.
    pub thread: [u32; 3],
    /// Index of the block in the grid.
    pub block: [u32; 3],
}

/// A report as the host reads it: in host memory that the device can write.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PanicRecord {
    /// 0: empty; 1: complete. Written last.
    pub state: u32,
    /// A [`PanicKind`].
    pub kind: u32,
    /// As in [`PanicReport`].
    pub location: u64,
    /// As in [`PanicReport`].
    pub args: [u64; 3],
    /// Index of the thread in its block.
    pub thread: [u32; 3],
    /// Index of the block in the grid.
    pub block: [u32; 3],
    /// Valid bytes of `text`.
    pub text_len: u32,
    /// Unused, zero.
    pub reserved: u32,
    /// The text, cut at [`TEXT_BYTES`].
    pub text: [u8; TEXT_BYTES],
}
