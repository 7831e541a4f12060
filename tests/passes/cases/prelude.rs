//! What relocgpu's macros and device library supply, for the cases.

#[repr(C)]
pub struct KernelDescriptor {
    pub name: &'static str,
    pub file: &'static str,
    pub params: &'static [u64],
    pub size: usize,
    pub align: usize,
    pub line: u32,
    pub column: u32,
    pub delivery: u32,
}

unsafe extern "C" {
    pub fn __relocgpu_kernel(entry: *const (), type_name: fn() -> &'static str, kernel: *const KernelDescriptor);
    pub safe fn __relocgpu_thread_idx_x() -> u32;
    pub safe fn __relocgpu_block_idx_x() -> u32;
    pub safe fn __relocgpu_block_dim_x() -> u32;
    pub safe fn __relocgpu_block_barrier() -> u32;
    pub safe fn __relocgpu_thread_end() -> !;
    pub safe fn __relocgpu_needs_launch() -> !;
    fn __relocgpu_panic(report: *const u64) -> !;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relocgpu_report(kind: u32, a: u64, b: u64, c: u64, text: *const u8, len: u64, location: u64) -> ! {
    let report = [kind as u64, location, a, b, c, text as u64, len];
    unsafe { __relocgpu_panic(report.as_ptr()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relocgpu_store_record(report: *const u64, record: *mut u64, claim: *mut u32) {
    use std::sync::atomic::{AtomicU32, Ordering};
    // See `reporter.rs`.
    assert!(!record.is_null(), "no record");
    unsafe {
        if AtomicU32::from_ptr(claim).swap(1, Ordering::AcqRel) == 0 {
            std::ptr::copy_nonoverlapping(report, record, 7);
        }
    }
}

/// Stands for the device library's `sinf`.
#[unsafe(export_name = "relocgpu_math_sinf")]
extern "C" fn sinf(x: f32) -> f32 {
    x - x * x * x / 6.0
}

/// A slice as a kernel's parameter.
pub type Slice<T> = &'static [T];

/// Index of the thread in a grid of one dimension.
#[inline(always)]
pub fn index() -> usize {
    __relocgpu_block_idx_x() as usize * __relocgpu_block_dim_x() as usize + __relocgpu_thread_idx_x() as usize
}

/// Waits for the block.
#[inline(always)]
pub fn barrier() {
    if __relocgpu_block_barrier() != 0 {
        __relocgpu_thread_end()
    }
}

/// `kernel! { fn name(a: Slice<f32>, b: *mut u32, c: u32) { … } }`: an entry that takes its parameters as a block.
#[macro_export]
macro_rules! kernel {
    (fn $name:ident($($param:ident: $ty:ty),*) $body:block) => {
        #[inline(never)]
        fn $name($($param: $ty),*) $body
        const _: () = {
            #[repr(C)]
            struct Params { $($param: $ty),* }
            struct Instance;
            unsafe extern "C" fn entry(params: *const Params) {
                let _params = unsafe { params.read() };
                $name($(_params.$param),*)
            }
            static DESCRIPTOR: $crate::KernelDescriptor = $crate::KernelDescriptor {
                name: concat!(module_path!(), "::", stringify!($name)),
                file: file!(),
                params: &[],
                size: size_of::<Params>(),
                align: align_of::<Params>(),
                line: line!(),
                column: column!(),
                delivery: 0,
            };
            fn root() {
                unsafe { $crate::__relocgpu_kernel(entry as *const (), std::any::type_name::<Instance>, &DESCRIPTOR) }
            }
            #[used]
            static ROOT: fn() = root;
        };
    };
}

/// `reference!(value, "symbol", "hash", "source", "text")`: the address of a reference declaration.
#[macro_export]
macro_rules! reference {
    ($kind:literal, $symbol:literal, $hash:literal, $source:literal, $text:literal) => {
        reference!($kind, $symbol, $hash, $source, "", $text)
    };
    ($kind:literal, $symbol:literal, $hash:literal, $source:literal, $detail:literal, $text:literal) => {{
        unsafe extern "C" {
            #[link_name = concat!(
                "relocgpu\u{1f}", $kind, "\u{1f}", $symbol, "\u{1f}case\u{1f}1.2.3\u{1f}", module_path!(), "\u{1f}", $hash, "\u{1f}", $source, "\u{1f}", $detail, "\u{1f}", $text
            )]
            static SLOT: u64;
        }
        &raw const SLOT
    }};
}

/// `item!("symbol", "hash", "source", "text")`: the address that stands for a host item's.
#[macro_export]
macro_rules! item {
    ($symbol:literal, $hash:literal, $source:literal, $text:literal) => {
        $crate::Item(reference!("item", $symbol, $hash, $source, $text).cast())
    };
}

/// The address of a host item.
#[derive(Clone, Copy)]
pub struct Item(pub *const ());
unsafe impl Sync for Item {}

impl PartialEq for Item {
    #[inline(always)]
    fn eq(&self, other: &Item) -> bool {
        self.word() == other.word()
    }
}

impl Item {
    /// Its word.
    #[inline(always)]
    pub fn word(self) -> u64 {
        unsafe extern "C" {
            safe fn __relocgpu_identity(at: *const ()) -> u64;
        }
        __relocgpu_identity(self.0)
    }
}

/// Block-shared memory.
#[macro_export]
macro_rules! shared {
    ($ty:ty) => {{
        #[unsafe(link_section = ".relocgpu.shared")]
        static mut SHARED: std::mem::MaybeUninit<$ty> = std::mem::MaybeUninit::uninit();
        &raw mut SHARED as *mut $ty
    }};
}
