//! Embed: a unit and its code become the object files of one image.
//!
//! ```text
//! @container = internal constant [… x i8] c"RELOCGPU…", section ".relocgpu"            read from files, and by the loader
//! @…_slots   = hidden global [2 x i64] zeroinitializer                                 written by the loader
//! @host      = internal constant [2 x ptr] [ptr @__relocgpu_host_…, …]                 one word for each record
//! @entries   = internal constant [… x { ptr, i64, i64 }] […]                           one for each level and kernel
//! @cpu       = internal constant { … } { ptr @…_slots, … }
//! @__relocgpu_image_… = hidden constant { … } { i32 schema, i32 0, ptr @container, … } what the macros refer to
//! @index     = internal constant ptr @__relocgpu_image_…, section "relocgpu_images"    how the loader finds it
//! ```
//!
//! Host items are declared hidden: the linker resolves them inside the program, keeps them, and exports none of them.
//! They are weak in an image that may be linked into other programs than its own (see the archive step).
//! Container and index are in `llvm.used`, which sets the flag that keeps their sections where others are collected.

use crate::deliver;
use crate::error::{Error, Stage};
use crate::job::Image;
use crate::llvm;
use crate::lower::Code;
use crate::lower::cpu::Native;
use crate::relocate::Unit;
use crate::step;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetMachine;
use inkwell::types::BasicType;
use inkwell::values::{BasicValue, BasicValueEnum, GlobalValue};
use inkwell::{AddressSpace, GlobalVisibility};
use relocgpu_runtime::contract::SCHEMA;
use relocgpu_runtime::contract::image::{CONTAINER_ALIGN, Container, PtxEntry, encode};
use relocgpu_runtime::contract::manifest::Manifest;
use relocgpu_runtime::contract::names::{CONTAINER_SECTION, INDEX_SECTION};
use std::path::{Path, PathBuf};

const STAGE: Stage = Stage::Embed;

/// Writes the image's object files into `out_dir`, the image's own first.
pub(crate) fn run(unit: Unit, code: Code, out_dir: &Path) -> Result<Image, Error> {
    step::begin("writing the image");
    let Code { ptx, native } = code;
    let ptx = ptx
        .into_iter()
        .map(|ptx| PtxEntry { arch: ptx.arch, isa: ptx.isa, baked: deliver::places(&ptx.text), text: ptx.text.into() })
        .collect();
    let container = Container {
        unit_hash: unit.hash,
        manifest: unit.manifest.clone(),
        source_map: unit.source_map.clone(),
        ptx,
        cpu_levels: native.levels.iter().map(|level| level.name.clone()).collect(),
    };
    let context = llvm::new_context();
    let machine = llvm::host_machine().map_err(Error::llvm(STAGE, "the host's target"))?;
    let image = Writer::new(&context, &machine);
    image.write(&unit, &encode(&container), &native);
    image.module.verify().map_err(|e| Error::broken(STAGE, format!("the image is not valid IR: {e}")))?;
    let object = llvm::object(&image.module, &machine).map_err(Error::llvm(STAGE, "the image's object file"))?;

    let mut objects = vec![write(out_dir, "image.o", &object)?];
    for level in &native.levels {
        objects.push(write(out_dir, &format!("{}.o", level.name), &level.object)?);
    }
    Ok(Image { objects, is_referred_to: has_only_own_kernels(&unit.manifest) })
}

fn write(out_dir: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
    let path = out_dir.join(name);
    std::fs::write(&path, bytes).map_err(Error::file("write", &path))?;
    Ok(path)
}

/// Whether the unit's own crate defines all of its kernels: none is an instance of another crate's.
fn has_only_own_kernels(manifest: &Manifest) -> bool {
    let own = format!("{}::", manifest.unit.crate_name);
    manifest.kernels.iter().all(|kernel| kernel.name.starts_with(&own))
}

/// The image's module, in the making.
struct Writer<'c> {
    context: &'c Context,
    module: Module<'c>,
}

impl<'c> Writer<'c> {
    fn new(context: &'c Context, machine: &TargetMachine) -> Self {
        let module = context.create_module("relocgpu image");
        module.set_triple(&machine.get_triple());
        module.set_data_layout(&machine.get_target_data().get_data_layout());
        Self { context, module }
    }

    fn write(&self, unit: &Unit, container: &[u8], native: &Native) {
        let bytes = self.constant("relocgpu_container", self.context.const_string(container, false));
        bytes.set_section(Some(CONTAINER_SECTION));
        bytes.set_alignment(CONTAINER_ALIGN as u32);

        let host: Vec<_> = unit.source_map.records.iter().map(|source| self.host_item(unit, &source.symbol)).collect();
        let fields = [
            self.context.i32_type().const_int(u64::from(SCHEMA), false).into(),
            self.context.i32_type().const_zero().into(),
            bytes.as_pointer_value().into(),
            self.word(container.len()),
            self.table("relocgpu_host_table", &host),
            self.word(host.len()),
            if native.levels.is_empty() { self.null() } else { self.cpu(unit, native) },
        ];
        let image = self.constant(&unit.manifest.unit.image_symbol(), self.context.const_struct(&fields, false));
        image.set_linkage(Linkage::External);
        image.set_visibility(GlobalVisibility::Hidden);

        let index = self.constant("relocgpu_index", image.as_pointer_value());
        index.set_section(Some(INDEX_SECTION));
        index.set_alignment(8);
        self.retain(&[bytes, index]);
    }

