//! The `host!(…)` of a generic kernel's own body that name its generic parameters: one word for each instance.
//!
//! ```text
//! *y = host!(T::gain());
//!   host compile, the function     *y = host_value(|| T::gain(), …, kernel::__relocgpu_word_0::<T>)
//!   host compile, beside it        fn __relocgpu_word_0<T: Gain>() -> impl HostWord { T::gain() }
//!   `launch`                       p2: instance_word(…, kernel::__relocgpu_word_0::<T>)?   behind the parameters
//!   device pass, the function      *y = device_value(|| T::gain(), __relocgpu_word_0)      a hidden parameter
//! ```
//!
//! Equal expressions share a word.

use super::Kernel;
use super::captures::names_generic;
use crate::host_ref::{AtExpression, HostForm};
use crate::image_link::is_device_pass;
use crate::names::{Place, shown, text_of};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMacro, Ident, ItemFn};

/// One word of an instance.
pub struct Word {
    expression: Expr,
    /// What stands inside `host!`.
    text: String,
    place: Place,
}

impl Word {
    /// As the manifest names it among the parameters.
    fn name(&self) -> String {
        format!("host!({})", self.text)
    }
}

/// Takes the words out of the kernel's body, and puts into their places what yields them.
pub fn take(function: &mut ItemFn, arguments: &TokenStream) -> Vec<Word> {
    let generics = super::generic_names(&function.sig);
    let mut taker = Taker { generics, kernel: function.sig.ident.clone(), arguments: arguments.clone(), words: Vec::new() };
    taker.visit_block_mut(&mut function.block);
    taker.words
}

struct Taker {
    generics: Vec<String>,
    kernel: Ident,
    arguments: TokenStream,
    words: Vec<Word>,
}

impl Taker {
    fn word(&mut self, invocation: &ExprMacro) -> Option<Expr> {
        if invocation.mac.path.segments.last().is_none_or(|last| last.ident != "host") {
            return None;
        }
        let tokens = &invocation.mac.tokens;
        let Ok(HostForm::Value(expression)) = syn::parse2(tokens.clone()) else { return None };
        if !names_generic(&expression, &self.generics) {
            return None;
        }
        let text = shown(&text_of(tokens));
        let known = self.words.iter().position(|word| word.text == text);
        let number = known.unwrap_or_else(|| {
            let place = tokens.clone().into_iter().next().map(|token| Place::of(token.span())).unwrap_or_default();
            self.words.push(Word { expression: expression.clone(), text, place });
            self.words.len() - 1
        });
        let (name, kernel, arguments) = (name_of(number), &self.kernel, &self.arguments);
        let kernel = super::attributes::made(kernel);
        let attributes = &invocation.attrs;
        let value = if is_device_pass() {
            quote_spanned!(Span::mixed_site()=> ::relocgpu_runtime::__private::device_value(|| { #expression }, #name))
        } else {
            quote_spanned! {Span::mixed_site()=>
                ::relocgpu_runtime::__private::host_value(|| { #expression }, |probe| probe.kind(), #kernel::#name #arguments)
            }
        };
        Some(Expr::Verbatim(quote!(#(#attributes)* #value)))
    }
}

impl VisitMut for Taker {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        match expression {
            Expr::Macro(invocation) => {
                if let Some(value) = self.word(invocation) {
                    *expression = value;
                }
            }
            _ => visit_mut::visit_expr_mut(self, expression),
        }
    }
    fn visit_stmt_mut(&mut self, statement: &mut syn::Stmt) {
        // `host!(…);`, and `host!(…)` at a block's end.
        if let syn::Stmt::Macro(invocation) = statement {
            let expression = ExprMacro { attrs: invocation.attrs.clone(), mac: invocation.mac.clone() };
            if let Some(value) = self.word(&expression) {
                *statement = syn::Stmt::Expr(value, invocation.semi_token);
            }
            return;
        }
        visit_mut::visit_stmt_mut(self, statement);
    }
    // An item inside the body is no part of the instance.
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn name_of(number: usize) -> Ident {
    format_ident!("__relocgpu_word_{number}", span = Span::mixed_site())
}

impl Kernel {
    /// Names of the words: of hidden parameters, and of the functions that evaluate them.
    pub fn word_names(&self) -> impl Iterator<Item = Ident> {
        (0..self.words.len()).map(name_of)
    }

    /// Host pass: the functions that evaluate the words.
    pub fn word_functions(&self) -> Option<TokenStream> {
        if self.words.is_empty() || is_device_pass() {
            return None;
        }
        let (kernel, cfgs) = (super::attributes::made(&self.function.sig.ident), self.cfgs());
        let (in_fn, _, condition) = self.function.sig.generics.split_for_impl();
        let functions = self.words.iter().zip(self.word_names()).map(|(word, name)| {
            let AtExpression { bound, call } = AtExpression::of(&word.expression, "HostWord");
            quote_spanned! {Span::mixed_site()=>
                fn #name #in_fn () -> #bound #condition { #call }
            }
        });
        Some(quote_spanned! {Span::mixed_site()=>
            #cfgs
            const _: () = {
                impl #kernel {
                    #(#functions)*
                }
            };
        })
    }

    /// Host pass: the words of the instance that is launched, where `kernel` is the kernel.
    pub fn launched_words(&self) -> impl Iterator<Item = TokenStream> {
        let (function, arguments) = (super::attributes::made(&self.function.sig.ident), self.arguments());
        self.words.iter().zip(self.word_names()).enumerate().map(move |(number, (word, name))| {
            let (text, Place { line, column, .. }) = (&word.text, &word.place);
            let number = number as u32;
            quote_spanned! {Span::mixed_site()=>
                ::relocgpu_runtime::__private::instance_word(
                    &kernel,
                    #number,
                    ::core::concat!(::core::file!(), ":", #line, ":", #column),
                    #text,
                    #function::#name #arguments,
                )?
            }
        })
    }

    /// The words as parameters of the descriptor, whose fields these are.
    pub fn word_descriptors(&self, block: &TokenStream, fields: &[Ident]) -> impl Iterator<Item = TokenStream> {
        self.words.iter().zip(fields).map(move |(word, field)| {
            let name = word.name();
            quote_spanned! {Span::mixed_site()=>
                ::relocgpu_runtime::__private::ParamDescriptor {
                    name: #name,
                    ty: "u64",
                    offset: ::core::mem::offset_of!(#block, #field),
                    layout: <u64 as ::relocgpu_runtime::DeviceData>::LAYOUT,
                }
            }
        })
    }

    /// Device pass: what the entry calls, and the user's function, whose body has gone there.
    pub fn function_with_words(&self) -> ItemFn {
        let mut function = self.function.clone();
        function.sig.ident = self.body_name();
        for name in self.word_names() {
            function.sig.inputs.push(syn::parse_quote!(#name: u64));
        }
        function.vis = syn::Visibility::Inherited;
        if !function.attrs.iter().any(|attribute| attribute.path().is_ident("inline")) {
            function.attrs.push(syn::parse_quote!(#[inline(never)]));
        }
        function
    }

    /// Device pass: what the entry calls.
    pub fn body_name(&self) -> Ident {
        if self.words.is_empty() { self.function.sig.ident.clone() } else { format_ident!("{}_of_instance", self.function.sig.ident) }
    }
}
