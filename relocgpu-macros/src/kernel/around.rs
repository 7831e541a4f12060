//! Finds out whether a kernel stands in an `impl`, a trait or an `extern` block.
//!
//! An attribute sees its function only, and most of what it makes is not allowed in those places: rustc would object to
//! items that the user never wrote. So the source file is asked what stands around the function's name.

use crate::diagnostics::Around;
use proc_macro2::{Ident, TokenStream};
use syn::visit::{self, Visit};

/// Stands for the function's name in the text that is parsed.
const MARK: &str = "__relocgpu_this_kernel";

/// What is around the function with this name; `None` if it is free, or its file does not tell: a macro by example made
/// it, or an editor shows another text.
pub fn of(name: &Ident) -> Option<Around> {
    if !proc_macro::is_available() {
        return None;
    }
    let span = name.span().unwrap();
    let text = std::fs::read_to_string(span.local_file()?).ok()?;
    find(&text, span.line(), span.column(), &name.to_string())
}

/// The same for a function whose name stands at `line` and `column`, both from 1.
fn find(text: &str, line: usize, column: usize, name: &str) -> Option<Around> {
    if !["impl", "trait", "extern"].iter().any(|word| text.contains(word)) {
        return None;
    }
    let start_of_line: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let before: usize = text.get(start_of_line..)?.chars().take(column - 1).map(char::len_utf8).sum();
    let start = start_of_line + before;
    let rest = text.get(start..)?.strip_prefix(name)?;
    let marked: TokenStream = format!("{}{MARK}{rest}", &text[..start]).parse().ok()?;
    let mut walk = Walk { around: None, found: None };
    walk.visit_file(&syn::parse2(marked).ok()?);
    walk.found?
}

struct Walk {
    around: Option<Around>,
    found: Option<Option<Around>>,
}

impl Walk {
    fn inside(&mut self, around: Option<Around>, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.around, around);
        visit(self);
        self.around = before;
    }
}

impl<'ast> Visit<'ast> for Walk {
    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if signature.ident == MARK {
            self.found = Some(self.around);
        }
    }
    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.inside(None, |walk| visit::visit_block(walk, block));
    }
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.inside(Some(Around::Impl), |walk| visit::visit_item_impl(walk, item));
    }
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.inside(Some(Around::Trait), |walk| visit::visit_item_trait(walk, item));
    }
    fn visit_item_foreign_mod(&mut self, item: &'ast syn::ItemForeignMod) {
        self.inside(Some(Around::Extern), |walk| visit::visit_item_foreign_mod(walk, item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_tells_what_stands_around_a_function() {
        let text = "fn k() {}\nmod m { /* ü */ fn k() {} impl S {\r\n  fn k() { fn r#in() {} }\n}\n trait T { fn k(); }\n extern \"C\" { fn k(); } }";
        let at = |line: usize, word: &str, nth: usize| {
            let text_of_line = text.split('\n').nth(line - 1).unwrap();
            let byte = text_of_line.match_indices(&format!("fn {word}")).nth(nth).unwrap().0 + 3;
            find(text, line, text_of_line[..byte].chars().count() + 1, word)
        };
        assert_eq!(at(1, "k", 0), None);
        assert_eq!(at(2, "k", 0), None);
        assert_eq!(at(3, "k", 0), Some(Around::Impl));
        assert_eq!(at(3, "r#in", 0), None);
        assert_eq!(at(5, "k", 0), Some(Around::Trait));
        assert_eq!(at(6, "k", 0), Some(Around::Extern));
        assert_eq!(find(text, 3, 1, "k"), None, "another place");
        assert_eq!(find(text, 99, 99, "k"), None, "no such place");
    }
}
