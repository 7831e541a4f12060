//! Attributes of the user's function that hold for what is made beside it.

use super::Kernel;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

/// Whether this is a second `#[gpu_kernel]`.
pub fn is_kernel(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "gpu_kernel")
}

impl Kernel {
    /// `cfg`s, which all items share.
    pub fn cfgs(&self) -> TokenStream {
        self.shared(|meta| meta.path().is_ident("cfg").then(|| meta.to_token_stream()))
    }

    /// What is said about the function's signature holds for that of `launch` too. An expectation becomes a permission:
    /// the lint may well not fire twice.
    pub fn of_signature(&self) -> TokenStream {
        self.shared(|meta| match meta {
            meta if meta.path().is_ident("allow") || meta.path().is_ident("deprecated") => Some(meta.to_token_stream()),
            Meta::List(list) if list.path.is_ident("expect") => {
                let lints = &list.tokens;
                Some(quote!(allow(#lints)))
            }
            _ => None,
        })
    }

    /// Whether naming the function may be linted.
    pub fn is_deprecated(&self) -> bool {
        !self.shared(|meta| meta.path().is_ident("deprecated").then(|| meta.to_token_stream())).is_empty()
    }

    /// The attributes that `select` takes or changes, those in a `cfg_attr` included.
    fn shared(&self, select: impl Fn(&Meta) -> Option<TokenStream>) -> TokenStream {
        let selected = self.function.attrs.iter().filter_map(|attribute| selected(&attribute.meta, &select));
        quote!(#(#[#selected])*)
    }
}

fn selected(meta: &Meta, select: &impl Fn(&Meta) -> Option<TokenStream>) -> Option<TokenStream> {
    let Meta::List(list) = meta else { return select(meta) };
    if !list.path.is_ident("cfg_attr") {
        return select(meta);
    }
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
    let condition = parts.first()?;
    let inner: Vec<TokenStream> = parts.iter().skip(1).filter_map(|part| selected(part, select)).collect();
    (!inner.is_empty()).then(|| quote!(cfg_attr(#condition, #(#inner),*)))
}

/// Tokens of the user's that stand for something made here: lints of the user's crate are not about it. Names keep their
/// meaning, since items have no hygiene.
pub fn made(tokens: impl ToTokens) -> TokenStream {
    let remade = tokens.into_token_stream().into_iter().map(|mut token| {
        token.set_span(token.span().resolved_at(Span::mixed_site()));
        token
    });
    remade.collect()
}