    /// The CPU table, see [`CpuTable`](relocgpu_runtime::contract::cpu::CpuTable).
    fn cpu(&self, unit: &Unit, native: &Native) -> BasicValueEnum<'c> {
        let slots_len = unit.manifest.slots().count();
        let slots = if slots_len == 0 {
            self.null()
        } else {
            let ty = self.context.i64_type().array_type(slots_len as u32);
            let slots = self.module.add_global(ty, None, &native.slots);
            slots.set_initializer(&ty.const_zero());
            slots.set_visibility(GlobalVisibility::Hidden);
            slots.set_alignment(8);
            slots.as_pointer_value().into()
        };
        let interiors: Vec<_> = native.levels.iter().flat_map(|level| &level.interiors).collect();
        let interiors_len = interiors.len() / native.levels.len().max(1);
        let interiors: Vec<_> = interiors.iter().map(|(symbol, offset)| self.inside(symbol, *offset)).collect();
        let entries: Vec<_> = native.levels.iter().flat_map(|level| &level.kernels).collect();
        let entries: Vec<_> = entries
            .iter()
            .map(|kernel| {
                let fields = [self.hidden(&kernel.symbol), self.word(kernel.frame_bytes as usize), self.word(kernel.shared_bytes as usize)];
                self.context.const_struct(&fields, false).into()
            })
            .collect();
        let fields = [
            slots,
            self.word(slots_len),
            self.table("relocgpu_interiors", &interiors),
            self.word(interiors_len),
            self.table("relocgpu_entries", &entries),
            self.word(native.levels.len()),
            self.word(unit.manifest.kernels.len()),
        ];
        self.constant("relocgpu_cpu", self.context.const_struct(&fields, false)).as_pointer_value().into()
    }

    fn word(&self, value: usize) -> BasicValueEnum<'c> {
        self.context.i64_type().const_int(value as u64, false).into()
    }

    fn null(&self) -> BasicValueEnum<'c> {
        self.context.ptr_type(AddressSpace::default()).const_null().into()
    }

    /// The address of an item of the program.
    fn host_item(&self, unit: &Unit, symbol: &str) -> BasicValueEnum<'c> {
        let item = self.declared(symbol);
        if !has_only_own_kernels(&unit.manifest) {
            item.set_linkage(Linkage::ExternalWeak);
        }
        item.as_pointer_value().into()
    }

    /// The address of a symbol that another object defines.
    fn hidden(&self, symbol: &str) -> BasicValueEnum<'c> {
        self.declared(symbol).as_pointer_value().into()
    }

    fn inside(&self, symbol: &str, offset: u64) -> BasicValueEnum<'c> {
        llvm::rewrite::address_in(self.declared(symbol), offset).into()
    }

    fn declared(&self, symbol: &str) -> GlobalValue<'c> {
        self.module.get_global(symbol).unwrap_or_else(|| {
            let declaration = self.module.add_global(self.context.i8_type(), None, symbol);
            declaration.set_visibility(GlobalVisibility::Hidden);
            declaration
        })
    }

    fn constant(&self, name: &str, value: impl BasicValue<'c>) -> GlobalValue<'c> {
        let value = value.as_basic_value_enum();
        let global = self.module.add_global(value.get_type(), None, name);
        global.set_initializer(&value);
        global.set_constant(true);
        global.set_linkage(Linkage::Internal);
        global
    }

    /// An array of constants of one type, and its address; null for an empty one.
    fn table(&self, name: &str, words: &[BasicValueEnum<'c>]) -> BasicValueEnum<'c> {
        let Some(first) = words.first() else { return self.null() };
        let array = match first.get_type() {
            inkwell::types::BasicTypeEnum::StructType(ty) => {
                ty.const_array(&words.iter().map(|word| word.into_struct_value()).collect::<Vec<_>>())
            }
            _ => self
                .context
                .ptr_type(AddressSpace::default())
                .const_array(&words.iter().map(|word| word.into_pointer_value()).collect::<Vec<_>>()),
        };
        self.constant(name, array).as_pointer_value().into()
    }

    /// Keeps globals and their sections, whatever refers to them.
    fn retain(&self, globals: &[GlobalValue<'c>]) {
        let ptr = self.context.ptr_type(AddressSpace::default());
        let all = ptr.const_array(&globals.iter().map(|g| g.as_pointer_value()).collect::<Vec<_>>());
        let used = self.module.add_global(all.get_type().as_basic_type_enum(), None, "llvm.used");
        used.set_initializer(&all);
        used.set_linkage(Linkage::Appending);
        used.set_section(Some("llvm.metadata"));
    }
}
