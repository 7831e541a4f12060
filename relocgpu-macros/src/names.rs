//! Names that both compiles, the build and the linker must spell alike, and where tokens come from.
//!
//! | name | spelled |
//! |---|---|
//! | image symbol | `__relocgpu_image_<16 hex of the unit>_if_undefined_touch_build_rs` |
//! | link symbol of a `host!` | `__relocgpu_host_<16 hex of the place and the tokens>[_<number>]_<line>_<column>`, `_t` appended in `cfg(test)` |
//!
//! The number, from 2 on, tells those apart that one call of a macro by example makes of the same tokens.
//!
//! Their home is `contract::names` of relocgpu-runtime, which a proc-macro crate cannot depend on; a test compares the two.

use proc_macro2::{Span, TokenStream};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Separates fields in names and hashes.
pub const FIELD: char = '\u{1f}';
/// First field of a reference declaration's name.
pub const REFERENCE_TAG: &str = "relocgpu";
/// Section of block-shared memory.
pub const SHARED_SECTION: &str = ".relocgpu.shared";

/// Separates the fields of a reference's detail.
pub const DETAIL: char = '\u{1e}';

/// Kinds of references.
pub mod kind {
    /// The value of an expression.
    pub const VALUE: &str = "value";
    /// Address of a table's elements.
    pub const TABLE_PTR: &str = "table_ptr";
    /// Number of a table's elements.
    pub const TABLE_LEN: &str = "table_len";
    /// The value of an expression for one device.
    pub const DEVICE_VALUE: &str = "device_value";
    /// Address of mapped host memory.
    pub const MAPPED: &str = "mapped";
    /// Address of a device static.
    pub const STATIC: &str = "static";
    /// The declaration's own address stands for that of a host item.
    pub const ITEM: &str = "item";
    /// What is stored at a symbol.
    pub const LOAD: &str = "load";
    /// What the program binds by name.
    pub const BOUND: &str = "bound";
}

/// Environment variables.
pub mod env {
    /// A state of [`pass`](super::pass).
    pub const PASS: &str = "RELOCGPU_PASS";
    /// Path and hash of the report of faults.
    pub const FAULTS: &str = "RELOCGPU_FAULTS";
    /// Set in the device pass.
    pub const DEVICE_PASS: &str = "RELOCGPU_DEVICE_PASS";
}

/// What the build script says of its pass.
pub mod pass {
    /// Each unit has its image.
    pub const LINKED: &str = "linked";
    /// There was no device pass.
    pub const SKIPPED: &str = "skipped";
    /// The report of faults has the reasons.
    pub const REJECTED: &str = "rejected";
}

/// What cargo says about the crate that is being compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    pub package: String,
    pub version: String,
    /// `lib`, `bin` or `test`.
    pub kind: &'static str,
    /// Absent for code that cargo does not compile itself, such as a documentation test.
    pub crate_name: Option<String>,
}

impl Unit {
    /// Reads cargo's variables.
    pub fn from_environment() -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let kind = match (variable("CARGO_BIN_NAME"), variable("CARGO_TARGET_TMPDIR")) {
            (Some(_), _) => "bin",
            (None, Some(_)) => "test",
            (None, None) => "lib",
        };
        Self {
            package: variable("CARGO_PKG_NAME").unwrap_or_default(),
            version: variable("CARGO_PKG_VERSION").unwrap_or_default(),
            kind,
            crate_name: variable("CARGO_CRATE_NAME"),
        }
    }

    /// Symbol of the image of this unit, compiled with `cfg(test)` or without.
    pub fn image_symbol(&self, test: bool) -> String {
        let crate_name = self.crate_name.as_deref().unwrap_or_default();
        let text = format!("{}{FIELD}{}{FIELD}{}{FIELD}{crate_name}{FIELD}{test}", self.package, self.version, self.kind);
        format!("__relocgpu_image_{:016x}_if_undefined_touch_build_rs", fnv1a(text.as_bytes()))
    }

    /// Link symbol of a `host!` but for its line and column.
    pub fn host_symbol(&self, tokens: &TokenStream) -> String {
        let first = tokens.clone().into_iter().next().map(|token| token.span());
        let place = first.map_or_else(Place::default, Place::of);
        let text = format!(
            "{}{FIELD}{}{FIELD}{}{FIELD}{}{FIELD}{place:?}{FIELD}{}",
            self.package,
            self.version,
            self.kind,
            self.crate_name.as_deref().unwrap_or_default(),
            text_of(tokens)
        );
        let hash = fnv1a(text.as_bytes());
        match repetition(hash, first) {
            0 => format!("__relocgpu_host_{hash:016x}"),
            before => format!("__relocgpu_host_{hash:016x}_{}", before + 1),
        }
    }
}

