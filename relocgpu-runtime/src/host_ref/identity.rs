//! Addresses of host items as identities: compared and handed back on a device, never followed.
//!
//! What a reference holds is private, and only [`identity`] looks at it: in device code a reference may still be the
//! address of a declaration, and compilers decide comparisons of those before the program knows the words.

use super::{HostWord, sealed};
use crate::contract::layout::TypeLayout;
use crate::data::DeviceData;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// The word of an item's address.
#[cfg(relocgpu_device)]
#[inline(always)]
fn identity(at: *const ()) -> u64 {
    // SAFETY: the relocate stage gives it a body, which takes any address.
    unsafe extern "C" {
        safe fn __relocgpu_identity(at: *const ()) -> u64;
    }
    __relocgpu_identity(at)
}

/// The word of an item's address.
#[cfg(not(relocgpu_device))]
fn identity(at: *const ()) -> u64 {
    at.expose_provenance() as u64
}

macro_rules! identities {
    ($($name:ident<$parameter:ident>)*) => {$(
        impl<$parameter> Clone for $name<$parameter> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$parameter> Copy for $name<$parameter> {}

        impl<$parameter> PartialEq for $name<$parameter> {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                identity(self.at) == identity(other.at)
            }
        }
        impl<$parameter> Eq for $name<$parameter> {}

        impl<$parameter> Hash for $name<$parameter> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                identity(self.at).hash(state);
            }
        }

        impl<$parameter> fmt::Debug for $name<$parameter> {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#x})"), identity(self.at))
            }
        }

        impl<$parameter> $name<$parameter> {
            /// The item's address as a number, which differs from process to process.
            #[inline(always)]
            pub fn to_bits(self) -> u64 {
                identity(self.at)
            }
        }

        // SAFETY: an address that nothing follows.
        unsafe impl<$parameter> Send for $name<$parameter> {}
        // SAFETY: as above.
        unsafe impl<$parameter> Sync for $name<$parameter> {}

        impl<$parameter: 'static> sealed::Sealed for $name<$parameter> {}
        impl<$parameter: 'static> HostWord for $name<$parameter> {
            const KIND: &'static str = stringify!($name);
            #[inline(always)]
            fn to_word(self) -> u64 {
                identity(self.at)
            }
            #[inline(always)]
            fn from_word(word: u64) -> Self {
                Self { at: std::ptr::with_exposed_provenance(word as usize), of: PhantomData }
            }
        }

        // SAFETY: one word, which nothing follows: on the device it is a number.
        unsafe impl<$parameter: 'static> DeviceData for $name<$parameter> {
            const LAYOUT: &'static TypeLayout =
                &TypeLayout { name: stringify!($name), size: size_of::<Self>(), align: align_of::<Self>(), fields: &[] };
            const ZERO_IS_VALID: bool = false;
        }
    )*};
}

/// Which host static of type `T`: a kernel compares it and hands it back, and cannot look into it.
///
/// `host!(item: PATH)` makes one, in code and in constants, on the host and on devices; [`of`](Self::of) makes one on the
/// host, for instance as a kernel's argument. Equal references are the same item.
///
/// ```ignore
/// static RED: Material = Material { hue: 0 };
/// static BLUE: Material = Material { hue: 240 };
///
/// #[gpu_kernel]
/// fn count_red(which: &[HostRef<Material>], count: &[AtomicU32]) {
///     let i = thread::index_1d();
///     if which.get(i.get()) == Some(&host!(item: RED)) { count[0].fetch_add(1, Relaxed); }
/// }
/// ```
#[repr(transparent)]
pub struct HostRef<T> {
    at: *const (),
    of: PhantomData<fn() -> T>,
}

/// Which host function: a kernel compares it and hands it back, and cannot call it.
///
/// `F` is the type of a fn pointer. `host!(fn: path as fn(A) -> B)` makes one, in code and in constants; [`of`](Self::of)
/// makes one on the host. As in any comparison of fn pointers, a function has one address only if it is
/// `#[inline(never)]`: of others each part of a program may have a copy. And functions with the same machine code may be
/// one to the linker, and equal here as well.
#[repr(transparent)]
pub struct FnToken<F> {
    at: *const (),
    of: PhantomData<F>,
}

