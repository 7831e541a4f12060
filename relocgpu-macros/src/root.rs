//! Where the runtime crate is, seen from the user's crate.
//!
//! Expansions are written with `::relocgpu_runtime`. Before they are handed to rustc, that path becomes the place where
//! the crate is:
//!
//! | known from | path |
//! |---|---|
//! | `#[gpu_kernel(crate = path)]`, `#[device_data(crate = path)]` | that path, for a crate that re-exports the runtime |
//! | `host!` and `device!`, which the runtime wraps | `$crate` |
//! | rustc's `--extern name=…/librelocgpu_runtime-….rmeta` | `::name`: a dependency may be renamed in Cargo.toml |

use crate::diagnostics::{self, once};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Token, bracketed};

const RUNTIME: &str = "relocgpu_runtime";

/// The runtime's path; `None` for `::relocgpu_runtime`.
#[derive(Clone, Default)]
pub struct Root(Option<TokenStream>);

impl Root {
    /// What rustc was told; an error if no dependency is the runtime, which the first who asks is to show.
    pub fn of_dependency() -> Result<Self, TokenStream> {
        static NAME: OnceLock<Found> = OnceLock::new();
        static REPORTED: AtomicBool = AtomicBool::new(false);
        // Unit tests of this crate have no user's crate around them.
        if !proc_macro::is_available() {
            return Ok(Self::default());
        }
        match NAME.get_or_init(|| find(&arguments())) {
            Found::Unknown => Ok(Self::default()),
            Found::Named(name) if name == RUNTIME => Ok(Self::default()),
            Found::Named(name) => {
                let name = Ident::new(name, Span::mixed_site());
                Ok(Self(Some(quote!(::#name))))
            }
            Found::Absent => Err(once(&REPORTED, || syn::Error::new(Span::call_site(), diagnostics::NO_RUNTIME).into_compile_error())),
        }
    }

    /// A path that the user gave.
    pub fn at(path: &syn::Path) -> Self {
        Self(Some(path.to_token_stream()))
    }

    /// Puts the path into an expansion. What is written for `::relocgpu_runtime` stands where that stood, so that errors
    /// keep their places.
    pub fn applied(&self, expansion: TokenStream) -> TokenStream {
        match &self.0 {
            Some(path) => replace(expansion, path),
            None => expansion,
        }
    }
}

/// `crate = path`
pub struct CrateArgument(pub syn::Path);

impl Parse for CrateArgument {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        input.parse::<Token![crate]>()?;
        input.parse::<Token![=]>()?;
        input.call(syn::Path::parse_mod_style).map(Self)
    }
}

/// What `host!` and `device!` get: `[$crate]`, and what the user wrote.
pub struct Wrapped {
    pub root: Root,
    pub tokens: TokenStream,
}

impl Parse for Wrapped {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let path;
        bracketed!(path in input);
        Ok(Self { root: Root(Some(path.parse()?)), tokens: input.parse()? })
    }
}

/// The span of an expansion that stands for these tokens: the call is the wrapper's, in the runtime's source.
pub fn site(tokens: &TokenStream) -> Span {
    let first = tokens.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    Span::mixed_site().located_at(first)
}

fn replace(tokens: TokenStream, path: &TokenStream) -> TokenStream {
    let mut out = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let mut replaced = Group::new(group.delimiter(), replace(group.stream(), path));
                replaced.set_span(group.span());
                out.push(replaced.into());
            }
            TokenTree::Ident(word) if word == RUNTIME && ends_with_colons(&out) => {
                out.truncate(out.len() - 2);
                out.extend(path.clone().into_iter().map(|mut token| {
                    token.set_span(token.span().located_at(word.span()));
                    token
                }));
            }
            other => out.push(other),
        }
    }
    out.into_iter().collect()
}

/// Whether a path starts here: `::`, and no word before it.
fn ends_with_colons(out: &[TokenTree]) -> bool {
    let colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    match out {
        [.., before, first, second] => colon(first) && colon(second) && !matches!(before, TokenTree::Ident(word) if !is_keyword(word)),
        [first, second] => colon(first) && colon(second),
        _ => false,
    }
}

fn is_keyword(word: &Ident) -> bool {
    syn::parse::Parser::parse2(Ident::parse_any, word.to_token_stream()).is_ok() && syn::parse2::<Ident>(word.to_token_stream()).is_err()
}

#[derive(Debug, PartialEq, Eq)]
enum Found {
    Named(String),
    /// Other crates were named.
    Absent,
    /// This is no rustc that cargo started: an editor's server of macros, for instance.
    Unknown,
}

/// rustc's arguments, those in files too.
fn arguments() -> Vec<String> {
    let mut all = Vec::new();
    for argument in std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()) {
        match argument.strip_prefix('@').map(std::fs::read_to_string) {
            Some(Ok(text)) => all.extend(text.lines().map(str::to_owned)),
            _ => all.push(argument),
        }
    }
    all
}

fn find(arguments: &[String]) -> Found {
    let mut found = Found::Unknown;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = match argument.strip_prefix("--extern") {
            Some("") => arguments.next().map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        let Some((name, path)) = value.and_then(|value| value.split_once('=')) else { continue };
        let name = name.rsplit(':').next().unwrap_or(name);
        let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
        if stem.strip_prefix("lib").is_some_and(|stem| stem.split('-').next() == Some(RUNTIME)) {
            return Found::Named(name.to_owned());
        }
        found = Found::Absent;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rustc_knows_the_dependency_by_its_name() {
        let find = |line: &str| find(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(find("rustc --crate-name a"), Found::Unknown);
        assert_eq!(find("rustc --extern proc_macro"), Found::Unknown);
        assert_eq!(find("rustc --extern serde=/t/libserde-1f.rmeta"), Found::Absent);
        let gpu = Found::Named("gpu".into());
        assert_eq!(find("rustc --extern serde=/t/libserde-1f.rmeta --extern gpu=/t/librelocgpu_runtime-1f.rmeta"), gpu);
        assert_eq!(find("rustc --extern=priv,noprelude:gpu=/t/librelocgpu_runtime.rlib"), gpu);
        assert_eq!(find("rustc --extern own=/t/librelocgpu_runtime_more-1f.rlib"), Found::Absent);
    }

    #[test]
    fn the_path_replaces_paths_that_start_with_it() {
        let root = Root(Some(quote!(kit::runtime)));
        let expansion = quote!(impl ::relocgpu_runtime::A for (B, [::relocgpu_runtime::C; relocgpu_runtime::D]) where my::relocgpu_runtime::E: ::core::F);
        let expected =
            quote!(impl kit::runtime::A for (B, [kit::runtime::C; relocgpu_runtime::D]) where my::relocgpu_runtime::E: ::core::F);
        assert_eq!(root.applied(expansion).to_string(), expected.to_string());
    }
}