/// How often this process has seen the same tokens in the same expansion. Only a macro by example makes them more than
/// once, in a repetition: its whole expansion shares one span, which shows the number of the expansion. Both compiles
/// expand the same source in the same order.
fn repetition(hash: u64, first: Option<Span>) -> usize {
    static SEEN: Mutex<BTreeMap<(u64, String), usize>> = Mutex::new(BTreeMap::new());
    let span = first.map(|span| format!("{span:?}")).unwrap_or_default();
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let count = seen.entry((hash, span)).or_default();
    *count += 1;
    *count - 1
}

/// Where a token stands: the same in both compiles, wherever the package lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// File relative to `CARGO_MANIFEST_DIR`, with `/`; empty outside of it.
    pub file: String,
    /// Line from 1.
    pub line: u32,
    /// Column from 1.
    pub column: u32,
}

impl Place {
    /// The place of a span; empty in this crate's own tests, which have no compiler to ask.
    pub fn of(span: Span) -> Self {
        if !proc_macro::is_available() {
            return Self::default();
        }
        let span = span.unwrap();
        let file = span.local_file().map(|path| relative(&path)).unwrap_or_default();
        Self { file, line: span.line() as u32, column: span.column() as u32 }
    }
}

fn relative(file: &Path) -> String {
    // rustc names files relative to its working directory, which is the workspace's root and not the package's.
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let inside = file.strip_prefix(Path::new(&root)).unwrap_or(Path::new(""));
    inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Tokens as text on one line.
pub fn text_of(tokens: &TokenStream) -> String {
    tokens.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// That text as users write it, for reports: a macro that passes tokens on loses their spacing.
pub fn shown(text: &str) -> String {
    let spaced = [(" :: ", "::"), (" : ", ": "), ("& raw ", "&raw "), ("* const ", "*const "), ("* mut ", "*mut ")];
    spaced.iter().fold(text.to_owned(), |text, (spaced, written)| text.replace(spaced, written))
}

/// A type as text: tokens that a parser has handled have lost the spacing that the user gave them.
pub fn text_of_type(ty: &syn::Type) -> String {
    let spaced = text_of(&quote::ToTokens::to_token_stream(ty));
    let mut out = String::with_capacity(spaced.len());
    let mut characters = spaced.chars().peekable();
    while let Some(character) = characters.next() {
        let before = out.chars().next_back().unwrap_or(' ');
        let after = characters.peek().copied().unwrap_or(' ');
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let parts_words = word(before) && (word(after) || "[&*'(".contains(after));
        let operator = |c: char| "=+-".contains(c);
        if character != ' ' || parts_words || ",;".contains(before) || operator(before) || operator(after) || out.ends_with("->") {
            out.push(character);
        }
    }
    out
}

/// 64-bit FNV-1a.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_as_the_contract_does() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn references_read_as_users_write_them() {
        assert_eq!(shown("& raw const HITS"), "&raw const HITS");
        assert_eq!(shown("on_the_host as * const ()"), "on_the_host as *const ()");
        assert_eq!(shown("mapped : AtomicU32 :: new(0)"), "mapped: AtomicU32::new(0)");
        assert_eq!(shown("a & b * c"), "a & b * c");
    }

    #[test]
    fn types_read_as_users_write_them() {
        let types = ["&[f32]", "&'a [T]", "&[super::Mode]", "DisjointSlice<'a, [T; N]>", "Pair<T, 4>", "*const T", "(u32, A<B = C>)"];
        for ty in types {
            assert_eq!(text_of_type(&syn::parse_str(ty).unwrap()), ty);
        }
    }

    #[test]
    fn an_image_has_another_symbol_in_tests() {
        let unit = Unit { package: "p".into(), version: "0.1.0".into(), kind: "lib", crate_name: Some("p".into()) };
        assert_ne!(unit.image_symbol(true), unit.image_symbol(false));
        assert!(unit.image_symbol(true).starts_with("__relocgpu_image_"));
    }
}
