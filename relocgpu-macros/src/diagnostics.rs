//! Every message of this crate: what is wrong, and the remedy.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use std::sync::atomic::{AtomicBool, Ordering};

/// Collects all faults of one invocation, so that they are reported at once.
#[derive(Default)]
pub struct Faults(Option<syn::Error>);

impl Faults {
    /// Adds a fault at the tokens it is about.
    pub fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// One `compile_error!` for each fault.
    pub fn into_tokens(self) -> TokenStream {
        self.0.map(|error| error.into_compile_error()).unwrap_or_default()
    }

    /// The messages, for tests.
    #[cfg(test)]
    pub fn messages(&self) -> Vec<String> {
        self.0.iter().flatten().map(|error| error.to_string()).collect()
    }
}

/// What this process reports once, however often it finds it.
pub fn once(reported: &AtomicBool, report: impl FnOnce() -> TokenStream) -> TokenStream {
    if reported.swap(true, Ordering::Relaxed) { TokenStream::new() } else { report() }
}

/// A `compile_error!` in expression position.
pub fn error_expression(error: syn::Error) -> TokenStream {
    let span = error.span();
    let errors = error.into_compile_error();
    quote_spanned!(span=> { #errors })
}

// #[gpu_kernel]: the item
pub const ATTRIBUTE_ARGUMENTS: &str = "`#[gpu_kernel]` takes `crate = path`, where `path` is a re-export of the crate relocgpu_runtime, and `delivery = patch`, `table` or `bake`, each once: remove anything else";
pub const REPEATED: &str = "this function is a kernel already: remove the second `#[gpu_kernel]`";
pub const NO_RUNTIME: &str = "this package does not depend on relocgpu-runtime: add it to `[dependencies]` in Cargo.toml, or say where it is re-exported: \
     `#[gpu_kernel(crate = path::relocgpu_runtime)]`, `#[device_data(crate = path::relocgpu_runtime)]`";
pub const NOT_A_FUNCTION: &str =
    "`#[gpu_kernel]` goes on a free function, such as `fn scale(x: &[f32], mut y: DisjointSlice<f32>, by: f32) { … }`";
pub const IN_IMPL: &str = "a kernel is a free function: move it out of the `impl`, and pass what it needs as parameters";
pub const IN_TRAIT: &str =
    "a kernel is a free function: move it out of the trait; a generic kernel, `fn kernel<T: Trait>(…)`, calls the trait's functions";
pub const IN_EXTERN: &str = "a kernel is a free function with a body: move it out of the `extern` block and write it in Rust";
pub const SELF_RECEIVER: &str = "a kernel cannot take `self`: make it a free function and pass what it needs as parameters (`#[derive(DeviceData)]` lets a struct cross by value)";
pub const ASYNC: &str = "a kernel cannot be `async`: remove `async`; the host waits for a launch with `device.synchronize()`";
pub const EXTERN_ABI: &str = "a kernel has no ABI of its own: remove `extern`; relocgpu makes the entry point";
pub const VARIADIC: &str = "a kernel cannot be variadic: pass a `&[T]` instead";
pub const RETURN_VALUE: &str = "a kernel cannot return a value: write results through a `DisjointSlice<T>` parameter";

// #[gpu_kernel]: parameters
pub const MUT_SLICE: &str = "all threads of a launch would share this `&mut [T]`: take `mut out: DisjointSlice<T>`, in which each thread can reach its own elements only";
pub const MUT_REFERENCE: &str =
    "a kernel cannot take `&mut T`, which all threads of a launch would share: take a `DisjointSlice<T>` of one element, or atomics";
pub const REFERENCE: &str =
    "a kernel cannot take a reference to a host value: take the value itself if its type is `DeviceData`, or a `&[T]` of device memory";
pub const STR: &str = "a kernel cannot take `&str`: take its bytes as `&[u8]`";
pub const ARRAY_REFERENCE: &str = "a kernel cannot take a reference to an array: take a `&[T]` of device memory, or the array by value";
pub const STATIC_SLICE: &str = "device memory does not live for `'static`: remove the lifetime, the slice lives as long as the launch";
pub const FN_POINTER: &str =
    "a host fn pointer cannot be called on a device: make the kernel generic over a trait with that function, or pass a value to choose by";
pub const IMPL_TRAIT: &str = "a kernel's `launch` must name the type: write a generic parameter, as in `fn kernel<T: Trait>(value: T)`";
pub const TRAIT_OBJECT: &str = "a trait object points into the host program: make the kernel generic, or use an enum";
pub const INNER_REFERENCE: &str = "data that crosses to the device cannot hold references: store values or indices, and pass memory as `&[T]` or `DisjointSlice<T>` of its own";
pub const INNER_LIFETIME: &str = "data that crosses to the device cannot borrow: use a type without lifetimes";

/// Where a function with `#[gpu_kernel]` stands, if it is no free function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    Impl,
    Trait,
    Extern,
}

/// What to do about a kernel that stands there.
pub fn not_free(around: Around) -> &'static str {
    match around {
        Around::Impl => IN_IMPL,
        Around::Trait => IN_TRAIT,
        Around::Extern => IN_EXTERN,
    }
}

