//! `host!`: a word that only the running process knows.
//!
//! The host compile exports a thunk that evaluates the expression; the image's host table refers to it by its link
//! symbol. The device pass declares an external word whose *name* is the whole record (`contract::names::Reference`):
//! whatever refers to the word keeps the record, and nothing else does.

use crate::diagnostics::{self, error_expression};
use crate::image_link::is_device_pass;
use crate::names::{FIELD, REFERENCE_TAG, Unit, fnv1a, part, text_of};
use crate::root::{Wrapped, site};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Lit, Token};

/// What stands in `host!`.
pub enum HostForm {
    /// `host!(expr)`
    Value(Expr),
    /// `host!(table: expr)`
    Table(Expr),
}

impl Parse for HostForm {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        if input.is_empty() {
            return Err(syn::Error::new(Span::call_site(), diagnostics::HOST_EMPTY));
        }
        if input.peek(Ident) && input.peek2(Token![:]) && !input.peek2(Token![::]) {
            let word: Ident = input.parse()?;
            input.parse::<Token![:]>()?;
            if word != "table" {
                // The rest is another form's: reading it here would only add errors.
                input.parse::<TokenStream>()?;
                return Err(syn::Error::new(word.span(), diagnostics::host_form(&word.to_string())));
            }
            return input.parse().map(Self::Table);
        }
        let expression: Expr = input.parse()?;
        if !input.is_empty() {
            return Err(input.error(diagnostics::HOST_ONE));
        }
        match &expression {
            Expr::Closure(_) => Err(syn::Error::new_spanned(expression, diagnostics::HOST_CLOSURE)),
            _ if is_open_literal(&expression) => Err(syn::Error::new_spanned(expression, diagnostics::HOST_LITERAL)),
            _ => Ok(Self::Value(expression)),
        }
    }
}

/// Whether the expression is a number whose type the code around it would choose: the thunk does not see that code.
fn is_open_literal(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.suffix().is_empty(),
            Lit::Float(number) => number.suffix().is_empty(),
            _ => false,
        },
        Expr::Unary(unary) => is_open_literal(&unary.expr),
        Expr::Paren(inner) => is_open_literal(&inner.expr),
        Expr::Group(inner) => is_open_literal(&inner.expr),
        Expr::Binary(both) => is_open_literal(&both.left) && is_open_literal(&both.right),
        _ => false,
    }
}

/// Expands the macro.
pub fn run(tokens: TokenStream) -> TokenStream {
    let parsed = syn::parse2(tokens).and_then(|wrapped: Wrapped| Ok((syn::parse2(wrapped.tokens.clone())?, wrapped)));
    let (form, Wrapped { root, tokens }) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return error_expression(error),
    };
    let unit = Unit::from_environment();
    let reference = Reference { symbol: unit.host_symbol(&tokens), unit, site: site(&tokens), tokens };
    root.applied(match (form, is_device_pass()) {
        (HostForm::Value(expression), false) => reference.host_value(&expression),
        (HostForm::Table(expression), false) => reference.host_table(&expression),
        (HostForm::Value(expression), true) => reference.device_value(&expression),
        (HostForm::Table(expression), true) => reference.device_table(&expression),
    })
}

struct Reference {
    unit: Unit,
    tokens: TokenStream,
    /// Link symbol but for line and column.
    symbol: String,
    /// Where the expansion stands.
    site: Span,
}

impl Reference {
    /// The value's type must be the same in the thunk, which stands alone, and where the value is used: two copies of
    /// the expression, compared by `host_value`. rustc reports what is wrong with both copies once. The thunk's is in a
    /// constant: a local that it names "would need to be a `const`", says rustc, and not a closure.
    fn host_value(&self, expression: &Expr) -> TokenStream {
        let export = self.export();
        let (AtExpression { bound, call }, value) = (AtExpression::of(expression, "HostWord"), value_function());
        quote_spanned! {self.site=> {
            fn #value() -> #bound { #call }
            #export
            extern "C-unwind" fn __relocgpu_thunk() -> u64 {
                ::relocgpu_runtime::__private::HostWord::to_word(#value())
            }
            ::relocgpu_runtime::__private::host_value(|| { #expression }, #value)
        }}
    }

    fn host_table(&self, expression: &Expr) -> TokenStream {
        let export = self.export();
        let (AtExpression { bound, call }, value) = (AtExpression::of(expression, "TableSource"), value_function());
        quote_spanned! {self.site=> {
            fn #value() -> #bound { #call }
            #export
            extern "C-unwind" fn __relocgpu_thunk() -> ::relocgpu_runtime::__private::RawTable {
                ::relocgpu_runtime::__private::raw_table(#value())
            }
            ::relocgpu_runtime::__private::host_table(__relocgpu_thunk, || { #expression }, #value)
        }}
    }

    fn device_value(&self, expression: &Expr) -> TokenStream {
        let slot = self.slot(part::VALUE);
        quote_spanned! {self.site=> {
            unsafe extern "C" {
                #slot
                static __RELOCGPU_SLOT: u64;
            }
            // SAFETY: the loader has written the slot before any kernel runs.
            ::relocgpu_runtime::__private::device_value(|| { #expression }, unsafe { __RELOCGPU_SLOT })
        }}
    }

    fn device_table(&self, expression: &Expr) -> TokenStream {
        let (pointer, length) = (self.slot(part::TABLE_PTR), self.slot(part::TABLE_LEN));
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
    fn slot(&self, part: &str) -> TokenStream {
        let name = self.record(part, false);
        let in_test = self.record(part, true);
        quote!(#[cfg_attr(test, link_name = #in_test)] #[cfg_attr(not(test), link_name = #name)])
    }

    /// Line and column are those of the outermost macro call: a `host!` in a macro by example has one symbol for each.
    fn link_symbol(&self, test: bool) -> TokenStream {
        let symbol = format!("{}_", self.symbol);
        let suffix = if test { "_t" } else { "" };
        quote!(::core::concat!(#symbol, ::core::line!(), "_", ::core::column!(), #suffix))
    }

    fn record(&self, part: &str, test: bool) -> TokenStream {
        let symbol = self.link_symbol(test);
        let start = format!("{REFERENCE_TAG}{FIELD}{part}{FIELD}");
        let text = text_of(&self.tokens);
        let package = format!("{FIELD}{}{FIELD}{}{FIELD}", self.unit.crate_name.as_deref().unwrap_or_default(), self.unit.version);
        let hash = format!("{FIELD}{:016x}{FIELD}", fnv1a(text.as_bytes()));
        let text = format!("{FIELD}{text}");
        quote! {
            ::core::concat!(
                #start, #symbol, #package, ::core::module_path!(), #hash,
                ::core::file!(), ":", ::core::line!(), ":", ::core::column!(), #text
            )
        }
    }
}

/// Words that together stand where the expression does: rustc spans from the first to the last. There a value is reported
/// that does not implement the trait.
struct AtExpression {
    /// `impl …::Trait`
    bound: TokenStream,
    /// `(const { || { expression } })()`
    call: TokenStream,
}

impl AtExpression {
    fn of(expression: &Expr, name: &str) -> Self {
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
