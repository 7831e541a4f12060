//! Memory that the threads of a launch write, each its own elements.

use super::thread::{Index1, Index2, Index3};
use crate::contract::layout::{FieldLayout, TypeLayout};
use crate::data::DeviceData;
use std::marker::PhantomData;
use std::mem::offset_of;
use std::ptr::NonNull;

mod sealed {
    pub trait Sealed {}
}

/// How indices map to elements: [`Linear`], [`Plane`] or [`Volume`]. A value is the shape that the program launched with.
///
/// # Safety
/// `offset` is injective in the index for one shape and below `len`; shapes are made by checked constructors only.
pub unsafe trait Space: Copy + Send + Sync + 'static + sealed::Sealed {
    /// What [`DisjointSlice::get_mut`] takes.
    type Index: OwnIndex<Self>;
    /// Layout of the shape.
    #[doc(hidden)]
    const LAYOUT: &'static TypeLayout;
    /// The element of an index, if there is one.
    #[doc(hidden)]
    fn offset(&self, len: usize, index: Self::Index) -> Option<usize>;
}

/// A thread's own index in a [`DisjointSlice`] of the space `S`: its [`Space::Index`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a thread's own index in a `DisjointSlice<_, {S}>`",
    label = "other threads may have it too",
    note = "take `thread::index_1d()` for `Linear`, which is the default, `thread::index_2d()` for `Plane`, `thread::index_3d()` for `Volume`",
    note = "for any other element keep the threads apart yourself: `unsafe {{ y.get_any_mut(number) }}`"
)]
pub trait OwnIndex<S: Space>: Copy + sealed::Sealed {
    /// The index as the space has it.
    #[doc(hidden)]
    fn own(self) -> S::Index;
}

macro_rules! own_index {
    ($($space:ty: $index:ty)*) => {$(
        impl sealed::Sealed for $index {}
        impl OwnIndex<$space> for $index {
            #[inline(always)]
            fn own(self) -> Self {
                self
            }
        }
    )*};
}

own_index!(Linear: Index1 Plane: Index2 Volume: Index3);

/// One element after the other: takes [`thread::index_1d`](super::thread::index_1d).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    _private: (),
}

/// Rows of equal width: takes [`thread::index_2d`](super::thread::index_2d).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    width: usize,
    height: usize,
}

/// Layers of rows: takes [`thread::index_3d`](super::thread::index_3d).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Volume {
    width: usize,
    height: usize,
    depth: usize,
}

impl Linear {
    pub(crate) const SHAPE: Self = Self { _private: () };
}

impl Plane {
    /// The shape, if it takes exactly `len` elements.
    pub(crate) fn new((width, height): (usize, usize), len: usize) -> Option<Self> {
        (width.checked_mul(height)? == len).then_some(Self { width, height })
    }
}

impl Volume {
    /// The shape, if it takes exactly `len` elements.
    pub(crate) fn new((width, height, depth): (usize, usize, usize), len: usize) -> Option<Self> {
        (width.checked_mul(height)?.checked_mul(depth)? == len).then_some(Self { width, height, depth })
    }
}

impl sealed::Sealed for Linear {}
impl sealed::Sealed for Plane {}
impl sealed::Sealed for Volume {}

// SAFETY: the identity, below `len` by the test.
unsafe impl Space for Linear {
    type Index = Index1;
    const LAYOUT: &'static TypeLayout = &TypeLayout { name: "Linear", size: size_of::<Self>(), align: align_of::<Self>(), fields: &[] };

    #[inline(always)]
    fn offset(&self, len: usize, index: Index1) -> Option<usize> {
        (index.get() < len).then_some(index.get())
    }
}

// SAFETY: a point inside the plane has an element of its own, and the plane has `len` elements.
unsafe impl Space for Plane {
    type Index = Index2;
    const LAYOUT: &'static TypeLayout = &TypeLayout {
        name: "Plane",
        size: size_of::<Self>(),
        align: align_of::<Self>(),
        fields: &[
            FieldLayout { name: "width", offset: offset_of!(Self, width), layout: usize::LAYOUT },
            FieldLayout { name: "height", offset: offset_of!(Self, height), layout: usize::LAYOUT },
        ],
    };

    #[inline(always)]
    fn offset(&self, _len: usize, index: Index2) -> Option<usize> {
        // SAFETY: below width × height, which is `len`.
        (index.x() < self.width && index.y() < self.height).then(|| unsafe { index.y().unchecked_mul(self.width).unchecked_add(index.x()) })
    }
}

