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
use super::attributes::made;
use super::parameter::Parameter;
use crate::diagnostics::Faults;
use crate::image_link::is_device_pass;
use crate::names::Place;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::GenericParam;
use syn::ext::IdentExt;

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
        let words = self.word_functions();
        quote!(#errors #function #handle #words #inner)
    }

    /// As the user wrote it. A documented one says how it is launched, since rustdoc shows this page alone.
    fn function(&self) -> TokenStream {
        let function = &self.function;
        // The device pass must find the function as one: its parameters' types promise what its entry's do not (`&[T]`
        // is not written to). Lowering inlines it after that.
        let apart = is_device_pass() && !function.attrs.iter().any(|attribute| attribute.path().is_ident("inline"));
        let inline = apart.then(|| quote!(#[inline(never)]));
        let documented = self.is_documented().then(|| self.launch_doc());
        let (attributes, vis, signature, block) = (&function.attrs, &function.vis, &function.sig, &function.block);
        let gone =
            (is_device_pass() && !self.words.is_empty()).then(|| quote!({ ::relocgpu_runtime::__private::__relocgpu_needs_launch() }));
        let block = gone.unwrap_or_else(|| quote!(#block));
        quote!(#(#attributes)* #documented #inline #vis #signature #block)
    }

    /// Hidden from rustdoc: a link to the kernel's name means the function.
    fn handle(&self) -> TokenStream {
        let (cfgs, vis, name) = (self.cfgs(), made(&self.function.vis), made(&self.function.sig.ident));
        quote_spanned! {Span::mixed_site()=>
            #cfgs
            #[doc(hidden)]
            #vis enum #name {}
        }
    }

    fn machinery(&self, parameters: &[&Parameter]) -> TokenStream {
        let cfgs = self.cfgs();
        let block = self.block();
        let instance = self.instance(parameters);
        let pass = if is_device_pass() { self.device_pass(parameters) } else { self.host_pass(parameters) };
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
        let fields = self.fields();
        let types: Vec<_> = (0..fields.len()).map(|index| format_ident!("P{index}")).collect();
        quote_spanned! {Span::mixed_site()=>
            #[repr(C)]
            struct __RelocgpuParams<#(#types),*> {
                #(#fields: #types,)*
            }
        }
    }

    /// Of the parameter block: the parameters, then the words.
    pub fn fields(&self) -> Vec<syn::Ident> {
        (0..self.parameters.len() + self.words.len()).map(|index| format_ident!("p{index}", span = Span::mixed_site())).collect()
    }

    /// The parameter block's type: of the instance, where the kernel's generic parameters are in scope.
    fn block_type(&self, parameters: &[&Parameter]) -> TokenStream {
        let words = self.words.iter().map(|_| quote!(u64));
        let types = parameters.iter().map(|parameter| parameter.raw_type()).chain(words);
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
        let (block, delivery) = (self.block_type(parameters), self.delivery);
        let name = self.function.sig.ident.unraw().to_string();
        let Place { line, column, .. } = Place::of(self.function.sig.ident.span());
        let fields = self.fields();
        let words = self.word_descriptors(&block, &fields[parameters.len()..]);
        let descriptors = parameters.iter().zip(&fields).map(|(parameter, field)| parameter.descriptor(&block, field)).chain(words);
        quote_spanned! {Span::mixed_site()=>
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
                    delivery: #delivery,
                };
            }
        }
    }

    pub fn instance_type(&self) -> TokenStream {
        let arguments = self.arguments();
        quote_spanned!(Span::mixed_site()=> __RelocgpuInstance #arguments)
    }

    fn device_pass(&self, parameters: &[&Parameter]) -> TokenStream {
        let (instance, block, fields) = (self.instance_type(), self.block_type(parameters), self.fields());
        let (function, arguments) = (self.body_name(), self.arguments());
        let with_words = (!self.words.is_empty()).then(|| self.function_with_words());
        let (in_impl, _, condition) = self.function.sig.generics.split_for_impl();
        let words = fields[parameters.len()..].iter().map(|field| quote_spanned!(Span::mixed_site()=> params.#field));
        let values = parameters.iter().zip(&fields).map(|(parameter, field)| parameter.unpack(field)).chain(words);
        let names = parameters.iter().map(|p| &p.name);
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
            #with_words

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
}
