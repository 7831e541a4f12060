//! Names that more than one crate, or more than one compile, must spell alike.
//!
//! | name | spelled | made by | read by |
//! |---|---|---|---|
//! | link symbol of a `host!` thunk | `__relocgpu_host_<16 hex>[_<number>]_<line>_<column>` (`…_t` appended in `cfg(test)`) | macro, both compiles | host table |
//! | reference declaration | fields joined by U+001F, see [`Reference`] | macro, device pass only | relocate stage |
//! | image symbol | `__relocgpu_image_<16 hex>_if_undefined_touch_build_rs`, see [`image_symbol`] | macro and embed stage | linker |
//! | device intrinsic | `__relocgpu_*`, see [`intrinsic`] | device library | lowering |
//! | site name | `<crate>_<version>_<module path>_<8 hex of tokens>[_ptr\|_len][_N]` | relocate stage | manifest, PTX |
//!
//! Link symbols and site names hold `[A-Za-z0-9_$]` only: ptxas and linker version scripts accept nothing else.

use super::manifest::{Part, Target};

/// Every symbol of ours that a linker or the link stage sees begins with it.
pub const PREFIX: &str = "__relocgpu_";
/// Section that holds an image's container: pointer-free, found by name in a stripped file.
pub const CONTAINER_SECTION: &str = ".relocgpu";
/// Section whose words point at the images of one executable or library; a C identifier, so that the linker defines
/// `__start_relocgpu_images` and `__stop_relocgpu_images`.
pub const INDEX_SECTION: &str = "relocgpu_images";
/// Symbols of the device library's float functions: this, then the C library's name (`sinf`).
pub const MATH_PREFIX: &str = "relocgpu_math_";
/// Section prefix by which block-shared memory is recognised in the device module.
pub const SHARED_SECTION: &str = ".relocgpu.shared";
/// The `cfg` that is set while a crate is compiled for the device.
pub const DEVICE_CFG: &str = "relocgpu_device";

/// Environment variables that carry the build script's word to the macros: `cargo::rustc-env`, but for [`DEVICE_PASS`](env::DEVICE_PASS).
pub mod env {
    /// A state of [`pass`](super::pass); absent when the package has no relocgpu build script.
    pub const PASS: &str = "RELOCGPU_PASS";
    /// Path of the [`Faults`](crate::contract::manifest::Faults) file, followed by `#` and a hash of its contents.
    pub const FAULTS: &str = "RELOCGPU_FAULTS";
    /// Set for everything that the device pass's cargo starts.
    pub const DEVICE_PASS: &str = "RELOCGPU_DEVICE_PASS";
}

/// What [`env::PASS`] says.
pub mod pass {
    /// Each unit has its image.
    pub const LINKED: &str = "linked";
    /// There was no device pass: documentation, an editor.
    pub const SKIPPED: &str = "skipped";
    /// [`env::FAULTS`](super::env::FAULTS) has the reasons.
    pub const REJECTED: &str = "rejected";
}