// SAFETY: as for the plane.
unsafe impl Space for Volume {
    type Index = Index3;
    const LAYOUT: &'static TypeLayout = &TypeLayout {
        name: "Volume",
        size: size_of::<Self>(),
        align: align_of::<Self>(),
        fields: &[
            FieldLayout { name: "width", offset: offset_of!(Self, width), layout: usize::LAYOUT },
            FieldLayout { name: "height", offset: offset_of!(Self, height), layout: usize::LAYOUT },
            FieldLayout { name: "depth", offset: offset_of!(Self, depth), layout: usize::LAYOUT },
        ],
    };

    #[inline(always)]
    fn offset(&self, _len: usize, index: Index3) -> Option<usize> {
        let inside = index.x() < self.width && index.y() < self.height && index.z() < self.depth;
        inside.then(|| {
            // SAFETY: below width × height × depth, which is `len`.
            unsafe {
                let row = index.z().unchecked_mul(self.height).unchecked_add(index.y());
                row.unchecked_mul(self.width).unchecked_add(index.x())
            }
        })
    }
}

/// A kernel's parameter for memory that it writes: each thread reaches its own elements and no others.
///
/// `S` says which index picks them: [`Linear`] for `thread::index_1d()`, [`Plane`] for `thread::index_2d()`, [`Volume`]
/// for `thread::index_3d()`. One slice knows one map, so two threads never meet:
/// ```compile_fail,E0277
/// use relocgpu_runtime::{DisjointSlice, Plane, thread};
/// fn mixes(mut y: DisjointSlice<f32, Plane>) { y.get_mut(thread::index_1d()); }
/// ```
/// and a thread has one reference to its element at a time:
/// ```compile_fail,E0499
/// use relocgpu_runtime::{DisjointSlice, thread};
/// fn twice(mut y: DisjointSlice<f32>) {
///     let (a, b) = (y.get_mut(thread::index_1d()), y.get_mut(thread::index_1d()));
///     drop((a, b));
/// }
/// ```
/// A kernel that uses one:
/// ```ignore
/// #[gpu_kernel]
/// fn double(mut y: DisjointSlice<f32>) {
///     if let Some(y) = y.get_mut(thread::index_1d()) { *y *= 2.0; }
/// }
/// ```
pub struct DisjointSlice<'a, T, S = Linear> {
    /// Not null, so that the optimiser sees no third case between an element and none.
    ptr: NonNull<T>,
    len: usize,
    space: S,
    _elements: PhantomData<&'a mut [T]>,
}

impl<T, S> DisjointSlice<'_, T, S> {
    /// Number of elements, other threads' included.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of the first element: for `unsafe` code that keeps threads apart by itself.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr.as_ptr()
    }
}

impl<T, S: Space> DisjointSlice<'_, T, S> {
    /// The thread's own element to write; `None` beyond the end.
    #[inline(always)]
    pub fn get_mut(&mut self, index: impl OwnIndex<S>) -> Option<&mut T> {
        let offset = self.space.offset(self.len, index.own())?;
        // SAFETY: below `len`; no other thread has this index (`thread`), this slice knows one map from indices to
        // elements, and the borrow of `self` keeps this thread from a second reference.
        Some(unsafe { self.ptr.add(offset).as_mut() })
    }

    /// The thread's own element; `None` beyond the end.
    #[inline(always)]
    pub fn get(&self, index: impl OwnIndex<S>) -> Option<&T> {
        let offset = self.space.offset(self.len, index.own())?;
        // SAFETY: as in `get_mut`.
        Some(unsafe { self.ptr.add(offset).as_ref() })
    }

    /// Any element to write; `None` beyond the end.
    ///
    /// # Safety
    /// No other thread of the launch reaches this element, unless a barrier stands between.
    #[inline(always)]
    pub unsafe fn get_any_mut(&mut self, offset: usize) -> Option<&mut T> {
        // SAFETY: below `len`; the rest is the caller's promise.
        (offset < self.len).then(|| unsafe { self.ptr.add(offset).as_mut() })
    }
}

