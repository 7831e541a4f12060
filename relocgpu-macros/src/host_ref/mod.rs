//! `host!`: a word that only the running process knows.
//!
//! The host compile exports a thunk that evaluates the expression, or a constant that holds an item's address; the image's
//! host table refers to it by its link symbol. The device pass declares an external word whose *name* is the whole record
//! (`contract::names::Reference`): whatever refers to the word keeps the record, and nothing else does.

mod expand;
mod form;

pub use expand::{AtExpression, Reference};
pub use form::HostForm;

use crate::diagnostics::error_expression;
use crate::image_link::is_device_pass;
use crate::names::kind;
use crate::root::Wrapped;
use proc_macro2::TokenStream;

/// Expands the macro.
pub fn run(tokens: TokenStream) -> TokenStream {
    let parsed = syn::parse2(tokens).and_then(|wrapped: Wrapped| Ok((syn::parse2(wrapped.tokens.clone())?, wrapped)));
    let (form, Wrapped { root, tokens }) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return error_expression(error),
    };
    let reference = Reference::new(tokens);
    root.applied(match (form, is_device_pass()) {
        (HostForm::Value(expression), false) => reference.host_value(&expression),
        (HostForm::Value(expression), true) => reference.device_value(&expression),
        (HostForm::DeviceValue(closure), false) => reference.host_value_of_device(&closure),
        (HostForm::DeviceValue(closure), true) => reference.device_value_of_device(&closure),
        (HostForm::Table(expression), false) => reference.host_table(&expression),
        (HostForm::Table(expression), true) => reference.device_table(&expression),
        (HostForm::Mapped(expression), false) => reference.host_memory(&expression, kind::MAPPED),
        (HostForm::Mapped(expression), true) => reference.device_memory(&expression, kind::MAPPED),
        (HostForm::Item(path), on_device) => reference.item(&path, on_device),
        (HostForm::Function(cast), on_device) => reference.function(&cast, on_device),
        (HostForm::Symbol(symbol), on_device) => reference.symbol(&symbol, on_device),
        (HostForm::Bound(bound), on_device) => reference.bound(&bound, on_device),
    })
}
