//! The macros of relocgpu. Use them through `relocgpu_runtime::prelude`.
//!
//! | macro | makes |
//! |---|---|
//! | [`macro@gpu_kernel`] | a kernel of a function, with a typed `launch` |
//! | [`macro@host`] | a value that only the running host process knows |
//! | [`macro@device`] | memory that the device module owns |
//! | [`derive@DeviceData`] | types that cross to the device by value |
//!
//! Each parses its input into a struct, collects all faults, and expands into paths below `::relocgpu_runtime`, which
//! become those of the crate that the user has.
//! `RELOCGPU_DEVICE_PASS` in the environment tells which of the two compiles is running.

mod device_data;
mod device_mem;
mod diagnostics;
mod fault_report;
mod host_ref;
mod image_link;
mod kernel;
mod names;
mod root;

use proc_macro::TokenStream;

/// Makes a kernel of a free function.
///
/// The function stays what it is: ordinary Rust, checked by the ordinary compile, callable by other device code,
/// but for what is said of generic kernels below.
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
/// `#[gpu_kernel(crate = path)]` names the crate relocgpu_runtime where another crate re-exports it; a dependency that is
/// renamed in Cargo.toml needs no such word.
///
/// `#[gpu_kernel(delivery = …)]` says where the words of the kernel's `host!`s are, in place of what the build script
/// says for the whole image (`relocgpu_build::Builder::delivery`):
///
/// | delivery | the words lie | for |
/// |---|---|---|
/// | `patch` | in the loaded module; `Device::refresh` replaces them | most kernels: it is the default |
/// | `table` | behind the parameters of each launch | values that change from launch to launch |
/// | `bake` | in the code, where the driver's compiler folds them | values that decide much and never change; no addresses |
///
/// ```text
/// #[gpu_kernel(delivery = table)]
/// fn develop(x: &[f32], mut y: DisjointSlice<f32>) { … host!(gain()) … }
/// ```
///
/// A `host!(expr)` in the body of a generic kernel may name its generic parameters. Its value is one of the instance's,
/// evaluated before the first launch of it, and travels with each launch; device code cannot call such a kernel as a
/// function.
///
/// The package needs the build script `fn main() { relocgpu_build::compile() }`.
/// The expansion holds unsafe code of its own, which `#![forbid(unsafe_code)]` in the crate does not object to.
#[proc_macro_attribute]
pub fn gpu_kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::run(arguments.into(), item.into()).into()
}

/// `relocgpu_runtime::host!` after the runtime's path in brackets, `[path] expr`, with one of its words in front: `[path] table: expr`.
#[proc_macro]
pub fn host(tokens: TokenStream) -> TokenStream {
    host_ref::run(tokens.into()).into()
}

/// `relocgpu_runtime::device!` after the runtime's path in brackets: `[path] shared: [T; N]` or `[path] static: expr`.
#[proc_macro]
pub fn device(tokens: TokenStream) -> TokenStream {
    device_mem::run(tokens.into()).into()
}

/// Lets a type cross to the device: structs of `DeviceData`, and enums without fields that have an integer `repr`.
///
/// References, fn pointers and boxes cannot cross, nor can a type with a `Drop`; the error names the field.
/// `#[device_data(crate = path)]` beside it names the crate relocgpu_runtime where another crate re-exports it.
#[proc_macro_derive(DeviceData, attributes(device_data))]
pub fn device_data(item: TokenStream) -> TokenStream {
    device_data::run(item.into()).into()
}