impl<T> DisjointSlice<'_, T, Plane> {
    /// Elements of a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.space.width
    }

    /// Rows.
    #[inline(always)]
    pub fn height(&self) -> usize {
        self.space.height
    }
}

impl<T> DisjointSlice<'_, T, Volume> {
    /// Elements of a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.space.width
    }

    /// Rows of a layer.
    #[inline(always)]
    pub fn height(&self) -> usize {
        self.space.height
    }

    /// Layers.
    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.space.depth
    }
}

/// A thread's own memory: for calling a kernel's function from other device code or from [`host::run`](crate::host::run).
impl<'a, T> From<&'a mut [T]> for DisjointSlice<'a, T> {
    fn from(own: &'a mut [T]) -> Self {
        Self { len: own.len(), ptr: NonNull::from(own).cast(), space: Linear::SHAPE, _elements: PhantomData }
    }
}

/// A `&[T]` in the parameter block.
#[repr(C)]
pub struct RawSlice<T> {
    /// First element in device memory; aligned, dangling if `len` is 0.
    pub ptr: *const T,
    /// Number of elements.
    pub len: usize,
}

/// A [`DisjointSlice`] in the parameter block.
#[repr(C)]
pub struct RawDisjoint<T, S> {
    /// First element in device memory; aligned, dangling if `len` is 0.
    pub ptr: *mut T,
    /// Number of elements.
    pub len: usize,
    /// The shape.
    pub space: S,
}

impl<T> Clone for RawSlice<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for RawSlice<T> {}
impl<T, S: Copy> Clone for RawDisjoint<T, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, S: Copy> Copy for RawDisjoint<T, S> {}

/// What a kernel's body gets for a `&[T]`.
///
/// # Safety
/// The elements are live and nobody writes them during `'a`, but through interior mutability.
#[inline(always)]
pub unsafe fn slice<'a, T>(raw: &RawSlice<T>) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(raw.ptr, raw.len) }
}

/// What a kernel's body gets for a `DisjointSlice<T, S>`.
///
/// # Safety
/// The pointer is not null. The elements are live during `'a`, and only threads of this launch reach them, each through one such value.
#[inline(always)]
pub unsafe fn disjoint<'a, T, S: Copy>(raw: &RawDisjoint<T, S>) -> DisjointSlice<'a, T, S> {
    // SAFETY: live elements have an address, and no elements a dangling one.
    let ptr = unsafe { NonNull::new_unchecked(raw.ptr) };
    DisjointSlice { ptr, len: raw.len, space: raw.space, _elements: PhantomData }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::thread;
    use crate::{Grid, host};

    #[test]
    fn each_thread_writes_its_element() {
        let mut data = vec![0; 10];
        host::run(Grid::new(2, 8), || {
            let i = thread::index_1d();
            let mut own = DisjointSlice::from(&mut data[..]);
            assert_eq!(own.get_mut(i).is_some(), i.get() < 10);
            if let Some(own) = own.get_mut(i) {
                *own += i.get() + 1;
            }
        });
        assert_eq!(data, (1..=10).collect::<Vec<_>>());
    }

    #[test]
    fn a_plane_folds_rows() {
        let mut data = [0; 6];
        let space = Plane::new((3, 2), 6).unwrap();
        host::run(Grid::new(1, (4, 3)), || {
            let i = thread::index_2d();
            let raw = RawDisjoint { ptr: data.as_mut_ptr(), len: 6, space };
            // SAFETY: one thread after the other.
            let mut own = unsafe { disjoint(&raw) };
            if let Some(own) = own.get_mut(i) {
                *own += 10 * i.y() + i.x() + 1;
            }
        });
        assert_eq!(data, [1, 2, 3, 11, 12, 13]);
        assert!(Plane::new((3, 2), 7).is_none());
        assert!(Plane::new((usize::MAX, 3), 7).is_none());
        assert!(Volume::new((1 << 40, 1 << 40, 2), 0).is_none());
    }
}
