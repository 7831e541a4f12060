//! What becomes of one parameter: in `launch`, in the parameter block, in the descriptor, in the entry.

use super::parameter::{Class, Parameter};
use crate::names::text_of_type;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse_quote_spanned;
use syn::spanned::Spanned;

impl Parameter {
    /// What lies in the parameter block.
    pub fn raw_type(&self) -> TokenStream {
        match &self.class {
            Class::Slice(element) => quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::__private::RawSlice<#element>),
            Class::Disjoint { element, space } => {
                let space = space_type(space);
                quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::__private::RawDisjoint<#element, #space>)
            }
            Class::Value => self.ty.to_token_stream(),
        }
    }

    /// The one place that asks for `DeviceData`, at the type's own place.
    pub fn descriptor(&self, block: &TokenStream, field: &syn::Ident) -> TokenStream {
        let (name, written) = (self.name.unraw().to_string(), text_of_type(&self.ty));
        let at = |ty: &syn::Type| ty.span().resolved_at(Span::mixed_site());
        let layout = match &self.class {
            Class::Slice(element) => {
                quote_spanned!(at(element)=> ::relocgpu_runtime::__private::slice_layout::<#element>())
            }
            Class::Disjoint { element, space } => {
                let space = space_type(space);
                quote_spanned!(at(element)=> ::relocgpu_runtime::__private::disjoint_layout::<#element, #space>())
            }
            Class::Value => {
                let ty = &self.ty;
                quote_spanned!(at(ty)=> <#ty as ::relocgpu_runtime::DeviceData>::LAYOUT)
            }
        };
        quote_spanned! {Span::mixed_site()=>
            ::relocgpu_runtime::__private::ParamDescriptor {
                name: #name,
                ty: #written,
                offset: ::core::mem::offset_of!(#block, #field),
                layout: #layout,
            }
        }
    }

    /// Its argument in `launch`'s signature.
    pub fn launch_argument(&self) -> TokenStream {
        let (name, ty) = (&self.name, &self.ty);
        match &self.class {
            Class::Slice(element) => quote_spanned!(Span::mixed_site()=> #name: impl ::relocgpu_runtime::SliceArg<#element>),
            Class::Disjoint { element, space } => {
                let space = space_type(space);
                quote_spanned!(Span::mixed_site()=> mut #name: impl ::relocgpu_runtime::SliceMutArg<#element, #space>)
            }
            Class::Value => quote!(#name: #ty),
        }
    }

    /// Its argument as the documentation shows it.
    pub fn shown_at_launch(&self) -> String {
        let name = self.name.unraw();
        match &self.class {
            Class::Slice(element) => format!("{name}: &Buffer<{}>", text_of_type(element)),
            Class::Disjoint { element, space: None } => format!("{name}: &mut Buffer<{}>", text_of_type(element)),
            Class::Disjoint { element, space: Some(space) } => {
                format!("{name}: impl SliceMutArg<{}, {}>", text_of_type(element), text_of_type(space))
            }
            Class::Value => format!("{name}: {}", text_of_type(&self.ty)),
        }
    }

    /// Host: the argument as the parameter block has it.
    pub fn pack(&self) -> TokenStream {
        let name = &self.name;
        match &self.class {
            Class::Slice(_) => quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::SliceArg::__pack(&#name, device)?),
            Class::Disjoint { .. } => quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::SliceMutArg::__pack(&mut #name, device)?),
            Class::Value => quote!(#name),
        }
    }

    /// Device: what the block holds as the kernel takes it.
    pub fn unpack(&self, field: &syn::Ident) -> TokenStream {
        match &self.class {
            Class::Slice(_) => quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::__private::slice(&params.#field)),
            Class::Disjoint { .. } => quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::__private::disjoint(&params.#field)),
            Class::Value => quote_spanned!(Span::mixed_site()=> params.#field),
        }
    }
}

fn space_type(space: &Option<Box<syn::Type>>) -> syn::Type {
    space.as_deref().cloned().unwrap_or_else(|| parse_quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::__private::DefaultSpace))
}
