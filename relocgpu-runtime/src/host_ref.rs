//! Host references as a program sees them: the values of `host!` and the tables of `host!(table: …)`.

use crate::contract::image::RawTable;
#[cfg(not(relocgpu_device))]
use crate::contract::image::TableThunk;
#[cfg(not(relocgpu_device))]
use crate::contract::layout::TypeLayout;
use crate::contract::layout::same;
use crate::data::DeviceData;
use std::marker::PhantomData;
use std::ops::Deref;

pub(crate) mod device_static;
pub(crate) mod identity;
pub(crate) mod mapped;
pub(crate) mod named;

mod sealed {
    pub trait Sealed {}
}

/// What `host!(…)` may yield: one word.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of `host!`",
    label = "not one word of plain data",
    note = "integers up to 64 bits, `f32`, `f64`, `bool`, `char`, raw pointers, `HostRef` and `FnToken` can",
    note = "references and fn pointers cannot, since device code could follow them: pass data as `host!(table: …)` or as a kernel's parameter, \
            and what is only compared as `host!(item: …)` or `host!(fn: …)`"
)]
pub trait HostWord: Copy + 'static + sealed::Sealed {
    /// The type's name, but for what a pointer points at: types of one kind make the same words of the same values.
    const KIND: &'static str;
    /// The value as a word.
    fn to_word(self) -> u64;
    /// The value whose word it is. Words come from [`to_word`](Self::to_word).
    fn from_word(word: u64) -> Self;
}

macro_rules! word {
    ($($ty:ty: $value:ident => $to:expr, $word:ident => $from:expr;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl HostWord for $ty {
            const KIND: &'static str = stringify!($ty);
            #[inline(always)]
            fn to_word(self) -> u64 {
                let $value = self;
                $to
            }
            #[inline(always)]
            fn from_word($word: u64) -> Self {
                $from
            }
        }
    )*};
}

word! {
    u8: v => v.into(), w => w as Self;
    u16: v => v.into(), w => w as Self;
    u32: v => v.into(), w => w as Self;
    u64: v => v, w => w;
    usize: v => v as u64, w => w as Self;
    i8: v => v as u64, w => w as Self;
    i16: v => v as u64, w => w as Self;
    i32: v => v as u64, w => w as Self;
    i64: v => v as u64, w => w as Self;
    isize: v => v as u64, w => w as Self;
    f32: v => v.to_bits().into(), w => Self::from_bits(w as u32);
    f64: v => v.to_bits(), w => Self::from_bits(w);
    bool: v => v.into(), w => w != 0;
    // No test on the device: words come from `to_word` alone.
    char: v => v.into(), w => char::from_u32(w as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
}

impl<T: 'static> sealed::Sealed for *const T {}
impl<T: 'static> HostWord for *const T {
    const KIND: &'static str = "*const";
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.expose_provenance() as u64
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        std::ptr::with_exposed_provenance(word as usize)
    }
}

impl<T: 'static> sealed::Sealed for *mut T {}
impl<T: 'static> HostWord for *mut T {
    const KIND: &'static str = "*mut";
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.expose_provenance() as u64
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        std::ptr::with_exposed_provenance_mut(word as usize)
    }
}

/// Constant elements made on the host when the program starts, and copied to each device before its first launch.
///
/// ```ignore
/// static CURVE: DeviceTable<f32> = host!(table: (0..256).map(|i| (i as f32 / 255.0).powf(0.45)).collect::<Vec<_>>());
/// ```
///
/// It derefs to a slice: in kernels to the device's copy, elsewhere to the host's elements.
pub struct DeviceTable<T> {
    #[cfg(not(relocgpu_device))]
    thunk: TableThunk,
    #[cfg(not(relocgpu_device))]
    evaluated: std::sync::OnceLock<RawTable>,
    #[cfg(relocgpu_device)]
    slots: (*const u64, *const u64),
    elements: PhantomData<fn() -> T>,
}

// SAFETY: it gives out shared references to its elements, whose type is `Sync`, and nothing else.
unsafe impl<T: Sync> Sync for DeviceTable<T> {}
// SAFETY: as above; it owns nothing.
unsafe impl<T: Sync> Send for DeviceTable<T> {}

impl<T: DeviceData> Deref for DeviceTable<T> {
    type Target = [T];

