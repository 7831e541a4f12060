//! The macros of host and device memory. They wrap those of relocgpu-macros to tell them where this crate is: a dependency
//! may be renamed, or re-exported by another crate.

/// A value of the host process inside device code, symbolic until the program starts.
///
/// | form | where | yields |
/// |---|---|---|
/// | `host!(expr)` | in code | the value of a host expression, evaluated once per process before the first launch |
/// | `host!(\|device\| expr)` | in code | the same for each [`Device`](crate::Device), whose `&Device` the expression gets |
/// | `host!(table: expr)` | a static | a [`DeviceTable<T>`](crate::DeviceTable): elements that are copied to each device |
/// | `host!(mapped: expr)` | a static | a [`Mapped<T>`](crate::Mapped): host memory that kernels see while they run |
/// | `host!(item: PATH)` | in code and constants | a [`HostRef<T>`](crate::HostRef): which static it is |
/// | `host!(fn: path as fn(A) -> B)` | in code and constants | a [`FnToken`](crate::FnToken): which function it is |
/// | `host!(symbol: "name" as T)` | in code, `unsafe` | the `T` that is stored at a symbol of the process |
/// | `host!(bound: "name" as T)` | in code | what the program gave to [`bind`](crate::bind) |
///
/// What code gets is one word: an integer of up to 64 bits, `f32`, `f64`, `bool`, `char`, a raw pointer, `HostRef` or
/// `FnToken`. On the host each form is its own value, as in these examples:
///
/// ```
/// use relocgpu_runtime::prelude::*;
///
/// fn gain() -> f32 { 2.5 }
///
/// // Its type follows from the expression alone: give literals a suffix.
/// let a: f32 = host!(gain()) * host!(2.0_f32);
/// let threads: u32 = host!(|device| device.limits().threads_per_block);
/// assert!(a == 5.0 && threads > 0);
/// ```
/// A table is made from a `Vec`, an array, a boxed slice or a `'static` slice; mapped memory of any value that is
/// [`DeviceData`](crate::DeviceData), atomics for what changes.
/// ```
/// use relocgpu_runtime::prelude::*;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// static SQUARES: DeviceTable<u32> = host!(table: (0..10).map(|i| i * i).collect::<Vec<u32>>());
/// static STOP: Mapped<AtomicU32> = host!(mapped: AtomicU32::new(0));
///
/// STOP.store(SQUARES[9], Ordering::Relaxed);
/// assert_eq!(STOP.load(Ordering::Relaxed), 81);
/// ```
/// Identities are compared and handed back; a device cannot look into the item or call the function.
/// ```
/// use relocgpu_runtime::prelude::*;
///
/// static RED: u32 = 1;
/// static BLUE: u32 = 1;
/// fn double(x: u32) -> u32 { 2 * x }
///
/// const BOTH: (HostRef<u32>, FnToken<fn(u32) -> u32>) = (host!(item: RED), host!(fn: double as fn(u32) -> u32));
/// assert!(BOTH.0 == HostRef::of(&RED) && BOTH.0 != host!(item: BLUE));
/// assert_eq!(BOTH.1, FnToken::of(double as fn(u32) -> u32));
/// ```
/// A symbol is looked for among the objects that are loaded, or in a library by its absolute path. What lies `offset`
/// bytes behind it must be a `T` that nobody writes meanwhile: reading it is `unsafe`.
/// ```
/// use relocgpu_runtime::prelude::*;
///
/// // SAFETY: the C library's pointer to the list of variables, which this program does not change.
/// let (list, high) = unsafe { (host!(symbol: "environ" as u64), host!(symbol: "environ" as u32, offset: 4)) };
/// assert_eq!(list >> 32, u64::from(high));
/// ```
/// ```no_run
/// # use relocgpu_runtime::prelude::*;
/// // SAFETY: the library says that it holds its version there.
/// let version = unsafe { host!(symbol: "lens_version" as u32, library: "/opt/lens/liblens.so") };
/// ```
/// A name is bound before [`init`](crate::init) or the first launch; else they return an error that lists it.
/// ```
/// use relocgpu_runtime::prelude::*;
///
/// relocgpu_runtime::bind("width", 640_u32)?;
/// assert_eq!(host!(bound: "width" as u32), 640);
/// # Ok::<(), relocgpu_runtime::Error>(())
/// ```
///
/// None of them names locals of the function around it. Generic parameters may stand in `host!(expr)`, written in a
/// generic kernel's own body: each instance has its value, evaluated before its first launch. Elsewhere, in generic
/// functions that kernels call, pass the value as an argument.
///
/// [`guide::host_references`](crate::guide::host_references) has each in kernels.
/// [`Device::refresh`](crate::Device::refresh) evaluates values anew. In a repetition of a macro by example, `$( … )*`,
/// each copy is a reference of its own.
// rustc shows the line of the expansion where it suggests a generic parameter for it.
#[macro_export]
macro_rules! host {
    ($($tokens:tt)*) => { $crate::__private::host! { [$crate] $($tokens)* } }; // not here: pass what depends on it as an argument
}

/// Memory that the device module owns.
///
/// * `device!(shared: [T; N])`: a [`SharedArray<T, N>`](crate::SharedArray) in the memory that the threads of a block
///   share; its contents are undefined when a block starts. A local of a kernel or the initialiser of a static.
/// * `device!(static: expr)`: a [`DeviceStatic<T>`](crate::DeviceStatic), the initialiser of a static: a value on each
///   device, which all kernels of the process share.
///
/// ```
/// use relocgpu_runtime::prelude::*;
/// use std::sync::atomic::AtomicU32;
///
/// static TILE: SharedArray<f32, 64> = device!(shared: [f32; 64]);
/// static HITS: DeviceStatic<[AtomicU32; 2]> = device!(static: [AtomicU32::new(3), AtomicU32::new(4)]);
///
/// let device = Device::cpu()?;
/// assert_eq!(HITS.read(&device)?[1].load(std::sync::atomic::Ordering::Relaxed), 4);
/// # let _ = &TILE;
/// # Ok::<(), relocgpu_runtime::Error>(())
/// ```
#[macro_export]
macro_rules! device {
    ($($tokens:tt)*) => { $crate::__private::device! { [$crate] $($tokens)* } };
}
