//! The standard library, whose archives carry bitcode beside native code.

use super::{STAGE, libcalls, link_in, link_prepared, panics};
use crate::error::Error;
use crate::llvm::{self, Value};
use crate::step;
use crate::symbols::is_ours;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The library that rustc and LLVM make calls of by themselves.
const BUILTINS: &str = "compiler_builtins";

/// Links `alloc`, `core` and what is needed of `compiler_builtins`.
pub(super) fn link(module: &Module, archives: &[PathBuf]) -> Result<(), Error> {
    let mut builtins = None;
    for path in archives {
        step::begin(format!("linking {}", path.display()));
        if path.file_name().is_some_and(|file| file.to_string_lossy().contains(BUILTINS)) {
            builtins = Some(path);
            continue;
        }
        for member in bitcode_members(path)? {
            link_prepared(module, &member, &path.to_string_lossy(), |library| panics::define_before(module, library))?;
        }
    }
    libcalls::call_builtins(module);
    if let Some(path) = builtins {
        link_builtins(module, path)?;
    }
    libcalls::keep_apart(module);
    Ok(())
}

/// Links members until nothing new is needed: one may need another.
///
/// What code outside wants is among the archive's symbols, and most kernels want nothing, which spares them reading the
/// members. What these want of each other only their bitcode tells: small helpers are shared between members there, and
/// no longer in their native code.
fn link_builtins(module: &Module, path: &Path) -> Result<(), Error> {
    let offered = symbols(path)?;
    if !wanted(module).iter().any(|name| offered.contains(name)) {
        return Ok(());
    }
    let members = bitcode_members(path)?;
    let mut defined: HashMap<String, usize> = HashMap::new();
    for (number, bitcode) in members.iter().enumerate() {
        let member = llvm::load_lazily(module, bitcode, BUILTINS).map_err(Error::llvm(STAGE, BUILTINS))?;
        defined.extend(llvm::external_definitions(&member).into_iter().map(|name| (name, number)));
    }
    let mut tried = HashSet::new();
    loop {
        let found = wanted(module).into_iter().filter(|name| tried.insert(name.clone())).find_map(|name| defined.get(&name).copied());
        // A link takes only what is referred to by then, so a member may be linked again.
        let Some(number) = found else { return Ok(()) };
        link_in(module, &members[number], BUILTINS)?;
    }
}

/// Functions that the module uses and that nothing has defined yet.
fn wanted(module: &Module) -> Vec<String> {
    let open = llvm::functions(module).into_iter().filter(|f| is_undefined(*f) && f.get_intrinsic_id() == 0);
    open.map(|f| Value::from(f).name()).filter(|name| !is_ours(name)).collect()
}

fn is_undefined(function: FunctionValue) -> bool {
    function.count_basic_blocks() == 0 && Value::from(function).is_used()
}

/// Bitcode of the members of an archive that carry it.
fn bitcode_members(path: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let damaged = damaged(path);
    let bytes = super::read(path)?;
    let archive = ArchiveFile::parse(&*bytes).map_err(&damaged)?;
    let mut members = Vec::new();
    for member in archive.members() {
        let data = member.map_err(&damaged)?.data(&*bytes).map_err(&damaged)?;
        // Metadata members are no objects.
        let Ok(object) = object::File::parse(data) else { continue };
        let Some(section) = object.section_by_name(".llvmbc") else { continue };
        members.push(section.data().map_err(&damaged)?.to_vec());
    }
    if members.is_empty() { Err(refused(path, "carries no bitcode")) } else { Ok(members) }
}

/// Names in an archive's symbol table.
fn symbols(path: &Path) -> Result<HashSet<String>, Error> {
    let damaged = damaged(path);
    let bytes = super::read(path)?;
    let table = ArchiveFile::parse(&*bytes).and_then(|archive| archive.symbols()).map_err(&damaged)?;
    let table = table.ok_or_else(|| refused(path, "has no symbol table"))?;
    let names = table.map(|symbol| symbol.map(|symbol| String::from_utf8_lossy(symbol.name()).into_owned()));
    names.collect::<Result<_, _>>().map_err(damaged)
}

fn refused(path: &Path, what: &str) -> Error {
    Error::Refused {
        stage: STAGE,
        what: format!("the standard library's archive `{}` {what}", path.display()),
        help: "install the toolchain with rustup, whose standard library is built as relocgpu needs it",
    }
}

fn damaged(path: &Path) -> impl Fn(object::Error) -> Error {
    move |e| refused(path, &format!("cannot be read: {e}"))
}
