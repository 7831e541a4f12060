//! The macros of host and device memory. They wrap those of relocgpu-macros to tell them where this crate is: a dependency
//! may be renamed, or re-exported by another crate.

/// A value of the host process inside device code, symbolic until the program starts.
///
/// * `host!(expr)`: the value of a host expression, evaluated once per process before the first launch. Its type is a
///   number of up to 64 bits, `bool`, `char` or a raw pointer, and follows from the expression alone: give literals a
///   suffix.
/// * `host!(|device| expr)`: the same, once for each [`Device`](crate::Device).
/// * `host!(table: expr)`: a [`DeviceTable<T>`](crate::DeviceTable), filled from a `Vec<T>`, an array or a slice: the
///   initialiser of a static.
/// * `host!(mapped: expr)`: a [`Mapped<T>`](crate::Mapped), memory that host and kernels see at once: the initialiser of a
///   static.
/// * `host!(item: PATH)` and `host!(fn: PATH as fn(A) -> B)`: a [`HostRef<T>`](crate::HostRef) or
///   [`FnToken<fn(A) -> B>`](crate::FnToken), which static or function of the host it is; in code and in constants.
/// * `host!(symbol: "name" as T)`, `…, offset: BYTES`, `…, library: "/absolute/path"`: the word stored there; `unsafe`.
/// * `host!(bound: "name" as T)`: what the program gave to [`bind`](crate::bind) under the name.
///
/// [`guide::host_references`](crate::guide::host_references) has an example of each.
///
/// The expression cannot name locals or generic parameters of the function around it. On the host, `host!(expr)` is
/// the expression itself.
///
/// In a repetition of a macro by example, `$( … )*`, each copy is a reference of its own.
// rustc shows the line of the expansion where it suggests a generic parameter for it.
#[macro_export]
macro_rules! host {
    ($($tokens:tt)*) => { $crate::__private::host! { [$crate] $($tokens)* } }; // not here: pass what depends on it as an argument
}

/// Memory that the device module owns.
///
/// * `device!(shared: [T; N])`: a [`SharedArray<T, N>`](crate::SharedArray) in the memory that the threads of a block
///   share; its contents are undefined when a block starts. A local of a kernel or the initialiser of a static.
/// * `device!(static: expr)`: a [`DeviceStatic<T>`](crate::DeviceStatic), a value on each device that stays, with a handle on
///   the host: the initialiser of a static.
#[macro_export]
macro_rules! device {
    ($($tokens:tt)*) => { $crate::__private::device! { [$crate] $($tokens)* } };
}