/// Functions that device code calls and lowering gives a body, and markers that the link stage reads.
pub mod intrinsic {
    /// `fn(entry: *const (), type_name: fn() -> &'static str, kernel: *const KernelDescriptor)`: marks a kernel instance.
    pub const KERNEL: &str = "__relocgpu_kernel";
    /// `fn() -> u32`, one for each of `x`, `y`, `z`: index of the thread in its block.
    pub const THREAD_IDX: [&str; 3] = ["__relocgpu_thread_idx_x", "__relocgpu_thread_idx_y", "__relocgpu_thread_idx_z"];
    /// `fn() -> u32`: index of the block in the grid.
    pub const BLOCK_IDX: [&str; 3] = ["__relocgpu_block_idx_x", "__relocgpu_block_idx_y", "__relocgpu_block_idx_z"];
    /// `fn() -> u32`: threads of a block.
    pub const BLOCK_DIM: [&str; 3] = ["__relocgpu_block_dim_x", "__relocgpu_block_dim_y", "__relocgpu_block_dim_z"];
    /// `fn() -> u32`: blocks of the grid.
    pub const GRID_DIM: [&str; 3] = ["__relocgpu_grid_dim_x", "__relocgpu_grid_dim_y", "__relocgpu_grid_dim_z"];
    /// `fn() -> u32`: waits for every thread of the block. Non-zero: the thread must call [`THREAD_END`] at once.
    pub const BLOCK_BARRIER: &str = "__relocgpu_block_barrier";
    /// `fn() -> !`: ends this thread and no other.
    pub const THREAD_END: &str = "__relocgpu_thread_end";
    /// `fn(*const ()) -> u64`: the word of a host item's address. Only this tells two of them apart: compilers would
    /// decide a comparison of two declarations, or of one with null, before the program knows the words.
    pub const IDENTITY: &str = "__relocgpu_identity";
    /// `fn() -> !`: stands for the body of a generic kernel whose words come with its launch; a call is a fault.
    pub const NEEDS_LAUNCH: &str = "__relocgpu_needs_launch";
    /// `fn() -> u64`, this and then the number of a record: its word, which the loader writes into the code.
    pub const BAKED_PREFIX: &str = "__relocgpu_baked_";
    /// `fn(*const PanicReport) -> !`: hands a panic to the host and ends the thread.
    pub const PANIC: &str = "__relocgpu_panic";
    /// `fn(kind: u32, a: u64, b: u64, c: u64, text: *const u8, len: u64, location: u64) -> !` of the device library:
    /// builds a report and calls [`PANIC`]. Every panic entry point of `core` becomes a call of it.
    pub const REPORT: &str = "__relocgpu_report";
    /// `fn(*const PanicReport, record: *mut PanicRecord, claim: *mut u32)` of the device library: the first caller
    /// whose `claim` word was 0 fills `record` and publishes it with a system-wide fence; the others return at once.
    pub const STORE_RECORD: &str = "__relocgpu_store_record";
}

/// Symbols of a PTX module that the loader looks up.
pub mod ptx {
    /// The slots, one 8-byte word each in the order of the manifest's slot records.
    pub const SLOTS: &str = "relocgpu_slots";
    /// One `u32` of global memory: 0, or 1 once a thread of this module has panicked. The host sets it back to 0.
    pub const PANIC_CLAIM: &str = "relocgpu_panic_claim";
    /// One `u64` of global memory: device address of this module's [`PanicRecord`](crate::contract::panic::PanicRecord).
    pub const PANIC_RECORD: &str = "relocgpu_panic_record";
}

/// Separates the fields of a reference declaration's name.
pub const FIELD_SEPARATOR: char = '\u{1f}';
/// Separates the fields of [`Reference::detail`].
pub const DETAIL_SEPARATOR: char = '\u{1e}';

/// The name of an external global in the device pass's bitcode that stands for one word of a host reference.
///
/// The declaration is the record: the macro writes it as `#[link_name = concat!("relocgpu\u{1f}…", …)]`, so no side
/// table can be lost on the way to the relocate stage. Fields, joined by U+001F in this order:
/// `relocgpu`, kind, link symbol, crate name, version, module path, hash of the tokens (16 hex digits),
/// `file:line:column`, detail, the user's tokens.
///
/// A declaration stands for a word that code loads, but for the kind [`ITEM`](Self::ITEM): there the declaration's
/// address is the word, so that constants may hold it. The relocate stage gives code a declaration of the kind
/// [`ADDRESS`](Self::ADDRESS) instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference<'a> {
    /// [`Part::name`](super::manifest::Part::name) of an expression's word, or [`ITEM`](Self::ITEM),
    /// [`ADDRESS`](Self::ADDRESS), [`LOAD`](Self::LOAD), [`BOUND`](Self::BOUND).
    pub kind: &'a str,
    /// Link symbol of the thunk, or of the constant that holds an item's address.
    pub symbol: &'a str,
    /// Name of the crate that wrote the reference.
    pub crate_name: &'a str,
    /// Version of that crate's package.
    pub version: &'a str,
    /// `module_path!()` at the reference.
    pub module_path: &'a str,
    /// Sixteen hex digits of a hash of the tokens.
    pub tokens_hash: &'a str,
    /// A [`Place`], its file as `file!()` gives it in the device pass.
    pub source: &'a str,
    /// Fields joined by U+001E: symbol, type, offset, library (empty: the loaded objects) of [`LOAD`](Self::LOAD); name
    /// and type of [`BOUND`](Self::BOUND); empty for the other kinds.
    pub detail: &'a str,
    /// What the user wrote inside `host!`.
    pub text: &'a str,
}

