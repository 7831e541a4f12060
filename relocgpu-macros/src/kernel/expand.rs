//! What becomes of a [`Kernel`].
//!
//! ```text
//! fn develop(x: &[f32], mut y: DisjointSlice<f32>) { … }     the user's function, as it is
//! enum develop {}                                            the same name among types: `develop::launch`
//! const _: () = {
//!     struct __RelocgpuParams<P0, P1> { … }                  the parameter block, generic over what lies in it
//!     struct __RelocgpuInstance;                             its type name tells instances apart
//!     impl __RelocgpuInstance { const DESCRIPTOR }           what the device pass stores and the loader compares
//!     impl develop { fn launch(&Device, Grid, …) }
//!     unsafe extern "C" fn __relocgpu_entry(…)               device pass: unpacks the block, calls the function
//!     fn __relocgpu_root()                                   device pass: marks the entry for the link stage
//! };
//! ```

use super::Kernel;
use super::parameter::{Class, Parameter};
use crate::diagnostics::Faults;
use crate::image_link;
use crate::names::{Place, text_of_type};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, parse_quote, parse_quote_spanned};

impl Kernel {
    pub fn expand(&self, faults: Faults) -> TokenStream {
        let function = self.function();
        let handle = self.handle();
        let parameters: Option<Vec<&Parameter>> = self.parameters.iter().map(Option::as_ref).collect();
        let sound = faults.is_empty();
        let errors = faults.into_tokens();
        let inner = match parameters {
            Some(parameters) if sound => self.machinery(&parameters),
            parameters => self.stand_in(parameters.as_deref()),
        };
        quote!(#errors #function #handle #inner)
    }

    fn function(&self) -> TokenStream {
        let function = &self.function;
        quote!(#[allow(dead_code)] #function)
    }

    /// `cfg`s of the function, which all that is made beside it shares.
    fn cfgs(&self) -> TokenStream {
        self.function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).map(ToTokens::to_token_stream).collect()
    }

    fn handle(&self) -> TokenStream {
        let (cfgs, vis, name) = (self.cfgs(), &self.function.vis, &self.function.sig.ident);
        let doc = format!("The kernel [`{0}`](fn@{0}), to [`launch`]({0}::launch).", name.unraw());
        quote_spanned! {Span::mixed_site()=>
            #cfgs
            #[doc = #doc]
            #[allow(non_camel_case_types, dead_code, unreachable_pub)]
            #vis enum #name {}
        }
    }

    fn machinery(&self, parameters: &[&Parameter]) -> TokenStream {
        let cfgs = self.cfgs();
        let block = self.block();
        let instance = self.instance(parameters);
        let pass = if image_link::is_device_pass() { self.device_pass(parameters) } else { self.host_pass(parameters) };
        quote_spanned! {Span::mixed_site()=>
            #cfgs
            const _: () = {
                #block
                #instance
                #pass
            };
        }
    }

    fn block(&self) -> TokenStream {
        let types: Vec<_> = (0..self.parameters.len()).map(|index| format_ident!("P{index}")).collect();
        let fields = self.fields();
        quote_spanned! {Span::mixed_site()=>
            #[repr(C)]
            #[allow(dead_code)]
            struct __RelocgpuParams<#(#types),*> {
                #(#fields: #types,)*
            }
        }
    }

    fn fields(&self) -> Vec<syn::Ident> {
        (0..self.parameters.len()).map(|index| format_ident!("p{index}", span = Span::mixed_site())).collect()
    }

