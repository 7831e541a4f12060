//! `device!`: memory that the device module owns.

use crate::diagnostics::{self, error_expression};
use crate::image_link::is_device_pass;
use crate::names::SHARED_SECTION;
use crate::root::{Wrapped, site};
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Token, Type, TypeArray};

/// `shared: [T; N]`
pub struct Shared(pub TypeArray);

impl Parse for Shared {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let form = input.fork().parse::<Ident>().is_ok_and(|word| word == "shared") && input.peek2(Token![:]);
        if !form {
            return Err(syn::Error::new(input.span(), diagnostics::DEVICE_FORMS));
        }
        input.parse::<Ident>()?;
        input.parse::<Token![:]>()?;
        match input.parse()? {
            Type::Array(array) => Ok(Self(array)),
            other => Err(syn::Error::new_spanned(other, diagnostics::DEVICE_SHARED_TYPE)),
        }
    }
}

/// Expands the macro.
pub fn run(tokens: TokenStream) -> TokenStream {
    let parsed = syn::parse2(tokens).and_then(|wrapped: Wrapped| Ok((wrapped.root, site(&wrapped.tokens), syn::parse2(wrapped.tokens)?)));
    match parsed {
        Ok((root, site, shared)) => root.applied(expand(&shared, site)),
        Err(error) => error_expression(error),
    }
}

fn expand(Shared(array): &Shared, site: Span) -> TokenStream {
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
