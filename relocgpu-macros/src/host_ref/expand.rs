//! The two expansions of each form.

use super::form::{Named, Symbol};
use crate::names::{DETAIL, FIELD, REFERENCE_TAG, Unit, fnv1a, kind, shown, text_of, text_of_type};
use crate::root::site;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCast, ExprClosure, ExprPath, Ident};

/// One `host!` or `device!`, and what it is called.
pub struct Reference {
    unit: Unit,
    tokens: TokenStream,
    /// Link symbol but for line and column.
    symbol: String,
    /// Where the expansion stands.
    site: Span,
}

impl Reference {
    /// What these tokens stand for.
    pub fn new(tokens: TokenStream) -> Self {
        let unit = Unit::from_environment();
        Self { symbol: unit.host_symbol(&tokens), unit, site: site(&tokens), tokens }
    }

    /// The value's type must be the same in the thunk, which stands alone, and where the value is used: two copies of
    /// the expression, compared by `host_value`, which asks a probe for the one that is used. rustc reports what is wrong with both copies once. The thunk's is in a
    /// constant: a local that it names "would need to be a `const`", says rustc, and not a closure.
    pub fn host_value(&self, expression: &Expr) -> TokenStream {
        let (export, distinct) = (self.export(), distinct());
        let (AtExpression { bound, call }, value) = (AtExpression::of(expression, "HostWord"), value_function());
        quote_spanned! {self.site=> {
            fn #value() -> #bound { #call }
            #export
            extern "C-unwind" fn __relocgpu_thunk() -> u64 {
                #distinct
                ::relocgpu_runtime::__private::HostWord::to_word(#value())
            }
            ::relocgpu_runtime::__private::host_value(|| { #expression }, |probe| probe.kind(), #value)
        }}
    }

    pub fn host_table(&self, expression: &Expr) -> TokenStream {
        let (export, distinct) = (self.export(), distinct());
        let (AtExpression { bound, call }, value) = (AtExpression::of(expression, "TableSource"), value_function());
        quote_spanned! {self.site=> {
            fn #value() -> #bound { #call }
            #export
            extern "C-unwind" fn __relocgpu_thunk() -> ::relocgpu_runtime::__private::RawTable {
                #distinct
                ::relocgpu_runtime::__private::raw_table(#value())
            }
            ::relocgpu_runtime::__private::host_table(__relocgpu_thunk, || { #expression }, #value)
        }}
    }

    pub fn device_value(&self, expression: &Expr) -> TokenStream {
        self.device_word(kind::VALUE, "", &quote!(::relocgpu_runtime::__private::device_value), &quote!(|| { #expression }))
    }

    /// `read`, of what says the type and of the slot's word.
    fn device_word(&self, kind: &str, detail: &str, read: &TokenStream, ty: &TokenStream) -> TokenStream {
        let slot = self.declare(kind, detail);
        quote_spanned! {self.site=> {
            unsafe extern "C" {
                #slot
                static __RELOCGPU_SLOT: u64;
            }
            // SAFETY: the loader has written the slot before any kernel runs.
            #read(#ty, unsafe { __RELOCGPU_SLOT })
        }}
    }

    /// As [`host_value`](Self::host_value), for each device; host code takes the CPU's.
    pub fn host_value_of_device(&self, closure: &ExprClosure) -> TokenStream {
        let (export, distinct) = (self.export(), distinct());
        let (device, body) = (&closure.inputs[0], &closure.body);
        let (AtExpression { bound, .. }, value) = (AtExpression::of(body, "HostWord"), value_function());
        quote_spanned! {self.site=> {
            fn #value(#device: &::relocgpu_runtime::Device) -> #bound + use<> { #body }
            #export
            extern "C-unwind" fn __relocgpu_thunk(device: *const ()) -> u64 {
                #distinct
                // SAFETY: the resolver passes the device that it resolves for.
                ::relocgpu_runtime::__private::HostWord::to_word(#value(unsafe { &*device.cast::<::relocgpu_runtime::Device>() }))
            }
            ::relocgpu_runtime::__private::host_value_of_device(|#device: &::relocgpu_runtime::Device| { #body }, |probe| probe.kind(), #value)
        }}
    }

    pub fn device_value_of_device(&self, closure: &ExprClosure) -> TokenStream {
        let (device, body) = (&closure.inputs[0], &closure.body);
        let ty = quote!(|#device: &::relocgpu_runtime::Device| { #body });
        self.device_word(kind::DEVICE_VALUE, "", &quote!(::relocgpu_runtime::__private::device_value_of_device), &ty)
    }

    /// The static of a kind of memory: `mapped` or `static`.
    pub fn host_memory(&self, expression: &Expr, memory: &str) -> TokenStream {
        let (export, distinct) = (self.export(), distinct());
        let (AtExpression { bound, call }, value) = (AtExpression::of(expression, "DeviceData"), value_function());
        let (raw, make) = (format_ident!("raw_{memory}"), format_ident!("host_{memory}"));
        let returned = format_ident!("Raw{}", if memory == "mapped" { "Mapped" } else { "Static" });
        quote_spanned! {self.site=> {
            fn #value() -> #bound { #call }
            #export
            extern "C-unwind" fn __relocgpu_thunk() -> ::relocgpu_runtime::__private::#returned {
                #distinct
                ::relocgpu_runtime::__private::#raw(#value())
            }
            ::relocgpu_runtime::__private::#make(__relocgpu_thunk, || { #expression }, #value)
        }}
    }

    pub fn device_memory(&self, expression: &Expr, memory: &str) -> TokenStream {
        let slot = self.declare(memory, "");
        let make = format_ident!("device_{memory}");
        quote_spanned! {self.site=> {
            unsafe extern "C" {
                #slot
                static __RELOCGPU_SLOT: u64;
            }
            ::relocgpu_runtime::__private::#make(&raw const __RELOCGPU_SLOT, || { #expression })
        }}
    }

    /// The address of a static. Both expansions are constants.
    pub fn item(&self, path: &ExprPath, on_device: bool) -> TokenStream {
        self.identity(on_device, &quote!((&raw const #path).cast()), &quote!(::relocgpu_runtime::__private::host_ref), &quote!(|| &#path))
    }

    /// The address of a function. Both expansions are constants.
    pub fn function(&self, cast: &ExprCast, on_device: bool) -> TokenStream {
        let address = quote!((#cast) as *const ());
        self.identity(on_device, &address, &quote!(::relocgpu_runtime::__private::fn_token), &quote!(|| #cast))
    }

    fn identity(&self, on_device: bool, address: &TokenStream, make: &TokenStream, ty: &TokenStream) -> TokenStream {
        if on_device {
            let item = self.declare(kind::ITEM, "");
            return quote_spanned! {self.site=> {
                unsafe extern "C" {
                    #item
                    static __RELOCGPU_ITEM: u8;
                }
                #make((&raw const __RELOCGPU_ITEM).cast(), #ty)
            }};
        }
        let export = self.export();
        quote_spanned! {self.site=> {
            #export
            static __RELOCGPU_ITEM: ::relocgpu_runtime::__private::ItemWord = ::relocgpu_runtime::__private::ItemWord::new(#address);
            #make(#address, #ty)
        }}
    }

    /// The value at a symbol. Reading it is unsafe, which is left to the user to write.
    pub fn symbol(&self, Symbol { named, offset, library }: &Symbol, on_device: bool) -> TokenStream {
        let Named { name, ty } = named;
        let library_text = library.as_ref().map(syn::LitStr::value).unwrap_or_default();
        let detail = [name.value(), text_of_type(ty), offset.to_string(), library_text].join(&DETAIL.to_string());
        let library =
            library.as_ref().map_or_else(|| quote!(::core::option::Option::None), |path| quote!(::core::option::Option::Some(#path)));
        let offset = usize::try_from(*offset).unwrap_or(usize::MAX);
        let read = quote!(::relocgpu_runtime::__private::stored::<#ty>(#name, #offset, #library));
        if on_device {
            let value =
                self.device_word(kind::LOAD, &detail, &quote!(::relocgpu_runtime::__private::device_value), &quote!(__relocgpu_type));
            // A call of an unsafe function, as on the host.
            return quote_spanned! {self.site=> {
                fn __relocgpu_type() -> #ty { ::relocgpu_runtime::__private::only_a_type() }
                unsafe fn __relocgpu_read() -> #ty { #value }
                __relocgpu_read()
            }};
        }
        let thunk = self.thunk(&quote!(unsafe { #read }));
        quote_spanned! {self.site=> { #thunk #read }}
    }

    /// A value that the program binds.
    pub fn bound(&self, Named { name, ty }: &Named, on_device: bool) -> TokenStream {
        let read = quote!(::relocgpu_runtime::__private::bound::<#ty>(#name));
        if on_device {
            let detail = [name.value(), text_of_type(ty)].join(&DETAIL.to_string());
            return self.device_word(kind::BOUND, &detail, &quote!(::relocgpu_runtime::__private::device_value), &quote!(|| #read));
        }
        let thunk = self.thunk(&read);
        quote_spanned! {self.site=> { #thunk #read }}
    }

    fn thunk(&self, value: &TokenStream) -> TokenStream {
        let (export, distinct) = (self.export(), distinct());
        quote_spanned! {self.site=>
            #export
            extern "C-unwind" fn __relocgpu_thunk() -> u64 {
                #distinct
                // SAFETY: what the user promises where the value is read.
                ::relocgpu_runtime::__private::HostWord::to_word(#value)
            }
        }
    }

    pub fn device_table(&self, expression: &Expr) -> TokenStream {
        let (pointer, length) = (self.declare(kind::TABLE_PTR, ""), self.declare(kind::TABLE_LEN, ""));
        quote_spanned! {self.site=> {
            unsafe extern "C" {
                #pointer
                static __RELOCGPU_POINTER: u64;
                #length
                static __RELOCGPU_LENGTH: u64;
            }
            ::relocgpu_runtime::__private::device_table(&raw const __RELOCGPU_POINTER, &raw const __RELOCGPU_LENGTH, || { #expression })
        }}
    }

    /// Exports the next item under the link symbol.
    fn export(&self) -> TokenStream {
        let name = self.link_symbol(false);
        let in_test = self.link_symbol(true);
        quote! {
            #[cfg_attr(test, unsafe(export_name = #in_test))]
            #[cfg_attr(not(test), unsafe(export_name = #name))]
        }
    }

    /// Names the next declaration as a record.
    fn declare(&self, kind: &str, detail: &str) -> TokenStream {
        let name = self.record(kind, detail, false);
        let in_test = self.record(kind, detail, true);
        quote!(#[cfg_attr(test, link_name = #in_test)] #[cfg_attr(not(test), link_name = #name)])
    }

    /// Line and column are those of the outermost macro call: a `host!` in a macro by example has one symbol for each.
    fn link_symbol(&self, test: bool) -> TokenStream {
        let symbol = format!("{}_", self.symbol);
        let suffix = if test { "_t" } else { "" };
        quote!(::core::concat!(#symbol, ::core::line!(), "_", ::core::column!(), #suffix))
    }

    fn record(&self, kind: &str, detail: &str, test: bool) -> TokenStream {
        let symbol = self.link_symbol(test);
        let start = format!("{REFERENCE_TAG}{FIELD}{kind}{FIELD}");
        let text = text_of(&self.tokens);
        let package = format!("{FIELD}{}{FIELD}{}{FIELD}", self.unit.crate_name.as_deref().unwrap_or_default(), self.unit.version);
        let hash = format!("{FIELD}{:016x}{FIELD}", fnv1a(text.as_bytes()));
        let text = format!("{FIELD}{detail}{FIELD}{}", shown(&text));
        quote! {
            ::core::concat!(
                #start, #symbol, #package, ::core::module_path!(), #hash,
                ::core::file!(), ":", ::core::line!(), ":", ::core::column!(), #text
            )
        }
    }
}

/// Tokens that together stand where the expression does: rustc spans from the first to the last. There a value is reported
/// that does not implement the trait.
pub struct AtExpression {
    /// `impl …::Trait`
    pub bound: TokenStream,
    /// `(const { || { expression } })()`
    pub call: TokenStream,
}

impl AtExpression {
    pub fn of(expression: &Expr, name: &str) -> Self {
        let at = |span: Span| Span::mixed_site().located_at(span);
        let last = expression.to_token_stream().into_iter().last().map_or_else(Span::call_site, |token| token.span());
        let (first, last) = (at(expression.span()), at(last));
        let name = Ident::new(name, last);
        let arguments = quote_spanned!(last=> ());
        Self {
            bound: quote_spanned!(first=> impl ::relocgpu_runtime::__private::#name),
            call: quote_spanned!(first=> (const { || { #expression } }) #arguments),
        }
    }
}

/// The name of the function that holds the expression: at the call of `host!`, so that rustc does not suggest an edit of
/// the expression's first word.
fn value_function() -> Ident {
    Ident::new("__relocgpu_value", Span::mixed_site())
}

/// The start of a thunk: thunks with equal code must not become one, since each is a value of its own.
fn distinct() -> TokenStream {
    quote_spanned! {Span::mixed_site()=>
        static __RELOCGPU_MARK: ::core::sync::atomic::AtomicU8 = ::core::sync::atomic::AtomicU8::new(0);
        ::relocgpu_runtime::__private::distinct(&__RELOCGPU_MARK);
    }
}
