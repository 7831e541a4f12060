//! How a kernel finds its image, and what the build script tells the macros (`RELOCGPU_PASS`, `RELOCGPU_FAULTS`).
//!
//! | `RELOCGPU_PASS` | kernels are expanded with |
//! |---|---|
//! | `linked` | a declaration of the image's symbol |
//! | `skipped` | no image: a launch is an `Err` |
//! | `rejected` | the faults listed in the file that `RELOCGPU_FAULTS` names, otherwise as `linked` |
//! | absent | one error that names the two lines to add |

use crate::diagnostics;
use crate::fault_report::entries;
use crate::names::{Place, Unit, env, pass};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use std::sync::atomic::AtomicBool;

/// Whether the device pass is compiling.
pub fn is_device_pass() -> bool {
    std::env::var_os(env::DEVICE_PASS).is_some()
}

/// What a kernel's expansion needs to know of its image.
pub struct ImageLink {
    /// An expression of type `ImageLink`.
    pub expression: TokenStream,
    /// Items that report what the pass found; errors at the kernel's name.
    pub reports: TokenStream,
}

/// The link of the kernel with this name.
pub fn of_kernel(name: &syn::Ident) -> ImageLink {
    let unit = Unit::from_environment();
    let Some(crate_name) = &unit.crate_name else { return absent(diagnostics::NO_CRATE, TokenStream::new()) };
    match std::env::var(env::PASS).as_deref() {
        Ok(pass::LINKED) => ImageLink { expression: linked(&unit), reports: TokenStream::new() },
        Ok(pass::SKIPPED) => absent(diagnostics::SKIPPED, TokenStream::new()),
        Ok(pass::REJECTED) => {
            let report = match read_faults() {
                Ok(report) => report,
                Err(message) => return absent(diagnostics::REJECTED, once(|| error(Span::call_site(), &message))),
            };
            rejected(&unit, crate_name, name, &report)
        }
        Ok(other) => absent(diagnostics::REJECTED, once(|| error(Span::call_site(), &diagnostics::unknown_pass(other)))),
        Err(_) => absent(diagnostics::REJECTED, once(|| error(Span::call_site(), diagnostics::NO_BUILD_SCRIPT))),
    }
}

fn absent(why: &str, reports: TokenStream) -> ImageLink {
    ImageLink { expression: quote!(::relocgpu_runtime::__private::ImageLink::Absent(#why)), reports }
}

/// Faults that are the package's and not one kernel's are reported by the first kernel that is expanded.
fn once(report: impl FnOnce() -> TokenStream) -> TokenStream {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    diagnostics::once(&REPORTED, report)
}

fn error(span: Span, message: &str) -> TokenStream {
    syn::Error::new(span, message).into_compile_error()
}

fn linked(unit: &Unit) -> TokenStream {
    let (plain, test) = (unit.image_symbol(false), unit.image_symbol(true));
    quote_spanned! {Span::mixed_site()=> {
        unsafe extern "C" {
            #[cfg_attr(test, link_name = #test)]
            #[cfg_attr(not(test), link_name = #plain)]
            static __RELOCGPU_IMAGE: ::relocgpu_runtime::__private::RawImage;
        }
        // SAFETY: the build script's object defines the symbol as an image, a constant.
        ::relocgpu_runtime::__private::ImageLink::Linked(unsafe { &__RELOCGPU_IMAGE })
    }}
}

fn rejected(unit: &Unit, crate_name: &str, name: &syn::Ident, report: &str) -> ImageLink {
    let entries = entries(report);
    let place = Place::of(name.span());
    let own = syn::ext::IdentExt::unraw(name).to_string();
    let mut messages: Vec<&str> = entries.iter().filter_map(|entry| entry.of_kernel(&own, &place)).collect();
    messages.dedup();
    let errors = messages.iter().map(|message| error(name.span(), message));
    let rejections: Vec<(bool, &str)> = entries.iter().filter_map(|entry| entry.of_unit(unit.kind, crate_name)).collect();
    let late = if rejections.is_empty() {
        TokenStream::new()
    } else {
        once(|| rejections.iter().map(|(test, text)| late_error(name.span(), *test, text)).collect())
    };
    let reports = quote!(#(#errors)* #late);
    let linked = linked(unit);
    let without = |test: bool| rejections.iter().any(|(of, _)| *of == test);
    let why = diagnostics::REJECTED;
    let absent = quote!(::relocgpu_runtime::__private::ImageLink::Absent(#why));
    let choose = |test| if without(test) { &absent } else { &linked };
    let (in_test, plain) = (choose(true), choose(false));
    ImageLink { expression: quote!({ #[cfg(test)] { #in_test } #[cfg(not(test))] { #plain } }), reports }
}

/// An item that errs only where rustc finds nothing else wrong: lints run after type checking has succeeded, in
/// `cargo check` too. Where lints are capped (a dependency from a registry), the constant errs when code is made: it
/// is generic, since rustc evaluates others beside its type checking. A trait, since for functions and types the lint
/// suggests an edit.
fn late_error(at: Span, test: bool, text: &str) -> TokenStream {
    let cfg = if test { quote!(#[cfg(test)]) } else { quote!(#[cfg(not(test))]) };
    let call = quote_spanned!(at=> build());
    quote! {
        #cfg
        const _: () = {
            #[must_use = #text]
            trait RejectedByTheDevicePass {}
            impl RejectedByTheDevicePass for () {}
            fn build() -> impl RejectedByTheDevicePass {}
            #[deny(unused_must_use)]
            fn report<T>() {
                #call;
                const { ::core::panic!("{}", #text) }
            }
            #[used]
            static REPORT: fn() = report::<()>;
        };
    }
}

fn read_faults() -> Result<String, String> {
    let variable = std::env::var(env::FAULTS).map_err(|_| diagnostics::faults_unreadable("", "RELOCGPU_FAULTS is not set"))?;
    let path = variable.rsplit_once('#').map_or(variable.as_str(), |(path, _hash)| path);
    std::fs::read_to_string(path).map_err(|error| diagnostics::faults_unreadable(path, &error.to_string()))
}