/// A `host!` that names something of the function around it.
pub fn host_capture(name: &str, what: Captured) -> String {
    match what {
        Captured::Local => format!(
            "`host!` is evaluated on the host, once, before the first launch: it cannot name `{name}`, which exists in the running kernel only; \
             pass the host's value to the kernel as a parameter, or name a static or a function of the host"
        ),
        Captured::Generic => format!(
            "this form of `host!` is evaluated once for all instances of a generic kernel: it cannot name the generic parameter `{name}`; \
             only the value of an expression, `host!(expr)`, may, or pass the host's value to the kernel as a parameter"
        ),
    }
}

/// A `device!` whose type names a generic parameter or a local.
pub fn device_capture(name: &str) -> String {
    format!(
        "memory made by `device!` belongs to the module, not to one instance: its type cannot name `{name}` of the function around it; \
         write a type and a length that are known without it"
    )
}

/// What a `host!` named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Captured {
    /// A parameter or a local variable.
    Local,
    /// A generic parameter.
    Generic,
}

// host!
pub const HOST_EMPTY: &str = "`host!` needs an expression: `host!(expr)`, or a form such as `host!(table: expr)` for a `DeviceTable`";
pub const HOST_ONE: &str = "`host!` takes one expression";
pub const HOST_CLOSURE: &str = "`host!` takes the expression itself, or a closure of the device that it is evaluated for: write `host!(expr)` or `host!(|device| expr)`; \
     it is evaluated on the host before the first launch, so it cannot name locals: pass a local as a parameter of the kernel";
pub const HOST_LITERAL: &str =
    "the type of a `host!` value must follow from its expression alone: give the literal a suffix, as in `1.0_f32`";

pub const HOST_ITEM: &str = "`host!(item: …)` names a static of the host, as in `host!(item: crate::TABLE)`";
pub const HOST_FN: &str = "`host!(fn: …)` names a function of the host and its type, as in `host!(fn: work as fn(u32) -> u32)`";
pub const HOST_NAMED: &str = "a name in quotes and a type: write `host!(bound: \"name\" as T)` or `host!(symbol: \"name\" as T)`";
pub const HOST_SYMBOL: &str = "behind the symbol and its type there may be `offset: 8` (bytes) and `library: \"/absolute/path.so\"`";
pub const HOST_LIBRARY: &str = "a library is named by its absolute path: what a relative one means depends on the process";

/// A `word:` that `host!` does not know.
pub fn host_form(word: &str) -> String {
    format!(
        "`host!` has no form `{word}:`; the forms are `host!(expr)`, `host!(|device| expr)`, `table:`, `mapped:`, `item:`, `fn:`, `symbol:` and `bound:`"
    )
}

// device!
pub const DEVICE_FORMS: &str = "`device!` has two forms: `device!(shared: [T; N])`, memory shared by the threads of a block, and `device!(static: expr)`, memory of a device";
pub const DEVICE_SHARED_TYPE: &str = "block-shared memory is an array: write `device!(shared: [T; N])`";

// #[derive(DeviceData)]
pub const DATA_UNION: &str = "a union cannot be `DeviceData`: what it holds is not known; use a struct";
pub const DATA_ENUM_FIELDS: &str =
    "an enum whose variants hold fields cannot be `DeviceData`: use a struct with a fieldless enum beside its fields, or an `Option`";
pub const DATA_ENUM_REPR: &str = "a `DeviceData` enum needs a fixed size: add `#[repr(u8)]`, `#[repr(u32)]` or another integer";
pub const DATA_DROP: &str = "a `DeviceData` type cannot have a `Drop`: its copies on the device are never dropped";
pub const DATA_ARGUMENTS: &str = "`#[device_data]` takes `crate = path`, where `path` is a re-export of the crate relocgpu_runtime";
pub const DATA_ENUM_EMPTY: &str = "an enum without variants has no value that could cross to the device";

// The build script
pub const NO_BUILD_SCRIPT: &str = "this package has kernels but no relocgpu build script, so nothing compiles them for the device; add two lines:\n  \
     Cargo.toml:  [build-dependencies] relocgpu-build = \"0.1\"\n  \
     build.rs:    fn main() { relocgpu_build::compile() }";
pub const SKIPPED: &str =
    "the device pass was skipped in this build (cargo doc, docs.rs or an editor): build with cargo build to launch kernels";
pub const NO_CRATE: &str = "no image is made for code compiled outside cargo's own targets (such as a documentation test): move the kernel into the crate, a test or an example";
pub const REJECTED: &str = "the device pass was rejected";

/// The build script set `RELOCGPU_PASS` to something else.
pub fn unknown_pass(value: &str) -> String {
    format!("RELOCGPU_PASS is `{value}`, which this version does not know: use the same version of relocgpu-build and relocgpu-runtime")
}

/// The file of faults cannot be read.
pub fn faults_unreadable(path: &str, why: &str) -> String {
    format!(
        "the device pass found faults, but its report {path} cannot be read ({why}): run cargo clean -p on this package and build again"
    )
}