    /// # Panics
    /// On the host, if the table's expression panicked; in kernels never.
    #[cfg(not(relocgpu_device))]
    fn deref(&self) -> &[T] {
        // Not `get_or_init`: an expression that needs its own table gets an error from `resolve`, and no deadlock here.
        let table = self.evaluated.get().copied().unwrap_or_else(|| {
            let table = crate::resolve::table(self.thunk);
            let table = table.unwrap_or_else(|cause| panic!("a `host!(table: …)` could not be evaluated: {cause}"));
            *self.evaluated.get_or_init(|| table)
        });
        // SAFETY: the thunk was made by `raw_table` from elements of this type (the macro unifies the two), which
        // live as long as the process and are never written.
        unsafe { std::slice::from_raw_parts(table.data.cast(), table.len) }
    }

    #[cfg(relocgpu_device)]
    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the slots are the two words of this table, which the loader fills with the address and the number
        // of its elements on this device. Read as a pointer, so that the compiler knows it for one.
        unsafe { std::slice::from_raw_parts(*self.slots.0.cast::<*const T>(), *self.slots.1 as usize) }
    }
}

impl<T: DeviceData + std::fmt::Debug> std::fmt::Debug for DeviceTable<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// What the expression of a `host!(table: …)` may yield.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot fill a `DeviceTable`",
    label = "not a source of elements",
    note = "a table is made from a `Vec`, an array, a boxed slice or a `&'static` slice, of elements that are `Copy` and `DeviceData`"
)]
pub trait TableSource {
    /// Type of an element.
    type Element: DeviceData + Copy;
    /// The elements, for the life of the process.
    fn leak(self) -> &'static [Self::Element];
}

impl<T: DeviceData + Copy> TableSource for Vec<T> {
    type Element = T;
    fn leak(self) -> &'static [T] {
        Vec::leak(self)
    }
}

impl<T: DeviceData + Copy> TableSource for Box<[T]> {
    type Element = T;
    fn leak(self) -> &'static [T] {
        Box::leak(self)
    }
}

impl<T: DeviceData + Copy, const N: usize> TableSource for [T; N] {
    type Element = T;
    fn leak(self) -> &'static [T] {
        Box::leak(Box::new(self))
    }
}

impl<T: DeviceData + Copy> TableSource for &'static [T] {
    type Element = T;
    fn leak(self) -> &'static [T] {
        self
    }
}

impl<T: DeviceData + Copy, const N: usize> TableSource for &'static [T; N] {
    type Element = T;
    fn leak(self) -> &'static [T] {
        self
    }
}

impl<T: DeviceData + Copy> TableSource for &'static Vec<T> {
    type Element = T;
    fn leak(self) -> &'static [T] {
        self
    }
}

const SAME_TYPE: &str = "the type of a `host!` or `device!` must follow from its expression alone: give literals a suffix, as in `1.0_f32`";

/// Asks a type for its [`HostWord::KIND`] and requires none: `probe.kind()`. A `host!` of a type without one is reported
/// where its thunk is, and only there.
pub struct Probe<T>(NoKind, PhantomData<T>);

/// The type of a [`Probe`] that has no [`HostWord::KIND`].
pub struct NoKind;

impl<T: HostWord> Probe<T> {
    /// Only says a type.
    pub fn kind(&self) -> PhantomData<T> {
        PhantomData
    }
}

impl<T> Deref for Probe<T> {
    type Target = NoKind;
    fn deref(&self) -> &NoKind {
        &self.0
    }
}

impl NoKind {
    /// Only says a type.
    pub fn kind(&self) -> Self {
        Self
    }
}

/// What a [`Probe`] found.
pub trait Kind {
    /// [`HostWord::KIND`], if there is one.
    const KIND: &'static str;
}

impl<T: HostWord> Kind for PhantomData<T> {
    const KIND: &'static str = T::KIND;
}

impl Kind for NoKind {
    const KIND: &'static str = "";
}

/// The value of a `host!` expression in host code. `_typed` is the expression as the thunk sees it, without the
/// context's expectations; the two must not differ.
#[inline(always)]
pub fn host_value<T: 'static, K: Kind, R: HostWord>(value: impl FnOnce() -> T, _kind: impl FnOnce(Probe<T>) -> K, _typed: fn() -> R) -> T {
    const { assert!(same(K::KIND, R::KIND), "{}", SAME_TYPE) }
    value()
}

/// The value of a `host!` expression in device code: `_value` only says its type.
#[inline(always)]
pub fn device_value<T: HostWord>(_value: impl FnOnce() -> T, word: u64) -> T {
    T::from_word(word)
}

/// The value of a `host!(|device| …)` expression in host code, where the device is the CPU.
#[cfg(not(relocgpu_device))]
pub fn host_value_of_device<T: 'static, K: Kind, R: HostWord>(
    value: impl FnOnce(&crate::Device) -> T,
    _kind: impl FnOnce(Probe<T>) -> K,
    _typed: fn(&crate::Device) -> R,
) -> T {
    const { assert!(same(K::KIND, R::KIND), "{}", SAME_TYPE) }
    value(&crate::Device::cpu().expect("every program has the CPU"))
}

