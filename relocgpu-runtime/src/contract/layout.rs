//! Layout descriptors: constants that each compile makes from its own view of a type.
//!
//! The build reads them from the device pass's bitcode, the program has them as ordinary constants, and the loader
//! compares the two. All are `repr(C)`; a `&str` or slice is a (pointer, length) pair of words.

#[cfg(not(relocgpu_device))]
use serde::{Deserialize, Serialize};

/// One kernel, as `#[gpu_kernel]` describes it.
#[repr(C)]
#[derive(Debug)]
pub struct KernelDescriptor {
    /// `module::path::function`.
    pub name: &'static str,
    /// Source file, as `file!()` gives it.
    pub file: &'static str,
    /// The parameters in the order of declaration.
    pub params: &'static [ParamDescriptor],
    /// Bytes of the parameter block.
    pub size: usize,
    /// Alignment of the parameter block in bytes.
    pub align: usize,
    /// Line of the kernel's name, from 1.
    pub line: u32,
    /// Column of the kernel's name, from 1.
    pub column: u32,
    /// How it wants its host references delivered: 0 as its image does, 1 by patch, 2 by table, 3 by bake.
    pub delivery: u32,
}

impl KernelDescriptor {
    /// Place of the kernel's name.
    pub fn place(&self) -> super::names::Place<'static> {
        super::names::Place { file: self.file, line: self.line, column: self.column }
    }
}

/// One parameter of a kernel inside the parameter block.
#[repr(C)]
#[derive(Debug)]
pub struct ParamDescriptor {
    /// The parameter's name.
    pub name: &'static str,
    /// The type as the user wrote it.
    pub ty: &'static str,
    /// Byte offset in the parameter block.
    pub offset: usize,
    /// What lies there.
    pub layout: &'static TypeLayout,
}

/// Size, alignment and fields of a type that crosses to the device.
#[repr(C)]
#[derive(Debug)]
pub struct TypeLayout {
    /// The type's name, without its path.
    pub name: &'static str,
    /// Size in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// Fields, elements' types of arrays and slices, payloads of options; empty for primitives.
    pub fields: &'static [FieldLayout],
}

/// One field of a [`TypeLayout`].
#[repr(C)]
#[derive(Debug)]
pub struct FieldLayout {
    /// Field name, or its index in a tuple.
    pub name: &'static str,
    /// Byte offset in the type.
    pub offset: usize,
    /// The field's own layout.
    pub layout: &'static TypeLayout,
}

impl TypeLayout {
    /// Whether two types are one as far as a layout tells: name, size, alignment and all fields.
    pub const fn is(&self, other: &Self) -> bool {
        let mut equal =
            same(self.name, other.name) && self.size == other.size && self.align == other.align && self.fields.len() == other.fields.len();
        let mut i = 0;
        while equal && i < self.fields.len() {
            let (own, theirs) = (&self.fields[i], &other.fields[i]);
            equal = same(own.name, theirs.name) && own.offset == theirs.offset && own.layout.is(theirs.layout);
            i += 1;
        }
        equal
    }
}

/// Whether two texts are equal, in constants too.
pub const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// An owned [`TypeLayout`]: what the manifest stores.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(relocgpu_device), derive(Serialize, Deserialize))]
pub struct Layout {
    /// The type's name.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Name, byte offset and layout of each field.
    #[cfg_attr(not(relocgpu_device), serde(deserialize_with = "fields_within_depth"))]
    pub fields: Vec<(String, u64, Layout)>,
}

/// Types nest no deeper than this: rustc's own recursion limit. A file that says otherwise would overflow the stack.
pub const MAX_DEPTH: u32 = 128;

#[cfg(not(relocgpu_device))]
fn fields_within_depth<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<(String, u64, Layout)>, D::Error> {
    thread_local!(static DEPTH: std::cell::Cell<u32> = const { std::cell::Cell::new(0) });
    struct Level;
    impl Drop for Level {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    if DEPTH.get() == MAX_DEPTH {
        return Err(serde::de::Error::custom("types nested too deeply"));
    }
    DEPTH.set(DEPTH.get() + 1);
    let _level = Level;
    Deserialize::deserialize(from)
}

impl Layout {
    /// The first place where a program's own view differs from this one: the path of the field and what differs.
    pub fn difference(&self, own: &TypeLayout) -> Option<String> {
        if self.size != own.size as u64 {
            return Some(format!("`{}` has {} bytes on the device and {} in the program", own.name, self.size, own.size));
        }
        if self.align != own.align as u64 {
            return Some(format!("`{}` is aligned to {} bytes on the device and to {} in the program", own.name, self.align, own.align));
        }
        if self.fields.len() != own.fields.len() {
            return Some(format!("`{}` has {} fields on the device and {} in the program", own.name, self.fields.len(), own.fields.len()));
        }
        self.fields.iter().zip(own.fields).find_map(|((name, offset, layout), own_field)| {
            if name != own_field.name {
                return Some(format!("`{}` has a field `{name}` on the device where the program has `{}`", own.name, own_field.name));
            }
            if *offset != own_field.offset as u64 {
                return Some(format!(
                    "field `{name}` of `{}` lies at byte {offset} on the device and at {} in the program",
                    own.name, own_field.offset
                ));
            }
            layout.difference(own_field.layout)
        })
    }
}