impl<'a> Reference<'a> {
    /// First field of every reference declaration.
    pub const TAG: &'static str = "relocgpu";
    /// Kind of a declaration whose address stands for that of a host item.
    pub const ITEM: &'static str = "item";
    /// Kind of the word that is the address of a host item.
    pub const ADDRESS: &'static str = "address";
    /// Kind of the word that is stored at a symbol.
    pub const LOAD: &'static str = "load";
    /// Kind of a value that the program binds by name.
    pub const BOUND: &'static str = "bound";

    /// Reads a declaration's name; `None` for any other global.
    pub fn parse(name: &'a str) -> Option<Self> {
        let mut fields = name.splitn(10, FIELD_SEPARATOR);
        if fields.next()? != Self::TAG {
            return None;
        }
        Some(Self {
            kind: fields.next()?,
            symbol: fields.next()?,
            crate_name: fields.next()?,
            version: fields.next()?,
            module_path: fields.next()?,
            tokens_hash: fields.next()?,
            source: fields.next()?,
            detail: fields.next()?,
            text: fields.next()?,
        })
    }

    /// What the reference stands for; an unknown kind or a damaged detail is an error's text.
    pub fn target(&self) -> Result<Target, String> {
        let fields: Vec<&str> = self.detail.split(DETAIL_SEPARATOR).collect();
        match (self.kind, &fields[..]) {
            (Self::ITEM | Self::ADDRESS, _) => Ok(Target::Address),
            (Self::LOAD, [symbol, ty, offset, library]) => Ok(Target::Load {
                symbol: (*symbol).to_owned(),
                ty: (*ty).to_owned(),
                offset: offset.parse().map_err(|_| format!("`{offset}` is no offset"))?,
                library: Some(*library).filter(|path| !path.is_empty()).map(str::to_owned),
            }),
            (Self::BOUND, [name, ty]) => Ok(Target::Bound { name: (*name).to_owned(), ty: (*ty).to_owned() }),
            (kind, _) => Part::parse(kind).map(Target::Expr).ok_or_else(|| format!("host reference of the unknown kind `{kind}`")),
        }
    }
}

impl std::fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Self { kind, symbol, crate_name, version, module_path, tokens_hash, source, detail, text } = self;
        f.write_str(Self::TAG)?;
        [kind, symbol, crate_name, version, module_path, tokens_hash, source, detail, text]
            .into_iter()
            .try_for_each(|field| write!(f, "{FIELD_SEPARATOR}{field}"))
    }
}

/// A place in the source, written `file:line:column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place<'a> {
    /// As `file!()` gives it.
    pub file: &'a str,
    /// From 1; 0 if it is not known.
    pub line: u32,
    /// From 1; 0 if it is not known.
    pub column: u32,
}

impl<'a> Place<'a> {
    /// Reads what [`Display`](std::fmt::Display) writes. The file may hold colons.
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut fields = text.rsplitn(3, ':');
        let (column, line) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Self { file: fields.next()?, line, column })
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The `<…>` that stands after a kernel's name for an instance of it, from the name of the instance's type; empty for
/// a kernel that is not generic.
pub fn instance_arguments(type_name: &str) -> &str {
    match (type_name.find('<'), type_name.rfind('>')) {
        (Some(open), Some(close)) if open < close => &type_name[open..=close],
        _ => "",
    }
}

