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
    let mut builtins = Vec::new();
    for path in archives {
        step::begin(format!("linking {}", path.display()));
        let members = bitcode_members(path)?;
        if path.file_name().is_some_and(|file| file.to_string_lossy().contains(BUILTINS)) {
            builtins.extend(members);
            continue;
        }
        for member in members {
            link_prepared(module, &member, &path.to_string_lossy(), |library| panics::define_before(module, library))?;
        }
    }
    libcalls::call_builtins(module);
    link_builtins(module, &builtins)?;
    libcalls::keep_apart(module);
    Ok(())
}

/// Links members until nothing new is needed: one may need another.
///
/// Their own bitcode tells what they define: small helpers are shared between members there, and no longer in their
/// native symbols.
fn link_builtins(module: &Module, members: &[Vec<u8>]) -> Result<(), Error> {
    let mut defined: HashMap<String, usize> = HashMap::new();
    let mut tried = HashSet::new();
    loop {
        let wanted = llvm::functions(module).into_iter().filter(|f| is_undefined(*f) && f.get_intrinsic_id() == 0);
        let wanted: Vec<_> = wanted.map(|f| Value::from(f).name()).filter(|name| !is_ours(name)).collect();
        if !wanted.is_empty() && defined.is_empty() {
            for (number, bitcode) in members.iter().enumerate() {
                let member = llvm::load_lazily(module, bitcode, BUILTINS).map_err(Error::llvm(STAGE, BUILTINS))?;
                defined.extend(llvm::external_definitions(&member).into_iter().map(|name| (name, number)));
            }
        }
        let found = wanted.into_iter().filter(|name| tried.insert(name.clone())).find_map(|name| defined.get(&name).copied());
        // A link takes only what is referred to by then, so a member may be linked again.
        let Some(number) = found else { return Ok(()) };
        link_in(module, &members[number], BUILTINS)?;
    }
}

fn is_undefined(function: FunctionValue) -> bool {
    function.count_basic_blocks() == 0 && Value::from(function).is_used()
}

/// Bitcode of the members of an archive that carry it.
fn bitcode_members(path: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let refused = |what: String| Error::Refused {
        stage: STAGE,
        what: format!("the standard library's archive `{}` {what}", path.display()),
        help: "install the toolchain with rustup, whose standard library is built as relocgpu needs it",
    };
    let damaged = |e: object::Error| refused(format!("cannot be read: {e}"));
    let bytes = super::read(path)?;
    let archive = ArchiveFile::parse(&*bytes).map_err(damaged)?;
    let mut members = Vec::new();
    for member in archive.members() {
        let data = member.map_err(damaged)?.data(&*bytes).map_err(damaged)?;
        // Metadata members are no objects.
        let Ok(object) = object::File::parse(data) else { continue };
        let Some(section) = object.section_by_name(".llvmbc") else { continue };
        members.push(section.data().map_err(damaged)?.to_vec());
    }
    if members.is_empty() { Err(refused("carries no bitcode".into())) } else { Ok(members) }
}