/// The value of a `host!(|device| …)` expression in device code: `_value` only says its type.
#[inline(always)]
pub fn device_value_of_device<T: HostWord>(_value: impl FnOnce(&crate::Device) -> T, word: u64) -> T {
    T::from_word(word)
}

/// Says a type where no value is made.
pub fn only_a_type<T>() -> T {
    unreachable!("it says a type and is never called")
}

/// Makes the code of the thunk that owns this mark its own: compilers and linkers merge functions with equal code, and then
/// two values would be one.
#[inline(always)]
pub fn distinct(mark: &'static std::sync::atomic::AtomicU8) {
    std::hint::black_box(std::ptr::from_ref(mark));
}

/// Body of a table's thunk.
pub fn raw_table<C: TableSource>(source: C) -> RawTable {
    let elements = source.leak();
    RawTable {
        data: elements.as_ptr().cast(),
        len: elements.len(),
        element_size: size_of::<C::Element>(),
        element_align: align_of::<C::Element>(),
    }
}

/// Named by the source: rustc does not see that a table's own `T` is `DeviceData`.
#[cfg(not(relocgpu_device))]
const fn element_layout<C: TableSource>() -> &'static TypeLayout {
    C::Element::LAYOUT
}

/// A table in host code. The closures only say types.
#[cfg(not(relocgpu_device))]
pub const fn host_table<T, C, F, D, G>(thunk: extern "C-unwind" fn() -> RawTable, _source: F, _typed: G) -> DeviceTable<T>
where
    C: TableSource<Element = T>,
    F: FnOnce() -> C + Copy,
    D: TableSource,
    G: Fn() -> D + Copy,
{
    const { assert!(element_layout::<C>().is(element_layout::<D>()), "{}", SAME_TYPE) }
    DeviceTable { thunk, evaluated: std::sync::OnceLock::new(), elements: PhantomData }
}

/// A table in device code: the addresses of its two slots.
#[cfg(relocgpu_device)]
pub const fn device_table<T, C, F>(ptr: *const u64, len: *const u64, _source: F) -> DeviceTable<T>
where
    C: TableSource<Element = T>,
    F: FnOnce() -> C + Copy,
{
    DeviceTable { slots: (ptr, len), elements: PhantomData }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip() {
        fn check<T: HostWord + PartialEq + std::fmt::Debug>(values: &[T]) {
            for &value in values {
                assert_eq!(T::from_word(value.to_word()), value);
            }
        }
        check(&[0u8, 255]);
        check(&[i8::MIN, -1, i8::MAX]);
        check(&[u16::MAX, 1]);
        check(&[i16::MIN, -1]);
        check(&[u32::MAX, 1]);
        check(&[i32::MIN, -1, i32::MAX]);
        check(&[u64::MAX, 1 << 63]);
        check(&[i64::MIN, -1]);
        check(&[usize::MAX]);
        check(&[isize::MIN]);
        check(&[0.0f32, -1.5, f32::INFINITY, f32::MIN_POSITIVE]);
        check(&[0.0f64, -1.5, f64::NEG_INFINITY]);
        check(&[true, false]);
        check(&['a', '\0', char::MAX]);
        let place = 7u16;
        check(&[&raw const place, std::ptr::null()]);
        check(&[(&raw const place).cast_mut()]);
        assert_eq!(f32::from_word(f32::NAN.to_word()).to_bits(), f32::NAN.to_bits());
    }

    extern "C-unwind" fn squares() -> RawTable {
        raw_table((0..5u32).map(|i| i * i).collect::<Vec<_>>())
    }
    extern "C-unwind" fn bad() -> RawTable {
        panic!("no table today")
    }

    static SQUARES: DeviceTable<u32> = host_table(squares, Vec::<u32>::new, Vec::<u32>::new);
    static BAD: DeviceTable<u32> = host_table(bad, Vec::<u32>::new, Vec::<u32>::new);

    #[test]
    fn a_table_is_evaluated_once() {
        assert_eq!(&*SQUARES, [0, 1, 4, 9, 16]);
        assert_eq!(SQUARES.as_ptr(), SQUARES.as_ptr());
        assert_eq!(SQUARES[3], 9);
    }

    #[test]
    #[should_panic(expected = "no table today")]
    fn a_table_that_panics_says_so() {
        _ = BAD.len();
    }
}
