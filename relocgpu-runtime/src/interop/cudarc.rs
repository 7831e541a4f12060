//! Launches with a program's own cudarc context, streams and slices (feature `cudarc`).
//!
//! A launch comes after what cudarc has put on the slices' own streams, and after their other uses where cudarc tracks
//! them. The feature is off by default: it makes cudarc's version a part of this crate's interface.

use super::{ForeignBuffer, ForeignStream, cuda, foreign_slice, foreign_slice_mut, other, taken};
use crate::buffer::sealed::Sealed;
use crate::buffer::{Slice, SliceArg, SliceMutArg};
use crate::data::DeviceData;
use crate::device::disjoint::{Linear, RawDisjoint, RawSlice};
use crate::error::Result;
use crate::handle::Device;
use relocgpu_cudarc::driver::{CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut};
use std::ffi::c_void;
use std::sync::Arc;

impl Device {
    /// The device of a context of the program's. It is the same as [`cuda`](Self::cuda) gives for that GPU, and keeps
    /// the context alive: cudarc and this crate use the one that the driver has for each GPU.
    ///
    /// # Errors
    /// If the device does not work, or the context is not that one.
    pub fn from_cudarc(context: &CudaContext) -> Result<Self> {
        Self::of_context(context.cu_ctx().cast(), "`CudaContext::new`")
    }
}

impl Sealed for CudaStream {}
impl ForeignStream for CudaStream {
    fn __raw(&self) -> *mut c_void {
        self.cu_stream().cast()
    }
}

impl Sealed for Arc<CudaStream> {}
impl ForeignStream for Arc<CudaStream> {
    fn __raw(&self) -> *mut c_void {
        (**self).__raw()
    }
}

foreign_slice!([] CudaSlice<T>, read);
foreign_slice!(['v] CudaView<'v, T>, read);
foreign_slice!(['v] CudaViewMut<'v, T>, read);
foreign_slice_mut!([] CudaSlice<T>);
foreign_slice_mut!(['v] CudaViewMut<'v, T>);

impl<T> Sealed for CudaSlice<T> {}
impl<T: DeviceData> ForeignBuffer<T> for CudaSlice<T> {
    fn __len(&self) -> usize {
        self.len()
    }

    fn __address_mut(&mut self, device: &Device) -> Result<u64> {
        write(self, device)
    }
}

impl<T> Sealed for CudaViewMut<'_, T> {}
impl<T: DeviceData> ForeignBuffer<T> for CudaViewMut<'_, T> {
    fn __len(&self) -> usize {
        self.len()
    }

    fn __address_mut(&mut self, device: &Device) -> Result<u64> {
        write(self, device)
    }
}

/// Address of elements that the queue is about to read.
fn read<T>(slice: &impl DevicePtr<T>, device: &Device, operation: &'static str) -> Result<u64> {
    match queue(slice.len(), size_of::<T>(), slice.stream(), device, operation)? {
        // The queue waits for the last write; what is recorded when the second part is dropped does not matter, since the
        // operation ends before cudarc goes on.
        Some(queue) => Ok(slice.device_ptr(&queue).0),
        None => Ok(align_of::<T>() as u64),
    }
}

/// Address of elements that the queue is about to write.
fn write<T>(slice: &mut impl DevicePtrMut<T>, device: &Device) -> Result<u64> {
    match queue(slice.len(), size_of::<T>(), slice.stream(), device, "launch")? {
        Some(queue) => Ok(slice.device_ptr_mut(&queue).0),
        None => Ok(align_of::<T>() as u64),
    }
}

/// The device's queue as a stream of cudarc's, after what is on the slice's own; `None` if there are no bytes.
fn queue(len: usize, size: usize, stream: &Arc<CudaStream>, device: &Device, operation: &'static str) -> Result<Option<Arc<CudaStream>>> {
    taken();
    if len == 0 || size == 0 {
        return Ok(None);
    }
    let context = stream.context();
    let Some(cuda) = cuda(device).filter(|cuda| cuda.is_context(context.cu_ctx().cast())) else {
        return Err(other(device, operation, "another device or context"));
    };
    // SAFETY: the slice keeps its stream alive, and it is of this context.
    unsafe { cuda.wait_for(stream.cu_stream().cast()) }?;
    // SAFETY: the device outlives the use of the wrapper, which is of its context; this module orders the two.
    Ok(Some(unsafe { context.wrap_borrowed_stream(cuda.stream().cast()) }))
}
