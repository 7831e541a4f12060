//! What stands in `host!`.

use crate::diagnostics;
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, ExprCast, ExprClosure, ExprPath, Ident, Lit, LitInt, LitStr, Token, Type};

/// One form of `host!`.
pub enum HostForm {
    /// `host!(expr)`
    Value(Expr),
    /// `host!(|device| expr)`
    DeviceValue(ExprClosure),
    /// `host!(table: expr)`
    Table(Expr),
    /// `host!(mapped: expr)`
    Mapped(Expr),
    /// `host!(item: PATH)`
    Item(ExprPath),
    /// `host!(fn: path as fn(A) -> B)`
    Function(ExprCast),
    /// `host!(symbol: "name" as T, offset: 8, library: "/path")`
    Symbol(Symbol),
    /// `host!(bound: "name" as T)`
    Bound(Named),
}

/// `"name" as T`
pub struct Named {
    pub name: LitStr,
    pub ty: Type,
}

/// What lies at a symbol.
pub struct Symbol {
    pub named: Named,
    pub offset: u64,
    pub library: Option<LitStr>,
}

impl Parse for Named {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let name: LitStr = input.parse().map_err(|error| syn::Error::new(error.span(), diagnostics::HOST_NAMED))?;
        input.parse::<Token![as]>().map_err(|error| syn::Error::new(error.span(), diagnostics::HOST_NAMED))?;
        Ok(Self { name, ty: input.parse()? })
    }
}

impl Parse for Symbol {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut symbol = Self { named: input.parse()?, offset: 0, library: None };
        let refused = |error: syn::Error| syn::Error::new(error.span(), diagnostics::HOST_SYMBOL);
        while !input.is_empty() {
            input.parse::<Token![,]>().map_err(refused)?;
            if input.is_empty() {
                break;
            }
            let word = input.call(Ident::parse_any).map_err(refused)?;
            input.parse::<Token![:]>().map_err(refused)?;
            match word.to_string().as_str() {
                "offset" => symbol.offset = input.parse::<LitInt>().and_then(|bytes| bytes.base10_parse()).map_err(refused)?,
                "library" => {
                    let path: LitStr = input.parse().map_err(refused)?;
                    if !path.value().starts_with('/') {
                        return Err(syn::Error::new(path.span(), diagnostics::HOST_LIBRARY));
                    }
                    symbol.library = Some(path);
                }
                _ => return Err(syn::Error::new(word.span(), diagnostics::HOST_SYMBOL)),
            }
        }
        Ok(symbol)
    }
}

impl Parse for HostForm {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        if input.is_empty() {
            return Err(syn::Error::new(Span::call_site(), diagnostics::HOST_EMPTY));
        }
        let form = if input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek2(Token![::]) {
            let word = input.call(Ident::parse_any)?;
            input.parse::<Token![:]>()?;
            named(&word, input)?
        } else {
            value(input.parse()?)?
        };
        if input.is_empty() { Ok(form) } else { Err(input.error(diagnostics::HOST_ONE)) }
    }
}

/// What follows `word:`.
fn named(word: &Ident, input: ParseStream) -> syn::Result<HostForm> {
    match word.to_string().as_str() {
        "table" => input.parse().map(HostForm::Table),
        "mapped" => input.parse().map(HostForm::Mapped),
        "item" => match input.parse()? {
            Expr::Path(path) => Ok(HostForm::Item(path)),
            other => Err(syn::Error::new_spanned(other, diagnostics::HOST_ITEM)),
        },
        "fn" => match input.parse()? {
            Expr::Cast(cast) if matches!(*cast.expr, Expr::Path(_)) && matches!(*cast.ty, Type::BareFn(_)) => Ok(HostForm::Function(cast)),
            other => Err(syn::Error::new_spanned(other, diagnostics::HOST_FN)),
        },
        "symbol" => input.parse().map(HostForm::Symbol),
        "bound" => input.parse().map(HostForm::Bound),
        other => {
            // The rest is another form's: reading it here would only add errors.
            input.parse::<TokenStream>()?;
            Err(syn::Error::new(word.span(), diagnostics::host_form(other)))
        }
    }
}

fn value(expression: Expr) -> syn::Result<HostForm> {
    match expression {
        Expr::Closure(closure) if closure.inputs.len() == 1 => Ok(HostForm::DeviceValue(closure)),
        Expr::Closure(_) => Err(syn::Error::new_spanned(expression, diagnostics::HOST_CLOSURE)),
        _ if is_open_literal(&expression) => Err(syn::Error::new_spanned(expression, diagnostics::HOST_LITERAL)),
        _ => Ok(HostForm::Value(expression)),
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
