//! What a kernel cannot do with indices and slices, so that rustc says what to do instead.
//!
//! An operator without an impl is reported without a remedy. These impls ask for a trait that no type has, whose
//! `on_unimplemented` tells it.

use super::disjoint::DisjointSlice;
use super::thread::{Index1, Index2, Index3};
use std::cmp::Ordering;
use std::ops::{Add, Div, Index, Mul, Rem, Sub};

/// What could index a [`DisjointSlice`]: nothing.
#[diagnostic::on_unimplemented(
    message = "a `DisjointSlice` cannot be indexed",
    label = "this could be another thread's element",
    note = "each thread reaches its own: `let i = thread::index_1d(); if let Some(y) = y.get_mut(i) {{ *y = … }}`",
    note = "for any other element keep the threads apart yourself: `unsafe {{ y.get_any_mut(number) }}`"
)]
pub trait IndexesDisjointSlice {
    /// Nothing.
    fn never(&self) -> !;
}

/// What could be combined with a thread's index: nothing.
#[diagnostic::on_unimplemented(
    message = "a thread's index is not a number",
    label = "not with an index itself",
    note = "its numbers are `i.get()` of `thread::index_1d()`, and `i.x()`, `i.y()`, `i.z()` of the others"
)]
pub trait CombinesWithIndex {
    /// Nothing.
    type Output;
    /// Nothing.
    fn never(&self) -> !;
}

#[doc(hidden)]
impl<T, S, I: IndexesDisjointSlice> Index<I> for DisjointSlice<'_, T, S> {
    type Output = T;
    fn index(&self, index: I) -> &T {
        index.never()
    }
}

macro_rules! no_numbers {
    ($($index:ty: $($operator:ident $function:ident)*;)*) => {$(
        $(
            #[doc(hidden)]
            impl<N: CombinesWithIndex> $operator<N> for $index {
                type Output = N::Output;
                fn $function(self, number: N) -> N::Output {
                    number.never()
                }
            }
        )*

        #[doc(hidden)]
        impl<N: CombinesWithIndex> PartialEq<N> for $index {
            fn eq(&self, number: &N) -> bool {
                number.never()
            }
        }

        #[doc(hidden)]
        impl<N: CombinesWithIndex> PartialOrd<N> for $index {
            fn partial_cmp(&self, number: &N) -> Option<Ordering> {
                number.never()
            }
        }
    )*};
}

no_numbers! {
    Index1: Add add Sub sub Mul mul Div div Rem rem;
    Index2: Add add Sub sub Mul mul Div div Rem rem;
    Index3: Add add Sub sub Mul mul Div div Rem rem;
}
