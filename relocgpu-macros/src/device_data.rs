//! `#[derive(DeviceData)]`: types that cross to the device by value.

use crate::diagnostics::{self, Faults};
use crate::root::{CrateArgument, Root};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Fields, Ident, Token, parse_quote};

const REPRS: [&str; 10] = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"];

/// Expands the derive.
pub fn run(item: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut faults = Faults::default();
    let root = match root(&input, &mut faults) {
        Ok(root) => root,
        Err(missing) => return missing,
    };
    let body = match &input.data {
        Data::Struct(data) => Some(of_fields(&data.fields)),
        Data::Enum(data) => of_enum(&input, data, &mut faults),
        Data::Union(data) => {
            faults.at(data.union_token, diagnostics::DATA_UNION);
            None
        }
    };
    match body {
        Some(body) if faults.is_empty() => root.applied(implement(&input, &body)),
        _ => faults.into_tokens(),
    }
}

/// Where `#[device_data(crate = path)]` says that the runtime is.
fn root(input: &DeriveInput, faults: &mut Faults) -> Result<Root, TokenStream> {
    let Some(attribute) = input.attrs.iter().find(|attribute| attribute.path().is_ident("device_data")) else {
        return Root::of_dependency();
    };
    match attribute.parse_args::<CrateArgument>() {
        Ok(CrateArgument(path)) => Ok(Root::at(&path)),
        Err(_) => {
            faults.at(attribute, diagnostics::DATA_ARGUMENTS);
            Root::of_dependency()
        }
    }
}

/// What differs between structs and enums.
struct Body {
    fields: TokenStream,
    zero_is_valid: TokenStream,
}

/// A field's type carries its own place, so that a field that is not `DeviceData` is reported where it stands.
fn of_fields(fields: &Fields) -> Body {
    let mut layouts = TokenStream::new();
    let mut zero = quote!(true);
    for (index, field) in fields.iter().enumerate() {
        let ty = &field.ty;
        let place = ty.span().resolved_at(Span::mixed_site());
        let (member, name) = match &field.ident {
            Some(ident) => (quote!(#ident), ident.unraw().to_string()),
            None => {
                let index = syn::Index::from(index);
                (quote!(#index), index.index.to_string())
            }
        };
        let layout = quote_spanned!(place=> <#ty as ::relocgpu_runtime::DeviceData>::LAYOUT);
        layouts.extend(quote! {
            ::relocgpu_runtime::__private::FieldLayout {
                name: #name,
                offset: ::core::mem::offset_of!(Self, #member),
                layout: #layout,
            },
        });
        zero.extend(quote_spanned!(place=> && <#ty as ::relocgpu_runtime::DeviceData>::ZERO_IS_VALID));
    }
    Body { fields: layouts, zero_is_valid: zero }
}

fn of_enum(input: &DeriveInput, data: &DataEnum, faults: &mut Faults) -> Option<Body> {
    for variant in data.variants.iter().filter(|variant| !variant.fields.is_empty()) {
        faults.at(&variant.fields, diagnostics::DATA_ENUM_FIELDS);
    }
    if data.variants.is_empty() {
        faults.at(&input.ident, diagnostics::DATA_ENUM_EMPTY);
    } else if !has_integer_repr(input) {
        faults.at(&input.ident, diagnostics::DATA_ENUM_REPR);
    }
    let names = data.variants.iter().map(|variant| &variant.ident);
    faults.is_empty().then(|| Body { fields: TokenStream::new(), zero_is_valid: quote!(#(Self::#names as i128 == 0)||*) })
}

fn has_integer_repr(input: &DeriveInput) -> bool {
    input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")).any(|attribute| {
        let words = attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated).unwrap_or_default();
        words.iter().any(|word| REPRS.iter().any(|repr| word == repr))
    })
}

fn implement(input: &DeriveInput, body: &Body) -> TokenStream {
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::relocgpu_runtime::DeviceData));
    }
    let (in_impl, arguments, condition) = generics.split_for_impl();
    let ident = &input.ident;
    let name = ident.unraw().to_string();
    let Body { fields, zero_is_valid } = body;
    let no_drop = diagnostics::DATA_DROP;
    // Of a generic type the constant is evaluated where an instance is used.
    let check = input.generics.params.is_empty().then(|| {
        quote_spanned! {Span::mixed_site()=>
            const _: () = { let _ = <#ident as ::relocgpu_runtime::DeviceData>::LAYOUT; };
        }
    });
    quote_spanned! {Span::mixed_site()=>
        // SAFETY: every field is `DeviceData`, the layout is rustc's own, and the type needs no drop.
        #[automatically_derived]
        unsafe impl #in_impl ::relocgpu_runtime::DeviceData for #ident #arguments #condition {
            const LAYOUT: &'static ::relocgpu_runtime::__private::TypeLayout = {
                ::core::assert!(!::core::mem::needs_drop::<Self>(), #no_drop);
                &::relocgpu_runtime::__private::TypeLayout {
                    name: #name,
                    size: ::core::mem::size_of::<Self>(),
                    align: ::core::mem::align_of::<Self>(),
                    fields: &[#fields],
                }
            };
            const ZERO_IS_VALID: bool = #zero_is_valid;
        }
        #check
    }
}