    /// The parameter block's type: of the instance, where the kernel's generic parameters are in scope.
    fn block_type(&self, parameters: &[&Parameter]) -> TokenStream {
        let types = parameters.iter().map(|parameter| parameter.raw_type());
        quote_spanned!(Span::mixed_site()=> __RelocgpuParams<#(#types),*>)
    }

    fn instance(&self, parameters: &[&Parameter]) -> TokenStream {
        let own = &self.function.sig.generics.params;
        let declared = own.iter().filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => {
                let ident = &parameter.ident;
                Some(quote!(#ident: ?::core::marker::Sized))
            }
            GenericParam::Const(parameter) => {
                let (ident, ty) = (&parameter.ident, &parameter.ty);
                Some(quote!(const #ident: #ty))
            }
            GenericParam::Lifetime(_) => None,
        });
        let types = self.function.sig.generics.type_params().map(|parameter| &parameter.ident);
        let (in_impl, _, condition) = self.function.sig.generics.split_for_impl();
        let instance = self.instance_type();
        let block = self.block_type(parameters);
        let name = self.function.sig.ident.unraw().to_string();
        let Place { line, column, .. } = Place::of(self.function.sig.ident.span());
        let descriptors = parameters.iter().zip(self.fields()).map(|(parameter, field)| parameter.descriptor(&block, &field));
        quote_spanned! {Span::mixed_site()=>
            #[allow(dead_code)]
            struct __RelocgpuInstance<#(#declared),*>(::core::marker::PhantomData<(#(::core::marker::PhantomData<#types>,)*)>);

            impl #in_impl #instance #condition {
                const DESCRIPTOR: &'static ::relocgpu_runtime::__private::KernelDescriptor = &::relocgpu_runtime::__private::KernelDescriptor {
                    name: ::core::concat!(::core::module_path!(), "::", #name),
                    file: ::core::file!(),
                    params: &[#(#descriptors),*],
                    size: ::core::mem::size_of::<#block>(),
                    align: ::core::mem::align_of::<#block>(),
                    line: #line,
                    column: #column,
                };
            }
        }
    }

    fn instance_type(&self) -> TokenStream {
        let arguments = self.arguments();
        quote_spanned!(Span::mixed_site()=> __RelocgpuInstance #arguments)
    }

    fn host_pass(&self, parameters: &[&Parameter]) -> TokenStream {
        let link = image_link::of_kernel(&self.function.sig.ident);
        let (image, reports) = (&link.expression, &link.reports);
        let (instance, fields) = (self.instance_type(), self.fields());
        let values = parameters.iter().map(|parameter| parameter.pack());
        let launch = self.launch(
            parameters,
            quote_spanned! {Span::mixed_site()=>
                let params = __RelocgpuParams { #(#fields: #values,)* };
                let kernel = ::relocgpu_runtime::__private::KernelRef {
                    image: __relocgpu_image(),
                    kernel: #instance::DESCRIPTOR,
                    type_name: ::core::any::type_name::<#instance>(),
                    type_id: ::core::any::TypeId::of::<#instance>(),
                };
                // SAFETY: the block is the one that the descriptor describes, and what its slices borrow outlives this call.
                unsafe { ::relocgpu_runtime::__private::launch(device, grid, &kernel, &params) }
            },
        );
        // Not generic, so that the image is named in the crate that owns it, whoever launches an instance.
        quote_spanned! {Span::mixed_site()=>
            #launch
            #[inline(never)]
            #[allow(dead_code)]
            fn __relocgpu_image() -> ::relocgpu_runtime::__private::ImageLink {
                #image
            }
            #reports
        }
    }

    fn device_pass(&self, parameters: &[&Parameter]) -> TokenStream {
        let (instance, block, fields) = (self.instance_type(), self.block_type(parameters), self.fields());
        let (function, arguments) = (&self.function.sig.ident, self.arguments());
        let (in_impl, _, condition) = self.function.sig.generics.split_for_impl();
        let (values, names) =
            (parameters.iter().zip(&fields).map(|(parameter, field)| parameter.unpack(field)), parameters.iter().map(|p| &p.name));
        let launch = self.launch(
            parameters,
            quote_spanned! {Span::mixed_site()=>
                let _ = (device, grid, #(#names,)*);
                __relocgpu_root #arguments ();
                ::relocgpu_runtime::__private::launch_on_device()
            },
        );
        let keep = (!self.is_generic()).then(|| {
            quote_spanned! {Span::mixed_site()=>
                #[used]
                static __RELOCGPU_ROOT: fn() = __relocgpu_root;
            }
        });
        quote_spanned! {Span::mixed_site()=>
            #launch

            #[allow(improper_ctypes_definitions)]
            unsafe extern "C" fn __relocgpu_entry #in_impl (params: *const #block) #condition {
                // SAFETY: the launch passes the block that the descriptor describes; its slices are live while it runs.
                unsafe {
                    let params = ::core::ptr::read(params);
                    #function #arguments (#(#values),*)
                }
            }

            // Never inlined: a kernel that is not generic belongs to the image of its own crate, whoever launches it.
            #[inline(never)]
            fn __relocgpu_root #in_impl () #condition {
                // SAFETY: the link stage reads the call; it never runs.
                unsafe {
                    ::relocgpu_runtime::__private::__relocgpu_kernel(
                        __relocgpu_entry #arguments as *const (),
                        ::core::any::type_name::<#instance>,
                        #instance::DESCRIPTOR,
                    )
                }
            }
            #keep
        }
    }

    /// `launch` with this body. The device and the grid are named hygienically: a kernel may have a parameter `device`.
    fn launch(&self, parameters: &[&Parameter], body: TokenStream) -> TokenStream {
        let arguments = parameters.iter().map(|parameter| parameter.launch_argument());
        self.launch_of(arguments, &self.launch_generics(), body)
    }

    fn launch_of(&self, arguments: impl Iterator<Item = TokenStream>, generics: &Generics, body: TokenStream) -> TokenStream {
        let (name, vis, unsafety) = (&self.function.sig.ident, &self.function.vis, &self.function.sig.unsafety);
        let (in_fn, _, condition) = generics.split_for_impl();
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
                #[allow(dead_code, unreachable_pub, private_interfaces, private_bounds, clippy::too_many_arguments)]
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
    fn stand_in(&self, parameters: Option<&[&Parameter]>) -> TokenStream {
        let cfgs = self.cfgs();
        let body = quote!(::core::unimplemented!());
        let launch = match parameters {
            Some(parameters) => {
                let arguments = parameters.iter().map(|parameter| parameter.launch_argument());
                self.launch_of(arguments, &self.launch_generics(), body)
            }
            None => {
                let arguments = (0..self.parameters.len()).map(|index| {
                    let name = format_ident!("argument_{index}");
                    quote!(#name: impl ::core::marker::Sized)
                });
                self.launch_of(arguments, &self.function.sig.generics, body)
            }
        };
        quote_spanned! {Span::mixed_site()=>
            #cfgs
            #[allow(unused_variables, unused_mut)]
            const _: () = { #launch };
        }
    }
}

impl Parameter {
    /// What lies in the parameter block.
    fn raw_type(&self) -> TokenStream {
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
    fn descriptor(&self, block: &TokenStream, field: &syn::Ident) -> TokenStream {
        let (name, written) = (self.name.unraw().to_string(), text_of_type(&self.ty));
        let at = |ty: &syn::Type| ty.span().resolved_at(Span::mixed_site());
        let layout = match &self.class {
            Class::Slice(element) => {
                quote_spanned!(at(element)=> ::relocgpu_runtime::__private::SliceLayout::<#element>::LAYOUT)
            }
            Class::Disjoint { element, space } => {
                let space = space_type(space);
                quote_spanned!(at(element)=> ::relocgpu_runtime::__private::DisjointLayout::<#element, #space>::LAYOUT)
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

    fn launch_argument(&self) -> TokenStream {
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

    fn pack(&self) -> TokenStream {
        let name = &self.name;
        match &self.class {
            Class::Slice(_) => quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::SliceArg::__pack(&#name, device)?),
            Class::Disjoint { .. } => quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::SliceMutArg::__pack(&mut #name, device)?),
            Class::Value => quote!(#name),
        }
    }

    fn unpack(&self, field: &syn::Ident) -> TokenStream {
        match &self.class {
            Class::Slice(_) => quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::__private::slice(&params.#field)),
            Class::Disjoint { .. } => quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::__private::disjoint(&params.#field)),
            Class::Value => quote_spanned!(Span::mixed_site()=> params.#field),
        }
    }
}

fn space_type(space: &Option<syn::Type>) -> syn::Type {
    space.clone().unwrap_or_else(|| parse_quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::__private::DefaultSpace))
}

fn bounded(predicate: &syn::WherePredicate) -> Option<syn::Type> {
    match predicate {
        syn::WherePredicate::Type(predicate) => Some(predicate.bounded_ty.clone()),
        _ => None,
    }
}
