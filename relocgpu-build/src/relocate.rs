//! Relocate: from a linked, normalised module to a frozen unit.

use relocgpu_runtime::contract::manifest::{Manifest, SourceMap};

/// A relocatable unit: what every target is lowered from.
///
/// The bitcode holds, after [`run`]:
///
/// | what | form |
/// |---|---|
/// | kernels | external `void @<Kernel.entry>(ptr %params)`, one for each kernel of the manifest and in its order; it loads its arguments from the parameter block and calls the user's function |
/// | panics | `void @__relocgpu_report(i32, i64, i64, i64, ptr, i64, i64)` and `@__relocgpu_store_record(ptr, ptr, ptr)`: external definitions, only if a kernel can panic; every panic of `core` is a call of the first |
/// | slots | `@<Record.name> = external constant i64`, one for each slot record |
/// | shared memory | globals whose section starts with [`SHARED_SECTION`](relocgpu_runtime::contract::names::SHARED_SECTION) |
/// | intrinsics | declarations named as in [`intrinsic`](relocgpu_runtime::contract::names::intrinsic), only those in use |
/// | C library | declarations of `memcmp`, `bcmp`, `strlen` where something calls them, and LLVM's intrinsics |
/// | all else | internal, named after their Rust paths, in an order that follows from the kernels alone |
///
/// Every function, indirect call and inline assembly is `convergent`. There is no personality, no unwinding, no alias,
/// no `comdat`, no attribute that belongs to the host's CPU, no inline assembly but the empty one. The module still
/// has its host's triple and data layout. There is debug information only if the job asks for line information.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Deterministic bitcode of the device module.
    pub(crate) bitcode: Vec<u8>,
    /// Kernels and records.
    pub(crate) manifest: Manifest,
    /// What moves when source lines move.
    pub(crate) source_map: SourceMap,
    /// SHA-256 of manifest (postcard) and bitcode.
    pub(crate) hash: [u8; 32],
}
