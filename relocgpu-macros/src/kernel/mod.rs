//! `#[gpu_kernel]`: parse → [`Kernel`] → expand.

mod around;
mod attributes;
mod captures;
mod expand;
mod launch;
mod marshal;
mod parameter;
mod words;

use crate::diagnostics::{self, Faults};
use crate::root::{CrateArgument, Root};
use parameter::Parameter;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{GenericParam, ItemFn, ReturnType, Token};
use words::Word;

/// Expands the attribute.
pub fn run(arguments: TokenStream, item: TokenStream) -> TokenStream {
    // In an `impl`, a trait or an `extern` block no item can stand beside the function: it stays alone.
    let alone = |faults: Faults| {
        let errors = faults.into_tokens();
        quote!(#errors #item)
    };
    let mut faults = Faults::default();
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return not_a_function(item, error),
    };
    let around = around::of(&function.sig.ident);
    if let Some(receiver) = function.sig.receiver() {
        faults.at(receiver, diagnostics::SELF_RECEIVER);
        return alone(faults);
    }
    if let Some(around) = around {
        faults.at(&function.sig.ident, diagnostics::not_free(around));
        return alone(faults);
    }
    let arguments = Arguments::read(arguments, &mut faults);
    let root = match arguments.root.map_or_else(Root::of_dependency, |path| Ok(Root::at(&path))) {
        Ok(root) => root,
        Err(missing) => return quote!(#missing #item),
    };
    let kernel = Kernel::new(function, arguments.delivery, &mut faults);
    root.applied(kernel.expand(faults))
}

/// What stands in `#[gpu_kernel(…)]`.
#[derive(Default)]
struct Arguments {
    root: Option<syn::Path>,
    /// As `contract::layout` numbers it.
    delivery: u32,
}

impl Arguments {
    fn read(tokens: TokenStream, faults: &mut Faults) -> Self {
        let mut all = Self::default();
        let parsed = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(tokens.clone());
        let refused = match parsed {
            Ok(arguments) => arguments.into_iter().any(|argument| match argument {
                Argument::Root(path) => all.root.replace(path).is_some(),
                Argument::Delivery(number) => std::mem::replace(&mut all.delivery, number) != 0,
            }),
            Err(_) => true,
        };
        if refused {
            faults.at(&tokens, diagnostics::ATTRIBUTE_ARGUMENTS);
        }
        all
    }
}

enum Argument {
    Root(syn::Path),
    Delivery(u32),
}

impl Parse for Argument {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        if input.peek(Token![crate]) {
            return input.parse().map(|CrateArgument(path)| Self::Root(path));
        }
        let word: syn::Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let delivery: syn::Ident = input.parse()?;
        let number = ["patch", "table", "bake"].iter().position(|name| delivery == name);
        match number.filter(|_| word == "delivery") {
            Some(number) => Ok(Self::Delivery(number as u32 + 1)),
            None => Err(syn::Error::new(word.span(), diagnostics::ATTRIBUTE_ARGUMENTS)),
        }
    }
}

/// The item is kept, so that nothing else that names it errs; a syntax error inside a function is told as it is.
fn not_a_function(item: TokenStream, error: syn::Error) -> TokenStream {
    let refused = |at: &dyn ToTokens, message| syn::Error::new_spanned(at, message).into_compile_error();
    let Ok(mut function) = syn::parse2::<syn::TraitItemFn>(item.clone()) else {
        let other = syn::parse2::<syn::Item>(item.clone());
        return match other.map(|other| refused(&other, diagnostics::NOT_A_FUNCTION)) {
            Ok(error) => quote!(#error #item),
            Err(_) => error.into_compile_error(),
        };
    };
    match around::of(&function.sig.ident) {
        Some(around) => {
            let error = refused(&function.sig.ident, diagnostics::not_free(around));
            quote!(#error #item)
        }
        None => {
            // rustc would miss the body too.
            let error = refused(&function.sig.ident, diagnostics::NOT_A_FUNCTION);
            function.default = Some(syn::parse_quote!({ ::core::unimplemented!() }));
            quote!(#error #function)
        }
    }
}

/// A kernel as the user wrote it, its parameters classified.
struct Kernel {
    /// The user's function; its body is `unimplemented!()` where a `host!` or `device!` in it names what it cannot.
    function: ItemFn,
    /// How it wants its host references delivered, as `contract::layout` numbers it.
    delivery: u32,
    /// One for each parameter; `None` where the parameter itself is at fault.
    parameters: Vec<Option<Parameter>>,
    /// What its own `host!`s evaluate for each instance.
    words: Vec<Word>,
}

/// Type and const parameters.
fn generic_names(signature: &syn::Signature) -> Vec<String> {
    let names = signature.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Const(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    });
    names.collect()
}

impl Kernel {
    fn new(mut function: ItemFn, delivery: u32, faults: &mut Faults) -> Self {
        let signature = &function.sig;
        if let Some(second) = function.attrs.iter().find(|attribute| attributes::is_kernel(attribute)) {
            faults.at(second, diagnostics::REPEATED);
        }
        if let Some(token) = &signature.asyncness {
            faults.at(token, diagnostics::ASYNC);
        }
        if let Some(abi) = &signature.abi {
            faults.at(abi, diagnostics::EXTERN_ABI);
        }
        if let Some(variadic) = &signature.variadic {
            faults.at(variadic, diagnostics::VARIADIC);
        }
        if let ReturnType::Type(_, ty) = &signature.output {
            let unit = matches!(&**ty, syn::Type::Tuple(tuple) if tuple.elems.is_empty());
            if !unit {
                faults.at(ty, diagnostics::RETURN_VALUE);
            }
        }
        let typed = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(typed),
            syn::FnArg::Receiver(_) => None,
        });
        let parameters = typed.enumerate().map(|(index, typed)| Parameter::new(index, typed, faults)).collect();
        captures::check(&mut function, faults);
        // They would be reported again.
        function.sig.variadic = None;
        function.attrs.retain(|attribute| !attributes::is_kernel(attribute));
        let mut kernel = Self { function, delivery, parameters, words: Vec::new() };
        if kernel.is_generic() {
            let arguments = kernel.arguments();
            kernel.words = words::take(&mut kernel.function, &arguments);
        }
        kernel
    }

    /// Type and const parameters, as `<T, N>`, without lifetimes; empty if there are none.
    fn arguments(&self) -> TokenStream {
        let names = self.function.sig.generics.params.iter().filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => Some(&parameter.ident),
            GenericParam::Const(parameter) => Some(&parameter.ident),
            GenericParam::Lifetime(_) => None,
        });
        if self.is_generic() { quote!(::<#(#names),*>) } else { TokenStream::new() }
    }

    /// Whether instances differ: lifetimes don't count.
    fn is_generic(&self) -> bool {
        self.function.sig.generics.params.iter().any(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
    }
}

#[cfg(test)]
mod tests;
