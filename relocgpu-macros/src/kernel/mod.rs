//! `#[gpu_kernel]`: parse → [`Kernel`] → expand.

mod captures;
mod expand;
mod launch;
mod marshal;
mod parameter;

use crate::diagnostics::{self, Faults};
use parameter::Parameter;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericParam, ItemFn, ReturnType};

/// Expands the attribute.
pub fn run(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return not_a_function(item, error),
    };
    let mut faults = Faults::default();
    if !arguments.is_empty() {
        faults.at(&arguments, diagnostics::ATTRIBUTE_ARGUMENTS);
    }
    match Kernel::new(function, &mut faults) {
        Some(kernel) => kernel.expand(faults),
        None => {
            let errors = faults.into_tokens();
            quote!(#errors #item)
        }
    }
}

/// The item is kept, so that nothing else that names it errs; a syntax error inside a function is told as it is.
fn not_a_function(item: TokenStream, error: syn::Error) -> TokenStream {
    let is_function = syn::parse2::<syn::TraitItemFn>(item.clone()).is_ok();
    match syn::parse2::<syn::Item>(item.clone()) {
        Ok(other) if !is_function => {
            let error = syn::Error::new_spanned(other.to_token_stream(), diagnostics::NOT_A_FUNCTION).into_compile_error();
            quote!(#error #item)
        }
        _ if is_function => {
            let error = syn::Error::new_spanned(&item, diagnostics::NOT_A_FUNCTION).into_compile_error();
            quote!(#error #item)
        }
        _ => error.into_compile_error(),
    }
}

/// A kernel as the user wrote it, its parameters classified.
struct Kernel {
    /// The user's function; its body is `unimplemented!()` where a `host!` or `device!` in it names a local or a generic parameter.
    function: ItemFn,
    /// One for each parameter; `None` where the parameter itself is at fault.
    parameters: Vec<Option<Parameter>>,
}

impl Kernel {
    /// `None` if the function takes `self`: then it stands in an `impl`, where no other item can.
    fn new(mut function: ItemFn, faults: &mut Faults) -> Option<Self> {
        let signature = &function.sig;
        if let Some(receiver) = signature.receiver() {
            faults.at(receiver, diagnostics::SELF_RECEIVER);
            return None;
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
        // rustc would report it again.
        function.sig.variadic = None;
        Some(Self { function, parameters })
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
