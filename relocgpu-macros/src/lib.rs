//! The macros of relocgpu. Use them through `relocgpu_runtime::prelude`.
//!
//! | macro | makes |
//! |---|---|
//! | [`macro@gpu_kernel`] | a kernel of a function, with a typed `launch` |
//! | [`host!`] | a value that only the running host process knows |
//! | [`device!`] | memory that the device module owns |
//! | [`derive@DeviceData`] | types that cross to the device by value |
//!
//! Each parses its input into a struct, collects all faults, and expands into paths below `::relocgpu_runtime`.
//! `RELOCGPU_DEVICE_PASS` in the environment tells which of the two compiles is running.

mod device_data;
mod device_mem;
mod diagnostics;
mod fault_report;
mod host_ref;
mod image_link;
mod kernel;
mod names;

use proc_macro::TokenStream;

/// Makes a kernel of a free function.
///
/// The function stays what it is: ordinary Rust, checked by the ordinary compile, callable by other device code.
/// Beside it stands a type of the same name with one function, `launch`:
///
/// ```text
/// #[gpu_kernel]
/// fn scale(x: &[f32], mut y: DisjointSlice<f32>, by: f32) { … }
///
/// scale::launch(&device, Grid::over(n), &x, &mut y, 2.0)?;     // x, y: Buffer<f32>
/// ```
///
/// | parameter | in `launch` | |
/// |---|---|---|
/// | `&[T]` | `impl SliceArg<T>`: `&Buffer<T>` or a part of one | device memory to read |
/// | `DisjointSlice<T>`, `DisjointSlice<T, Space>` | `impl SliceMutArg<T, Space>`: `&mut Buffer<T>` or a part of one | device memory in which each thread reaches its own elements |
/// | any `T: DeviceData` | `T` | passed by value |
///
/// Generic kernels are launched as `kernel::launch::<f32, 4>(…)`, or with what inference finds; type parameters must
/// be `'static` there. The kernel of an `unsafe fn` has an unsafe `launch`.
///
/// The package needs the build script `fn main() { relocgpu_build::compile() }`.
/// The expansion holds unsafe code of its own, which `#![forbid(unsafe_code)]` in the crate does not object to.
#[proc_macro_attribute]
pub fn gpu_kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::run(arguments.into(), item.into()).into()
}

/// A value of the host process inside device code, symbolic until the program starts.
///
/// * `host!(expr)`: the value of a host expression, evaluated once per process before the first launch. Its type is a
///   number of up to 64 bits, `bool`, `char` or a raw pointer, and follows from the expression alone: give literals a
///   suffix.
/// * `host!(table: expr)`: a `DeviceTable<T>`, filled from a `Vec<T>`, an array or a slice: the initialiser of a static.
///
/// The expression cannot name locals or generic parameters of the function around it. On the host, `host!(expr)` is
/// the expression itself.
///
/// A macro by example can hold a `host!`, but not inside a repetition such as `$( … )*`: one call of the macro would make
/// it several times under one symbol (``symbol `__relocgpu_host_…` is already defined``). Write it in front of the
/// repetition, `let gain = host!(gain());`, or in a function that the repetition calls.
#[proc_macro]
pub fn host(tokens: TokenStream) -> TokenStream {
    host_ref::run(tokens.into()).into()
}

/// Memory that the device module owns.
///
/// * `device!(shared: [T; N])`: a `SharedArray<T, N>` in the memory that the threads of a block share; its contents are
///   undefined when a block starts. A local of a kernel or the initialiser of a static.
#[proc_macro]
pub fn device(tokens: TokenStream) -> TokenStream {
    device_mem::run(tokens.into()).into()
}

/// Lets a type cross to the device: structs of `DeviceData`, and enums without fields that have an integer `repr`.
///
/// References, fn pointers and boxes cannot cross, nor can a type with a `Drop`; the error names the field.
#[proc_macro_derive(DeviceData)]
pub fn device_data(item: TokenStream) -> TokenStream {
    device_data::run(item.into()).into()
}
