//! Which types cross to the device.

use crate::contract::layout::{FieldLayout, TypeLayout};
use crate::device::disjoint::{RawDisjoint, RawSlice, Space};
use std::marker::PhantomData;
use std::mem::offset_of;
use std::num::{NonZero, Wrapping};
use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};

/// Plain data: what a kernel takes by value, and what buffers, tables and shared memory hold.
///
/// Numbers, `bool`, `char`, atomics, and arrays, tuples and options of them are; structs are with
/// `#[derive(DeviceData)]`, which checks every field. References, fn pointers and boxes are not: what they point at is
/// not on the device. Pass memory as `&[T]` or [`DisjointSlice<T>`](crate::DisjointSlice).
///
/// # Safety
/// A value is its bytes alone: it holds no address, needs no drop, and may be copied bit by bit to another memory and
/// back, and be shared between threads. `LAYOUT` describes exactly this type, and `ZERO_IS_VALID` is true only if
/// bytes that are all zero are a value of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot cross to the device",
    label = "not `DeviceData`",
    note = "numbers, `bool`, `char`, atomics, arrays, tuples and options of them can, and structs with `#[derive(DeviceData)]`",
    note = "references, fn pointers and boxes cannot: pass memory as `&[T]` or `DisjointSlice<T>`, under these names and no alias"
)]
pub unsafe trait DeviceData: Send + Sync + 'static {
    /// Size, alignment and fields, as this compile sees them.
    const LAYOUT: &'static TypeLayout;
    /// Whether all-zero bytes are a value; [`Device::zeroed`](crate::Device::zeroed) needs it.
    const ZERO_IS_VALID: bool;
}

/// A layout without fields.
const fn leaf<T>(name: &'static str) -> TypeLayout {
    TypeLayout { name, size: size_of::<T>(), align: align_of::<T>(), fields: &[] }
}

macro_rules! plain {
    ($zero:literal: $($ty:ty)*) => {$(
        // SAFETY: no addresses, no drop, every bit pattern that is written on either side is a value on the other.
        unsafe impl DeviceData for $ty {
            const LAYOUT: &'static TypeLayout = &leaf::<$ty>(stringify!($ty));
            const ZERO_IS_VALID: bool = $zero;
        }
    )*};
}

plain!(true: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char);
plain!(true: AtomicU8 AtomicU16 AtomicU32 AtomicU64 AtomicUsize AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize AtomicBool);
plain!(false: NonZero<u8> NonZero<u16> NonZero<u32> NonZero<u64> NonZero<u128> NonZero<usize>);
plain!(false: NonZero<i8> NonZero<i16> NonZero<i32> NonZero<i64> NonZero<i128> NonZero<isize>);

// SAFETY: no bytes at all.
unsafe impl DeviceData for () {
    const LAYOUT: &'static TypeLayout = &leaf::<Self>("()");
    const ZERO_IS_VALID: bool = true;
}

// SAFETY: no bytes at all.
unsafe impl<T: ?Sized + Send + Sync + 'static> DeviceData for PhantomData<T> {
    const LAYOUT: &'static TypeLayout = &leaf::<Self>("PhantomData");
    const ZERO_IS_VALID: bool = true;
}

// SAFETY: nothing but elements, which are plain data.
unsafe impl<T: DeviceData, const N: usize> DeviceData for [T; N] {
    const LAYOUT: &'static TypeLayout = &TypeLayout {
        name: "array",
        size: size_of::<Self>(),
        align: align_of::<Self>(),
        fields: &[FieldLayout { name: "element", offset: 0, layout: T::LAYOUT }],
    };
    const ZERO_IS_VALID: bool = T::ZERO_IS_VALID || N == 0;
}

// SAFETY: `repr(transparent)`.
unsafe impl<T: DeviceData> DeviceData for Wrapping<T> {
    const LAYOUT: &'static TypeLayout = T::LAYOUT;
    const ZERO_IS_VALID: bool = T::ZERO_IS_VALID;
}

// SAFETY: a discriminant and plain data. Both compiles are by one rustc, which lays it out from the payload's type
// alone; where the payload lies cannot be asked on stable, so its offset is left 0.
unsafe impl<T: DeviceData> DeviceData for Option<T> {
    const LAYOUT: &'static TypeLayout = &TypeLayout {
        name: "Option",
        size: size_of::<Self>(),
        align: align_of::<Self>(),
        fields: &[FieldLayout { name: "Some", offset: 0, layout: T::LAYOUT }],
    };
    // `None` is all zero in practice, but the language promises it for few types.
    const ZERO_IS_VALID: bool = false;
}

