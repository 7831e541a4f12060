//! The manifest: what an image holds, in the order that every later stage keeps.

use super::layout::Layout;
use super::names::{FIELD_SEPARATOR, Unit, image_symbol};
#[cfg(not(relocgpu_device))]
use serde::{Deserialize, Serialize};

/// The frozen description of a relocatable unit. Its bytes (postcard) and the device module's are what the unit hash covers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct Manifest {
    /// [`SCHEMA`](super::SCHEMA) of the build that wrote it.
    pub schema: u32,
    /// Package, version and target: `photo 0.1.0 bin photo`.
    pub unit: UnitName,
    /// Kernels sorted by name.
    pub kernels: Vec<Kernel>,
    /// One record a word, sorted by (name, offset). Slot records with a place in the block, in this order, number the slots.
    pub records: Vec<Record>,
}

impl Manifest {
    /// The block of slots: records with their numbers, in slot order.
    pub fn slots(&self) -> impl Iterator<Item = (usize, &Record)> {
        self.records.iter().enumerate().filter(|(_, record)| record.site == Site::Slot && record.in_block)
    }
}

/// An owned [`Unit`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct UnitName {
    /// Package name.
    pub package: String,
    /// Package version.
    pub version: String,
    /// `lib`, `bin` or `test`.
    pub kind: String,
    /// Crate name.
    pub crate_name: String,
    /// Whether compiled with `cfg(test)`.
    pub test: bool,
}

impl UnitName {
    /// Symbol of the unit's image, see [`image_symbol`].
    pub fn image_symbol(&self) -> String {
        let Self { package, version, kind, crate_name, test } = self;
        image_symbol(&Unit { package, version, kind, crate_name, test: *test })
    }
}

/// One kernel instance.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct Kernel {
    /// `module::path::function`, with `<…>` for an instance of a generic kernel.
    pub name: String,
    /// Symbol of the PTX entry.
    pub entry: String,
    /// Parameters in the order of declaration.
    pub params: Vec<Param>,
    /// Bytes of the parameter block.
    pub size: u64,
    /// Alignment of the parameter block.
    pub align: u64,
    /// Whether a thread can panic in it.
    pub can_panic: bool,
    /// Whether its threads wait for one another.
    pub cooperates: bool,
    /// Numbers of the manifest's records that it reads, rising: slots, and interior words of constants that it refers to.
    pub reads: Vec<u32>,
    /// Where the words of the slots that it reads live.
    pub delivery: Delivery,
}

impl Kernel {
    /// Size and alignment of what a launch passes: the parameters, and the words behind them or their address.
    pub fn block(&self) -> (u64, u64) {
        match &self.delivery {
            Delivery::Table(table) => {
                let words = if table.indirect { 1 } else { table.records.len() as u64 };
                (table.offset + 8 * words, self.align.max(8))
            }
            Delivery::Patch | Delivery::Bake => (self.size, self.align),
        }
    }
}

/// Where the words live that a kernel reads. Interior words are patched in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub enum Delivery {
    /// In the module: the block of slots, written when the module is loaded.
    Patch,
    /// In the launch.
    Table(LaunchTable),
    /// In the code of the GPU: digits written into the PTX before it is loaded. The CPU's code reads slots.
    Bake,
}

impl Delivery {
    /// As in `#[gpu_kernel(delivery = …)]`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Patch => "patch",
            Self::Table(_) => "table",
            Self::Bake => "bake",
        }
    }
}

/// The words that a launch carries behind its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct LaunchTable {
    /// Numbers of the manifest's records, rising: one word each, in this order.
    pub records: Vec<u32>,
    /// Where in the parameter block they begin, or where the address of their device copy lies. [`Kernel::size`] is
    /// that of the parameters alone.
    pub offset: u64,
    /// Whether the block holds the address of a device copy instead of the words.
    pub indirect: bool,
}

impl LaunchTable {
    /// Bytes of parameters that every driver passes.
    pub const PARAMETER_BYTES: u64 = 4096;

    /// The words of `records` behind `size` bytes of parameters.
    pub fn behind(size: u64, records: Vec<u32>) -> Self {
        let offset = size.saturating_add(7) & !7;
        let indirect = offset.saturating_add(8 * records.len() as u64) > Self::PARAMETER_BYTES;
        Self { records, offset, indirect }
    }
}

/// One parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type as written.
    pub ty: String,
    /// Byte offset in the parameter block.
    pub offset: u64,
    /// What lies there.
    pub layout: Layout,
}

/// Where a word goes and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct Record {
    /// Site name: of the slot, or of the global whose initialiser holds the word.
    pub name: String,
    /// A slot or an interior word.
    pub site: Site,
    /// Byte offset; 0 for a slot.
    pub offset: u64,
    /// What the word is.
    pub target: Target,
    /// Whether a slot has a place in the block of slots: some kernel reads it by [`Delivery::Patch`], or native code
    /// by [`Delivery::Bake`].
    pub in_block: bool,
}

/// The two kinds of site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub enum Site {
    /// A whole word-sized global that code loads.
    Slot,
    /// One word of a global's initialiser.
    Interior,
}

/// The four kinds of target. An image's host table holds, for each record in manifest order, the address of a constant
/// word that holds the item's address (`Address`), or of the thunk: a [`ValueThunk`](super::image::ValueThunk) for `Load`
/// and `Bound`, which knows the word's type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub enum Target {
    /// A word of the value of a host expression.
    Expr(Part),
    /// The address of a host item.
    Address,
    /// The word stored at a symbol plus an offset.
    Load {
        /// Symbol to look up.
        symbol: String,
        /// Type of the word, as written.
        ty: String,
        /// Absolute path of the library to look in; the loaded objects if none.
        library: Option<String>,
        /// Byte offset from the symbol.
        offset: u64,
    },
    /// A value that the program binds by this name.
    Bound {
        /// The name.
        name: String,
        /// The type that the value must have, as written.
        ty: String,
    },
}