/// Which compile of a package an image belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit<'a> {
    /// Package name (`CARGO_PKG_NAME`).
    pub package: &'a str,
    /// Package version (`CARGO_PKG_VERSION`).
    pub version: &'a str,
    /// `lib`, `bin` (bins and examples: those with `CARGO_BIN_NAME`) or `test` (integration tests and benches:
    /// those with `CARGO_TARGET_TMPDIR`).
    pub kind: &'a str,
    /// Crate name (`CARGO_CRATE_NAME`: the target's name with `-` as `_`).
    pub crate_name: &'a str,
    /// Whether the crate is compiled with `cfg(test)`.
    pub test: bool,
}

/// Symbol of a unit's [`RawImage`](crate::contract::image::RawImage), hidden. The linker shows its name where the build
/// script has not noticed a new target, so it says what to do then.
///
/// relocgpu-macros has its own copy of this function, since a proc-macro crate cannot depend on this one; a test
/// compares the two.
pub fn image_symbol(unit: &Unit) -> String {
    let text = format!("{}\u{1f}{}\u{1f}{}\u{1f}{}\u{1f}{}", unit.package, unit.version, unit.kind, unit.crate_name, unit.test);
    format!("__relocgpu_image_{:016x}_if_undefined_touch_build_rs", fnv1a(text.as_bytes()))
}

/// 64-bit FNV-1a: names and fingerprints, nothing that must withstand an adversary.
pub const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

/// Replaces each character outside `[A-Za-z0-9_]` by `_` and puts `_` before a leading digit.
pub fn sanitise(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 1);
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        out.push('_');
    }
    out.extend(name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
    out
}

/// Longer names are cut: what they are for is to be read. What stands behind them tells them apart.
const MAX_LENGTH: usize = 120;

/// The sanitised name, cut.
pub fn readable(name: &str) -> String {
    let mut name = sanitise(name);
    name.truncate(MAX_LENGTH);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        let place = Place { file: "C:/src/a.rs", line: 7, column: 12 };
        assert_eq!(place.to_string(), "C:/src/a.rs:7:12");
        assert_eq!(Place::parse(&place.to_string()), Some(place));
        for text in ["", "a.rs", "a.rs:7", "7:12", "a.rs:x:1"] {
            assert_eq!(Place::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_reference_is_read_as_it_is_written() {
        let name = "relocgpu\u{1f}load\u{1f}__s\u{1f}c\u{1f}1.0\u{1f}c::m\u{1f}0123\u{1f}a.rs:1:2\u{1f}environ\u{1e}u64\u{1e}8\u{1e}\u{1f}a\u{1f}b";
        let reference = Reference::parse(name).unwrap();
        assert_eq!(reference.to_string(), name);
        assert_eq!(reference.text, "a\u{1f}b");
        let target = Target::Load { symbol: "environ".into(), ty: "u64".into(), library: None, offset: 8 };
        assert_eq!(reference.target(), Ok(target));
        for (kind, detail) in [("load", "s\u{1e}u64\u{1e}-8\u{1e}"), ("load", "s"), ("bound", "n"), ("nothing", "")] {
            assert!(Reference { kind, detail, ..reference }.target().is_err(), "{kind} {detail}");
        }
        assert_eq!(Reference { kind: "item", ..reference }.target(), Ok(Target::Address));
    }

    #[test]
    fn an_instance_is_what_stands_between_the_outermost_brackets() {
        for (name, arguments) in
            [("a::k", ""), ("a::k<f32>", "<f32>"), ("a::k<b::P<u8>, 4>", "<b::P<u8>, 4>"), ("a::k<fn(u8) -> u8>", "<fn(u8) -> u8>")]
        {
            assert_eq!(instance_arguments(name), arguments);
        }
    }
}
