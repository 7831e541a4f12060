//! Finds each `host!` and `device!` of a kernel that names something of the kernel around it.
//!
//! Both become items of their own, which see neither locals nor generic parameters. rustc would say so in terms of
//! items that the user never wrote; here it is said with the remedy. A `host!(expr)` may name generic parameters: see
//! [`words`](super::words).

use super::parameter::{PatternNames, bound_names};
use crate::device_mem::DeviceForm;
use crate::diagnostics::{self, Captured, Faults};
use crate::host_ref::HostForm;
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Block, Expr, Ident, ItemFn, Macro, Pat};

/// Reports the captures; then the body is dropped, so that rustc does not report them again, and the parameters' names,
/// so that none is unused.
pub fn check(function: &mut ItemFn, faults: &mut Faults) {
    let mut walk =
        Walk { generics: super::generic_names(&function.sig), scopes: vec![bound_names(&function.sig.inputs)], faults, found: false };
    walk.visit_block(&function.block);
    if walk.found {
        *function.block = syn::parse_quote!({ ::core::unimplemented!() });
        for input in &mut function.sig.inputs {
            if let syn::FnArg::Typed(typed) = input {
                *typed.pat = syn::parse_quote!(_);
            }
        }
    }
}

/// Follows the scopes of a function's body; a name counts from the end of its `let` on, as it does for rustc.
struct Walk<'f> {
    generics: Vec<String>,
    scopes: Vec<Vec<String>>,
    faults: &'f mut Faults,
    found: bool,
}

impl Walk<'_> {
    fn bind(&mut self, pattern: &Pat) {
        let mut names = PatternNames(Vec::new());
        names.visit_pat(pattern);
        self.scopes.last_mut().expect("there is a scope as long as the walk lasts").append(&mut names.0);
    }

    fn scoped(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.push(Vec::new());
        inside(self);
        self.scopes.pop();
    }

    fn captured(&self, name: &str) -> Option<Captured> {
        if self.scopes.iter().flatten().any(|local| local == name) {
            Some(Captured::Local)
        } else {
            self.generics.iter().any(|generic| generic == name).then_some(Captured::Generic)
        }
    }

    fn check_host(&mut self, tokens: &TokenStream) {
        // A form that does not parse is told by `host!` itself.
        let form = syn::parse2(tokens.clone());
        let of_instance = matches!(form, Ok(HostForm::Value(_)));
        let names = match form {
            Ok(HostForm::Value(expression) | HostForm::Table(expression) | HostForm::Mapped(expression)) => {
                names_of(|names| names.visit_expr(&expression))
            }
            Ok(HostForm::DeviceValue(closure)) => names_of(|names| names.visit_expr_closure(&closure)),
            Ok(HostForm::Item(path)) => names_of(|names| names.visit_expr_path(&path)),
            Ok(HostForm::Function(cast)) => names_of(|names| names.visit_expr_cast(&cast)),
            Ok(HostForm::Symbol(symbol)) => names_of(|names| names.visit_type(&symbol.named.ty)),
            Ok(HostForm::Bound(bound)) => names_of(|names| names.visit_type(&bound.ty)),
            Err(_) => return,
        };
        for name in names {
            if let Some(what) = self.captured(&name.to_string()).filter(|what| *what == Captured::Local || !of_instance) {
                self.faults.at(&name, diagnostics::host_capture(&name.to_string(), what));
                self.found = true;
            }
        }
    }

    fn check_device(&mut self, tokens: &TokenStream) {
        let names = match syn::parse2(tokens.clone()) {
            Ok(DeviceForm::Shared(array)) => names_of(|names| names.visit_type_array(&array)),
            Ok(DeviceForm::Static(expression)) => names_of(|names| names.visit_expr(&expression)),
            Err(_) => return,
        };
        for name in names {
            if self.captured(&name.to_string()).is_some() {
                self.faults.at(&name, diagnostics::device_capture(&name.to_string()));
                self.found = true;
            }
        }
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_block(&mut self, block: &'ast Block) {
        self.scoped(|walk| visit::visit_block(walk, block));
    }
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init {
            visit::visit_local_init(self, init);
        }
        self.bind(&local.pat);
    }
    fn visit_expr_let(&mut self, condition: &'ast syn::ExprLet) {
        self.visit_expr(&condition.expr);
        self.bind(&condition.pat);
    }
    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.scoped(|walk| {
            walk.visit_expr(&branch.cond);
            walk.visit_block(&branch.then_branch);
        });
        if let Some((_, other)) = &branch.else_branch {
            self.visit_expr(other);
        }
    }
    fn visit_expr_while(&mut self, repeat: &'ast syn::ExprWhile) {
        self.scoped(|walk| visit::visit_expr_while(walk, repeat));
    }
    fn visit_expr_for_loop(&mut self, repeat: &'ast syn::ExprForLoop) {
        self.visit_expr(&repeat.expr);
        self.scoped(|walk| {
            walk.bind(&repeat.pat);
            walk.visit_block(&repeat.body);
        });
    }
    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.scoped(|walk| {
            walk.bind(&arm.pat);
            visit::visit_arm(walk, arm);
        });
    }
    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.scoped(|walk| {
            closure.inputs.iter().for_each(|input| walk.bind(input));
            walk.visit_expr(&closure.body);
        });
    }
    fn visit_macro(&mut self, invocation: &'ast Macro) {
        match invocation.path.segments.last() {
            Some(last) if last.ident == "host" => self.check_host(&invocation.tokens),
            Some(last) if last.ident == "device" => self.check_device(&invocation.tokens),
            _ => {}
        }
    }
    // An item inside the body sees neither, with or without `host!`.
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether an expression names one of these parameters.
pub fn names_generic(expression: &Expr, generics: &[String]) -> bool {
    names_of(|names| names.visit_expr(expression)).iter().any(|name| generics.iter().any(|generic| name == generic))
}

/// The one-word paths of an expression or type that it does not bind itself.
fn names_of(visit: impl FnOnce(&mut Names)) -> Vec<Ident> {
    let mut names = Names::default();
    visit(&mut names);
    let Names { mut used, bound } = names;
    used.retain(|name| !bound.iter().any(|bound| name == bound));
    used
}

#[derive(Default)]
struct Names {
    used: Vec<Ident>,
    bound: Vec<String>,
}

impl<'ast> Visit<'ast> for Names {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        // The first word is a local or a generic parameter, as it stands or as in `T::LENGTH`; not after a leading `::`.
        if path.leading_colon.is_none() {
            self.used.extend(path.segments.first().map(|first| first.ident.clone()));
        }
        visit::visit_path(self, path);
    }
    fn visit_pat(&mut self, pattern: &'ast Pat) {
        let mut names = PatternNames(Vec::new());
        names.visit_pat(pattern);
        self.bound.append(&mut names.0);
        visit::visit_pat(self, pattern);
    }
    fn visit_macro(&mut self, invocation: &'ast Macro) {
        // `format!("{}", n)` and its like: a word that is no field, no method and no longer path is taken for a name.
        words(&invocation.tokens, &mut self.used);
    }
}

fn words(tokens: &TokenStream, into: &mut Vec<Ident>) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is = |index: Option<usize>, character: char| {
        index
            .and_then(|index| tokens.get(index))
            .is_some_and(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == character))
    };
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => words(&group.stream(), into),
            TokenTree::Ident(word) => {
                let part = [index.checked_sub(1)].iter().any(|before| is(*before, '.') || is(*before, ':')) || is(Some(index + 1), ':');
                if !part {
                    into.push(word.clone());
                }
            }
            _ => {}
        }
    }
}
