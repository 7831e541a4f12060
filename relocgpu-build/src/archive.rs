//! How images reach the linker.
//!
//! | unit | file | instruction |
//! |---|---|---|
//! | library, and its unit tests | `lib<name>.a` each | `rustc-link-lib=static`: it travels inside the rlib |
//! | program, test, example, bench | `lib<name>.a` each | `rustc-link-arg-<kind>` |
//!
//! The macros' code refers to the image's symbol, which pulls the member out of the archive, and only in the executable
//! that belongs to it. The launch of another package's generic kernel refers to that package's image, so an image with
//! such instances is linked whole, into every executable that cargo gives the instruction to: each test, each example,
//! unit tests beside the program itself. Where it does not belong, its host words may be missing; they are weak there,
//! and the runtime passes over an image without them.

use crate::device_pass::{BitcodeUnit, TargetKind};
use crate::env::Env;
use crate::error::Error;
use crate::job::Image;
use crate::symbols::is_ours;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Archives one unit's image and tells cargo to link it.
pub(crate) fn run(env: &Env, unit: &BitcodeUnit, image: &Image) -> Result<(), Error> {
    let dir = env.unit_dir(unit);
    let name = unit.archive();
    let path = dir.join(format!("lib{name}.a"));
    if !is_newer(&path, &image.objects) {
        // Under its final name only when it is complete; the archiver would keep members of what an earlier run has left.
        let partial = dir.join("partial");
        let _ = fs::remove_dir_all(&partial);
        fs::create_dir_all(&partial).map_err(Error::file("make the folder", &partial))?;
        let mut archive = cc::Build::new();
        archive.cargo_metadata(false).out_dir(&partial).objects(&image.objects);
        archive.try_compile(&name).map_err(|source| Error::Archive { unit: unit.label(), source })?;
        let made = partial.join(format!("lib{name}.a"));
        fs::rename(&made, &path).map_err(Error::file("rename to", &path))?;
    }

    let is_whole = !image.is_referred_to;
    let kind = match unit.kind {
        TargetKind::Lib => {
            println!("cargo::rustc-link-search=native={}", dir.display());
            println!("cargo::rustc-link-lib=static{}={name}", if is_whole { ":+whole-archive" } else { "" });
            return Ok(());
        }
        TargetKind::Bin => format!("bin={}", unit.target_name),
        TargetKind::Example => "examples".to_owned(),
        TargetKind::Test => "tests".to_owned(),
        TargetKind::Bench => "benches".to_owned(),
    };
    let argument = |value: &str| println!("cargo::rustc-link-arg-{kind}={value}");
    // The archive comes last on the command line, where an older linker no longer looks into the libraries before it.
    for symbol in undefined(&image.objects)? {
        argument(&format!("-Wl,--undefined={symbol}"));
    }
    if is_whole {
        image.objects.iter().for_each(|object| argument(&object.display().to_string()));
    } else {
        argument(&path.display().to_string());
    }
    Ok(())
}

/// Whether a file is there and was written after all of these.
fn is_newer(path: &Path, than: &[impl AsRef<Path>]) -> bool {
    let written = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
    written(path).is_some_and(|made| than.iter().all(|object| written(object.as_ref()).is_some_and(|object| object < made)))
}

/// Symbols that the image expects of the program: the host table's.
fn undefined(objects: &[impl AsRef<Path>]) -> Result<BTreeSet<String>, Error> {
    let (mut wanted, mut defined) = (BTreeSet::new(), BTreeSet::new());
    for path in objects {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(Error::file("read", path))?;
        let file = object::File::parse(&*bytes).map_err(|source| Error::Object { path: path.to_owned(), source })?;
        for symbol in file.symbols().filter(|s| s.is_global() && !s.is_weak()) {
            let Ok(name) = symbol.name() else { continue };
            let set = if symbol.is_undefined() { &mut wanted } else { &mut defined };
            set.insert(name.to_owned());
        }
    }
    wanted.retain(|name| is_ours(name) && !defined.contains(name));
    Ok(wanted)
}