identities! { HostRef<T> FnToken<F> }

impl<T: 'static> HostRef<T> {
    /// Of this item.
    pub const fn of(item: &'static T) -> Self {
        Self { at: (&raw const *item).cast(), of: PhantomData }
    }

    /// Address of the item. On a device it is a number: nothing is there.
    pub fn as_ptr(self) -> *const T {
        std::ptr::with_exposed_provenance(identity(self.at) as usize)
    }
}

/// Fn pointers.
pub trait FnPointer: Copy + sealed::Sealed + 'static {
    /// The function's address.
    fn address(self) -> *const ();
}

impl<F: FnPointer> FnToken<F> {
    /// Of this function, as a pointer: `FnToken::of(work as fn(u32) -> u32)`.
    pub fn of(function: F) -> Self {
        Self { at: function.address(), of: PhantomData }
    }
}

macro_rules! fn_pointers {
    ($($argument:ident)*) => {
        fn_pointers!(@impl [] $($argument)*);
        fn_pointers!(@impl [unsafe] $($argument)*);
        fn_pointers!(@impl [extern "C"] $($argument)*);
        fn_pointers!(@impl [unsafe extern "C"] $($argument)*);
    };
    (@impl [$($kind:tt)*] $($argument:ident)*) => {
        impl<R: 'static, $($argument: 'static),*> sealed::Sealed for $($kind)* fn($($argument),*) -> R {}
        impl<R: 'static, $($argument: 'static),*> FnPointer for $($kind)* fn($($argument),*) -> R {
            fn address(self) -> *const () {
                self as *const ()
            }
        }
    };
}

fn_pointers!();
fn_pointers!(A);
fn_pointers!(A B);
fn_pointers!(A B C);
fn_pointers!(A B C D);
fn_pointers!(A B C D E);
fn_pointers!(A B C D E G);
fn_pointers!(A B C D E G H);
fn_pointers!(A B C D E G H I);

/// The constant word that the host table refers to: it holds the item's address.
#[repr(transparent)]
pub struct ItemWord(#[allow(dead_code)] *const ());

// SAFETY: a constant that nothing follows.
unsafe impl Sync for ItemWord {}

impl ItemWord {
    /// Of this address.
    pub const fn new(at: *const ()) -> Self {
        Self(at)
    }
}

/// `host!(item: …)`. On the host `at` is the item's address, on the device that of the declaration which stands for
/// it; the closure says the type.
pub const fn host_ref<T: 'static, F: FnOnce() -> &'static T + Copy>(at: *const (), _item: F) -> HostRef<T> {
    HostRef { at, of: PhantomData }
}

/// `host!(fn: …)`, as [`host_ref`].
pub const fn fn_token<F: FnPointer, C: FnOnce() -> F + Copy>(at: *const (), _function: C) -> FnToken<F> {
    FnToken { at, of: PhantomData }
}

#[cfg(test)]
mod tests {
    use super::*;

    static A: u64 = 7;
    static B: u64 = 7;
    fn work(x: u32) -> u32 {
        x + 1
    }
    fn other(x: u32) -> u32 {
        x * 3
    }

    #[test]
    fn references_are_equal_when_the_items_are_the_same() {
        assert_eq!(HostRef::of(&A), HostRef::of(&A));
        assert_ne!(HostRef::of(&A), HostRef::of(&B));
        assert_eq!(HostRef::<u64>::from_word(HostRef::of(&A).to_word()), HostRef::of(&A));
        assert_eq!(HostRef::of(&B).as_ptr(), &raw const B);
        const IN_CONSTANT: HostRef<u64> = host_ref((&raw const A).cast(), || &A);
        assert_eq!(IN_CONSTANT, HostRef::of(&A));
    }

    #[test]
    fn tokens_are_equal_when_the_functions_are_the_same() {
        let token = FnToken::of(work as fn(u32) -> u32);
        assert_eq!(token, FnToken::of(work as fn(u32) -> u32));
        assert_ne!(token, FnToken::of(other as fn(u32) -> u32));
        assert_eq!(token.to_word(), work as fn(u32) -> u32 as usize as u64);
    }
}