/// Which word of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub enum Part {
    /// The value itself: the thunk is a [`ValueThunk`](super::image::ValueThunk).
    Value,
    /// The value on one device: the thunk is a [`DeviceValueThunk`](super::image::DeviceValueThunk).
    DeviceValue,
    /// Device address of a table's first element: the thunk is a [`TableThunk`](super::image::TableThunk).
    TablePtr,
    /// Number of elements of a table: the thunk is a [`TableThunk`](super::image::TableThunk).
    TableLen,
    /// Device-visible address of host memory: the thunk is a [`MappedThunk`](super::image::MappedThunk).
    Mapped,
    /// Device address of a static's memory: the thunk is a [`StaticThunk`](super::image::StaticThunk).
    Static,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Value, Self::DeviceValue, Self::TablePtr, Self::TableLen, Self::Mapped, Self::Static];

    /// What a [`Reference`](super::names::Reference) calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::DeviceValue => "device_value",
            Self::TablePtr => "table_ptr",
            Self::TableLen => "table_len",
            Self::Mapped => "mapped",
            Self::Static => "static",
        }
    }

    /// Reads a [`name`](Self::name).
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// Whether two words may come from one thunk.
    pub fn shares_thunk(self, other: Self) -> bool {
        let table = |part| matches!(part, Self::TablePtr | Self::TableLen);
        self == other || table(self) && table(other)
    }

    /// Whether the word is an address, which no code may hold.
    pub const fn is_address(self) -> bool {
        matches!(self, Self::TablePtr | Self::Mapped | Self::Static)
    }
}

/// Beside the unit and outside its hash: what moves when source lines move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct SourceMap {
    /// For each record of the manifest, in its order.
    pub records: Vec<RecordSource>,
    /// For each kernel of the manifest, in its order: a [`Place`](super::names::Place) as text.
    pub kernels: Vec<String>,
    /// Panic locations, by id: `file`, line, column.
    pub locations: Vec<(String, u32, u32)>,
}

/// Where a record comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct RecordSource {
    /// Link symbol that its word of the host table refers to; empty if none.
    pub symbol: String,
    /// A [`Place`](super::names::Place) as text.
    pub source: String,
    /// What the user wrote.
    pub text: String,
}

/// What `#[gpu_kernel]` reads when [`env::PASS`](super::names::env::PASS) is `rejected`. Whatever is not listed here has its image
/// and is expanded as under `linked`. Stored as the text of [`to_text`](Self::to_text).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct Faults {
    /// Faults that only the device pass sees, each shown at its kernel.
    pub kernels: Vec<KernelFault>,
    /// Units that the nested compile rejected. Their kernels carry the text into an error that rustc reports only after it has
    /// type-checked the crate without finding the fault itself.
    pub rejected: Vec<Rejection>,
}

impl Faults {
    /// Ends each entry of the text.
    pub const ENTRY_END: char = '\u{1e}';

    /// One entry for each fault, its fields joined by U+001F, ended by U+001E:
    /// `kernel`, kernel, file, line, message; or `unit`, kind, crate name, `true` or `false` for `cfg(test)`, text.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut entry = |fields: [&str; 5]| {
            text.push_str(&fields.join(&FIELD_SEPARATOR.to_string()));
            text.push(Self::ENTRY_END);
        };
        for fault in &self.kernels {
            entry(["kernel", &fault.kernel, &fault.file, &fault.line.to_string(), &fault.message]);
        }
        for rejection in &self.rejected {
            let unit = &rejection.unit;
            entry(["unit", &unit.kind, &unit.crate_name, if unit.test { "true" } else { "false" }, &rejection.text]);
        }
        text
    }
}

/// One unit that the nested compile rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct Rejection {
    /// The unit.
    pub unit: UnitName,
    /// The rendered errors of the nested compile and the command that shows them again.
    pub text: String,
}

/// One fault of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct KernelFault {
    /// `module::path::function`, as in the kernel's descriptor.
    pub kernel: String,
    /// Source file of the kernel as in its descriptor, and line of its name: how the macro finds its fault.
    pub file: String,
    /// Line of the kernel's name.
    pub line: u32,
    /// The whole message: construct, call chain, source line, remedy.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lie_behind_the_parameters_while_both_fit() {
        let behind = |size, words: u32| {
            let table = LaunchTable::behind(size, (0..words).collect());
            (table.offset, table.indirect)
        };
        assert_eq!([behind(0, 512), behind(0, 513)], [(0, false), (0, true)]);
        assert_eq!([behind(13, 510), behind(13, 511)], [(16, false), (16, true)]);
        assert_eq!([behind(4088, 1), behind(4088, 2), behind(4096, 1)], [(4088, false), (4088, true), (4096, true)]);
        assert!(behind(u64::MAX, 1).1);
    }

    #[test]
    fn faults_have_one_entry_each_with_five_fields() {
        let kernel = KernelFault { kernel: "a::k".into(), file: "src/a.rs".into(), line: 7, message: "two\nlines".into() };
        let unit = UnitName { package: "p".into(), version: "1.0.0".into(), kind: "bin".into(), crate_name: "b".into(), test: false };
        let faults = Faults { kernels: vec![kernel], rejected: vec![Rejection { unit, text: "no".into() }] };
        let text = "kernel\u{1f}a::k\u{1f}src/a.rs\u{1f}7\u{1f}two\nlines\u{1e}unit\u{1f}bin\u{1f}b\u{1f}false\u{1f}no\u{1e}";
        assert_eq!(faults.to_text(), text);
        assert_eq!(Faults::default().to_text(), "");
    }
}
