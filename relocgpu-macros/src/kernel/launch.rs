//! `launch`: the typed way from the host to a kernel.

use super::Kernel;
use super::attributes::made;
use super::parameter::Parameter;
use crate::image_link;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{GenericParam, Generics, parse_quote};

impl Kernel {
    /// Host pass: `launch`, and where the image is.
    pub fn host_pass(&self, parameters: &[&Parameter]) -> TokenStream {
        let link = image_link::of_kernel(&self.function.sig.ident);
        let (image, reports) = (&link.expression, &link.reports);
        let (instance, fields) = (self.instance_type(), self.fields());
        let values = parameters.iter().map(|parameter| parameter.pack()).chain(self.launched_words());
        let (function, arguments) = (&self.function.sig.ident, self.arguments());
        let deprecated = self.is_deprecated().then(|| quote!(#[allow(deprecated)]));
        let launch = self.launch(
            parameters,
            quote_spanned! {Span::mixed_site()=>
                // A function that is launched is not unused; and rustc checks the instance's constants, which compare the types
                // of its `host!`s, without making code of it.
                #deprecated
                let _ = if false { #function #arguments as *const () } else { ::core::ptr::null() };
                let kernel = ::relocgpu_runtime::__private::KernelRef {
                    image: __relocgpu_image(),
                    kernel: #instance::DESCRIPTOR,
                    type_name: ::core::any::type_name::<#instance>(),
                    type_id: ::core::any::TypeId::of::<#instance>(),
                };
                let params = __RelocgpuParams { #(#fields: #values,)* };
                // SAFETY: the block is the one that the descriptor describes, and what its slices borrow outlives this call.
                unsafe { ::relocgpu_runtime::__private::launch(device, grid, &kernel, &params) }
            },
        );
        // Not generic, so that the image is named in the crate that owns it, whoever launches an instance.
        quote_spanned! {Span::mixed_site()=>
            #launch
            #[inline(never)]
            fn __relocgpu_image() -> ::relocgpu_runtime::__private::ImageLink {
                #image
            }
            #reports
        }
    }

    /// `launch` with this body. The device and the grid are named hygienically: a kernel may have a parameter `device`.
    pub fn launch(&self, parameters: &[&Parameter], body: TokenStream) -> TokenStream {
        let arguments = parameters.iter().map(|parameter| parameter.launch_argument());
        self.launch_of(arguments, &self.launch_generics(), body)
    }

    fn launch_of(&self, arguments: impl Iterator<Item = TokenStream>, generics: &Generics, body: TokenStream) -> TokenStream {
        let (name, vis, unsafety) = (&self.function.sig.ident, made(&self.function.vis), &self.function.sig.unsafety);
        let (in_fn, _, condition) = generics.split_for_impl();
        let shared = self.of_signature();
        // With the device and the grid `launch` may have more than clippy's seven, where the user's function has not.
        let many = (self.parameters.len() > 5).then(|| quote!(#[allow(clippy::too_many_arguments)]));
        let safety = unsafety.map(|_| quote!(#[doc = "# Safety"] #[doc = "As for the kernel itself, for each thread of the grid."]));
        let doc = format!(
            "Enqueues one launch of the kernel [`{0}`](fn@{0}) on a device, with one thread for each element of the grid.",
            name.unraw()
        );
        quote_spanned! {Span::mixed_site()=>
            impl #name {
                #[doc = #doc]
                ///
                /// # Errors
                /// If the device has no code for the kernel, the grid is beyond its limits, or a buffer belongs to
                /// another device; or an earlier launch's failure, which is told once.
                #safety
                #shared
                #many
                #vis #unsafety fn launch #in_fn (
                    device: &::relocgpu_runtime::Device,
                    grid: ::relocgpu_runtime::Grid,
                    #(#arguments),*
                ) -> ::relocgpu_runtime::Result<()>
                #condition
                {
                    #body
                }
            }
        }
    }

    /// How the kernel is launched, for the function's documentation.
    pub fn launch_doc(&self) -> TokenStream {
        let shown = self.parameters.iter().flatten().map(|parameter| format!(", {}", parameter.shown_at_launch()));
        let generics = &self.function.sig.generics.params;
        let turbofish = if self.is_generic() { format!("::<{}>", names_of(generics)) } else { String::new() };
        let call = format!("{}::launch{turbofish}(&device, grid{})?", self.function.sig.ident.unraw(), shown.collect::<String>());
        let lines = ["", " # Launch", " ```text", &format!(" {call}"), " ```"];
        quote!(#(#[doc = #lines])*)
    }

    /// Whether the user documents the function.
    pub fn is_documented(&self) -> bool {
        self.function.attrs.iter().any(|attribute| matches!(&attribute.meta, syn::Meta::NameValue(pair) if pair.path.is_ident("doc")))
    }

    /// An instance is found by its type's identity, which only types without borrows have. The bound joins those that
    /// the parameter has, wherever they stand: clippy objects to two places.
    fn launch_generics(&self) -> Generics {
        let mut generics = self.function.sig.generics.clone();
        let in_where: Vec<syn::Type> = generics.where_clause.iter().flat_map(|clause| &clause.predicates).filter_map(bounded).collect();
        for parameter in generics.type_params_mut() {
            let ident = &parameter.ident;
            if !in_where.contains(&parse_quote!(#ident)) {
                parameter.bounds.push(parse_quote!('static));
            }
        }
        let types: Vec<syn::Type> = generics
            .type_params()
            .map(|parameter| {
                let ident = &parameter.ident;
                parse_quote!(#ident)
            })
            .collect();
        for predicate in generics.where_clause.iter_mut().flat_map(|clause| &mut clause.predicates) {
            if let syn::WherePredicate::Type(predicate) = predicate
                && types.contains(&predicate.bounded_ty)
            {
                predicate.bounds.push(parse_quote!('static));
            }
        }
        generics
    }

    /// After a fault: a `launch` with the same signature, or one that takes anything, so that no caller errs as well.
    pub fn stand_in(&self, parameters: Option<&[&Parameter]>) -> TokenStream {
        let cfgs = self.cfgs();
        let body = quote!(::core::unimplemented!());
        let launch = match parameters {
            Some(parameters) => {
                let arguments = parameters.iter().map(|parameter| parameter.launch_argument());
                self.launch_of(arguments, &self.launch_generics(), body)
            }
            None => {
                let arguments = (0..self.parameters.len()).map(|index| {
                    let name = format_ident!("argument_{index}", span = Span::mixed_site());
                    quote!(#name: impl ::core::marker::Sized)
                });
                self.launch_of(arguments, &self.function.sig.generics, body)
            }
        };
        quote_spanned! {Span::mixed_site()=>
            #cfgs
            const _: () = { #launch };
        }
    }
}

/// Type and const parameters by name.
fn names_of<'a>(parameters: impl IntoIterator<Item = &'a GenericParam>) -> String {
    let names = parameters.into_iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Const(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    });
    names.collect::<Vec<_>>().join(", ")
}

fn bounded(predicate: &syn::WherePredicate) -> Option<syn::Type> {
    match predicate {
        syn::WherePredicate::Type(predicate) => Some(predicate.bounded_ty.clone()),
        _ => None,
    }
}