macro_rules! tuple {
    ($($name:ident $index:tt)+) => {
        // SAFETY: nothing but fields, which are plain data.
        unsafe impl<$($name: DeviceData),+> DeviceData for ($($name,)+) {
            const LAYOUT: &'static TypeLayout = &TypeLayout {
                name: "tuple",
                size: size_of::<Self>(),
                align: align_of::<Self>(),
                fields: &[$(FieldLayout { name: stringify!($index), offset: offset_of!(Self, $index), layout: $name::LAYOUT }),+],
            };
            const ZERO_IS_VALID: bool = $($name::ZERO_IS_VALID)&&+;
        }
    };
}

tuple!(A 0);
tuple!(A 0 B 1);
tuple!(A 0 B 1 C 2);
tuple!(A 0 B 1 C 2 D 3);
tuple!(A 0 B 1 C 2 D 3 E 4);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);

/// Layout of a `&[T]` parameter in the parameter block.
pub struct SliceLayout<T>(PhantomData<T>);

impl<T: DeviceData> SliceLayout<T> {
    /// Of a [`RawSlice`]; the element stands as a field, so that one of another layout is found too.
    pub const LAYOUT: &'static TypeLayout = &TypeLayout {
        name: "slice",
        size: size_of::<RawSlice<T>>(),
        align: align_of::<RawSlice<T>>(),
        fields: &[
            FieldLayout { name: "ptr", offset: offset_of!(RawSlice<T>, ptr), layout: usize::LAYOUT },
            FieldLayout { name: "len", offset: offset_of!(RawSlice<T>, len), layout: usize::LAYOUT },
            FieldLayout { name: "element", offset: 0, layout: T::LAYOUT },
        ],
    };
}

/// Layout of a `DisjointSlice<T, S>` parameter in the parameter block.
pub struct DisjointLayout<T, S>(PhantomData<(T, S)>);

impl<T: DeviceData, S: Space> DisjointLayout<T, S> {
    /// Of a [`RawDisjoint`].
    pub const LAYOUT: &'static TypeLayout = &TypeLayout {
        name: "DisjointSlice",
        size: size_of::<RawDisjoint<T, S>>(),
        align: align_of::<RawDisjoint<T, S>>(),
        fields: &[
            FieldLayout { name: "ptr", offset: offset_of!(RawDisjoint<T, S>, ptr), layout: usize::LAYOUT },
            FieldLayout { name: "len", offset: offset_of!(RawDisjoint<T, S>, len), layout: usize::LAYOUT },
            FieldLayout { name: "space", offset: offset_of!(RawDisjoint<T, S>, space), layout: S::LAYOUT },
            FieldLayout { name: "element", offset: 0, layout: T::LAYOUT },
        ],
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_image::owned;

    #[test]
    fn a_layout_is_no_different_from_itself() {
        for layout in [<(u8, [f32; 3])>::LAYOUT, Option::<u32>::LAYOUT, SliceLayout::<(u8, u64)>::LAYOUT] {
            assert_eq!(owned(layout).difference(layout), None);
        }
    }

    #[test]
    fn differences_name_the_field() {
        let device = owned(<(u32, u64)>::LAYOUT);
        let difference = |own: &TypeLayout| device.difference(own).unwrap();
        assert!(difference(<(u32, u32)>::LAYOUT).contains("16 bytes on the device and 8"), "{}", difference(<(u32, u32)>::LAYOUT));
        assert!(difference(<(u32, [u64; 1])>::LAYOUT).contains("fields"), "{}", difference(<(u32, [u64; 1])>::LAYOUT));
        let elements = owned(SliceLayout::<u16>::LAYOUT).difference(SliceLayout::<u32>::LAYOUT).unwrap();
        assert!(elements.contains("`u32` has 2 bytes on the device and 4"), "{elements}");
    }

    #[test]
    fn zero_is_a_value_where_every_field_says_so() {
        const {
            assert!(<(u32, [f64; 4])>::ZERO_IS_VALID);
            assert!(!<(u32, NonZero<u8>)>::ZERO_IS_VALID);
            assert!(!Option::<u32>::ZERO_IS_VALID);
            assert!(<[NonZero<u8>; 0]>::ZERO_IS_VALID);
        }
    }
}
