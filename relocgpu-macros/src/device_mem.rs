//! `device!`: memory of the device.

use crate::diagnostics::{self, error_expression};
use crate::host_ref::Reference;
use crate::image_link::is_device_pass;
use crate::names::{SHARED_SECTION, kind};
use crate::root::{Wrapped, site};
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Ident, Token, Type, TypeArray};

/// What stands in `device!`.
pub enum DeviceForm {
    /// `shared: [T; N]`
    Shared(TypeArray),
    /// `static: expr`
    Static(Box<Expr>),
}

impl Parse for DeviceForm {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let word = input.fork().call(Ident::parse_any).ok().filter(|_| input.peek2(Token![:]) && !input.peek2(Token![::]));
        let Some(word) = word.filter(|word| word == "shared" || word == "static") else {
            return Err(syn::Error::new(input.span(), diagnostics::DEVICE_FORMS));
        };
        input.call(Ident::parse_any)?;
        input.parse::<Token![:]>()?;
        if word == "static" {
            return input.parse().map(|expression| Self::Static(Box::new(expression)));
        }
        match input.parse()? {
            Type::Array(array) => Ok(Self::Shared(array)),
            other => Err(syn::Error::new_spanned(other, diagnostics::DEVICE_SHARED_TYPE)),
        }
    }
}

/// Expands the macro.
pub fn run(tokens: TokenStream) -> TokenStream {
    let parsed = syn::parse2(tokens).and_then(|wrapped: Wrapped| Ok((syn::parse2(wrapped.tokens.clone())?, wrapped)));
    match parsed {
        Ok((DeviceForm::Shared(array), Wrapped { root, tokens })) => root.applied(shared(&array, site(&tokens))),
        Ok((DeviceForm::Static(expression), Wrapped { root, tokens })) => {
            let reference = Reference::new(tokens);
            root.applied(if is_device_pass() {
                reference.device_memory(&expression, kind::STATIC)
            } else {
                reference.host_memory(&expression, kind::STATIC)
            })
        }
        Err(error) => error_expression(error),
    }
}

fn shared(array: &TypeArray, site: Span) -> TokenStream {
    let (element, length) = (&array.elem, &array.len);
    if !is_device_pass() {
        return quote_spanned! {site=>
            // SAFETY: on the host nothing reads through the pointer.
            unsafe { ::relocgpu_runtime::__private::shared::<#element, { #length }>(::core::ptr::NonNull::dangling().as_ptr()) }
        };
    }
    quote_spanned! {site=> {
        #[unsafe(link_section = #SHARED_SECTION)]
        static mut __RELOCGPU_SHARED: ::core::mem::MaybeUninit<#array> = ::core::mem::MaybeUninit::uninit();
        // SAFETY: every block has its own memory for a static of this section, and nothing else names it.
        unsafe { ::relocgpu_runtime::__private::shared::<#element, { #length }>(&raw mut __RELOCGPU_SHARED as *mut #array) }
    }}
}
