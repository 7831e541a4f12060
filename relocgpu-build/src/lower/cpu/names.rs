//! Symbols of an image's native code.
//!
//! | name | spelled | defined in | visible |
//! |---|---|---|---|
//! | slots | `__relocgpu_cpu_<16 hex>_slots` | the image's object | hidden |
//! | block function | `__relocgpu_cpu_<16 hex>_<level>_run_<kernel number>` | each level's object | hidden |
//! | global with interior words | `__relocgpu_cpu_<16 hex>_<level>_site_<record number>` | each level's object | hidden |
//!
//! The 16 hex digits are those of the unit's [`image_symbol`](UnitName::image_symbol), so that the images of one program do not meet.

use relocgpu_runtime::contract::manifest::UnitName;
use relocgpu_runtime::contract::names::sanitise;

/// Prefix of every symbol of a unit's native code.
pub(crate) fn prefix(unit: &UnitName) -> String {
    unit.image_symbol().replacen("_image_", "_cpu_", 1)
}

/// The slots, shared by all levels.
pub(crate) fn slots(prefix: &str) -> String {
    format!("{prefix}_slots")
}

/// What follows the prefix and the level in the symbol of a kernel's block function.
pub(super) fn run(kernel: usize) -> String {
    format!("run_{kernel}")
}

/// What follows the prefix and the level in the symbol of a global that holds interior words.
pub(super) fn site(record: usize) -> String {
    format!("site_{record}")
}

/// A symbol of one level: characters that assemblers quote are replaced.
pub(super) fn of_level(prefix: &str, level: &str, rest: &str) -> String {
    format!("{prefix}_{}_{rest}", sanitise(level))
}

/// The kernel's own function, which runs one thread; the entry unpacks the parameters and calls it.
pub(super) const BODY: &str = "relocgpu_body_";
/// The function with a block's loops.
pub(super) const BLOCK: &str = "relocgpu_block_";
/// One thread as a coroutine.
pub(super) const THREAD: &str = "relocgpu_thread_";
/// One thread from one barrier to the next.
pub(super) const PHASES: &str = "relocgpu_phases_";
/// The global that is stored the size of a kernel's coroutine frame, for the emit step to read.
pub(super) const FRAME_BYTES: &str = "relocgpu_frame_bytes_";
/// Marks, just before a call of a kernel's body, the thread that runs it: `(i32 x, i32 y, i32 z)`.
pub(super) const THIS_THREAD: &str = "relocgpu_this_thread";
