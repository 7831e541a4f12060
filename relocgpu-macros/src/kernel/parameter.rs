//! The classes of kernel parameters: a slice to read, a slice to write, a value.

use crate::diagnostics::{self, Faults};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{FnArg, GenericArgument, Ident, Pat, PatType, PathArguments, Type, TypePath, TypeReference};

/// One parameter of a kernel.
pub struct Parameter {
    /// The name that `launch` and the manifest show.
    pub name: Ident,
    /// The type as written.
    pub ty: Type,
    /// How it crosses.
    pub class: Class,
}

/// How a parameter crosses to the device.
pub enum Class {
    /// `&[T]`
    Slice(Box<Type>),
    /// `DisjointSlice<T>` or `DisjointSlice<T, Space>`
    Disjoint { element: Box<Type>, space: Option<Box<Type>> },
    /// Anything else that is `DeviceData`.
    Value,
}

impl Parameter {
    /// Classifies a parameter; `None` after a fault.
    pub fn new(index: usize, typed: &PatType, faults: &mut Faults) -> Option<Self> {
        // `launch` uses it, which lints on names such as `_unused` must know to be the macro's doing. A name for a
        // pattern is no other parameter's, however that is called.
        let name = match &*typed.pat {
            Pat::Ident(pattern) => {
                let mut name = pattern.ident.clone();
                name.set_span(name.span().resolved_at(Span::call_site()));
                name
            }
            pattern => Ident::new(&format!("argument_{index}"), pattern.span().resolved_at(Span::mixed_site())),
        };
        let ty = bare(&typed.ty).clone();
        let class = Class::of(&ty, faults)?;
        Some(Self { name, ty, class })
    }
}

/// The type without parentheses and without the invisible groups of macros by example.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Paren(inner) => bare(&inner.elem),
        Type::Group(inner) => bare(&inner.elem),
        _ => ty,
    }
}

impl Class {
    fn of(ty: &Type, faults: &mut Faults) -> Option<Self> {
        let refused = match ty {
            Type::Reference(reference) => return Self::of_reference(reference, faults),
            Type::Path(path) if is_disjoint_slice(path) => return Self::of_disjoint_slice(path, faults),
            Type::BareFn(_) => diagnostics::FN_POINTER,
            Type::ImplTrait(_) => diagnostics::IMPL_TRAIT,
            Type::TraitObject(_) => diagnostics::TRAIT_OBJECT,
            // Not `Sized`, which rustc reports with the remedy.
            Type::Slice(_) => return None,
            _ => return owns_itself(ty, faults).then_some(Self::Value),
        };
        faults.at(ty, refused);
        None
    }

    fn of_reference(reference: &TypeReference, faults: &mut Faults) -> Option<Self> {
        let target = bare(&reference.elem);
        let refused = match target {
            Type::Slice(_) if reference.mutability.is_some() => diagnostics::MUT_SLICE,
            Type::Slice(_) if reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static") => diagnostics::STATIC_SLICE,
            Type::Slice(slice) => return owns_itself(&slice.elem, faults).then(|| Self::Slice(slice.elem.clone())),
            _ if reference.mutability.is_some() => diagnostics::MUT_REFERENCE,
            Type::Path(path) if path.path.is_ident("str") => diagnostics::STR,
            Type::Array(_) => diagnostics::ARRAY_REFERENCE,
            Type::TraitObject(_) => diagnostics::TRAIT_OBJECT,
            Type::ImplTrait(_) => diagnostics::IMPL_TRAIT,
            _ => diagnostics::REFERENCE,
        };
        faults.at(reference, refused);
        None
    }

    fn of_disjoint_slice(path: &TypePath, faults: &mut Faults) -> Option<Self> {
        let mut types = Vec::new();
        if let Some(PathArguments::AngleBracketed(arguments)) = path.path.segments.last().map(|segment| &segment.arguments) {
            for argument in &arguments.args {
                match argument {
                    GenericArgument::Lifetime(lifetime) if lifetime.ident == "static" => {
                        faults.at(lifetime, diagnostics::STATIC_SLICE);
                        return None;
                    }
                    GenericArgument::Lifetime(_) => {}
                    GenericArgument::Type(ty) => types.push(Box::new(ty.clone())),
                    _ => types.clear(),
                }
            }
        }
        let mut types = types.into_iter();
        match (types.next(), types.next(), types.next()) {
            (Some(element), space, None) => {
                let owned = owns_itself(&element, faults) & space.iter().all(|space| owns_itself(space, faults));
                owned.then_some(Self::Disjoint { element, space })
            }
            // Too few or too many, which rustc reports.
            _ => None,
        }
    }
}

fn is_disjoint_slice(path: &TypePath) -> bool {
    path.qself.is_none() && path.path.segments.last().is_some_and(|segment| segment.ident == "DisjointSlice")
}

/// Whether a type names no reference and no lifetime. What an alias hides, the `DeviceData` bound finds.
fn owns_itself(ty: &Type, faults: &mut Faults) -> bool {
    struct Borrows<'f>(&'f mut Faults, bool);
    impl<'ast> Visit<'ast> for Borrows<'_> {
        fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
            self.0.at(reference, diagnostics::INNER_REFERENCE);
            self.1 = true;
        }
        fn visit_type_bare_fn(&mut self, function: &'ast syn::TypeBareFn) {
            self.0.at(function, diagnostics::FN_POINTER);
            self.1 = true;
        }
        fn visit_type_impl_trait(&mut self, ty: &'ast syn::TypeImplTrait) {
            self.0.at(ty, diagnostics::IMPL_TRAIT);
            self.1 = true;
        }
        fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
            self.0.at(lifetime, diagnostics::INNER_LIFETIME);
            self.1 = true;
        }
        fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
            // What they are of is never followed on a device.
            if segment.ident != "FnToken" && segment.ident != "HostRef" {
                syn::visit::visit_path_segment(self, segment);
            }
        }
        // The length of an array may hold any expression.
        fn visit_expr(&mut self, _: &'ast syn::Expr) {}
    }
    let mut borrows = Borrows(faults, false);
    borrows.visit_type(ty);
    !borrows.1
}

/// Names that the patterns of a function's parameters bind.
pub fn bound_names<'a>(inputs: impl IntoIterator<Item = &'a FnArg>) -> Vec<String> {
    let mut names = PatternNames(Vec::new());
    for input in inputs {
        if let FnArg::Typed(typed) = input {
            names.visit_pat(&typed.pat);
        }
    }
    names.0
}

/// Collects the names that a pattern binds.
pub struct PatternNames(pub Vec<String>);

impl<'ast> Visit<'ast> for PatternNames {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        // An upper-case name in a pattern is a constant, not a binding.
        if !pattern.ident.to_string().starts_with(char::is_uppercase) {
            self.0.push(pattern.ident.to_string());
        }
        syn::visit::visit_pat_ident(self, pattern);
    }
    fn visit_expr(&mut self, _: &'ast syn::Expr) {}
}
