//! `relocgpu`: shows and extracts the images in a finished file.

use relocgpu_build::inspect::{self, Input, InspectError};
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Shows the GPU images in a file that relocgpu-build helped to make.

Usage: relocgpu inspect FILE [--json] [--layout] [--extract DIR]

FILE is an executable, a library, an object or an archive (.a, .rlib), stripped or not.
It is read; nothing of it is run.

Options:
  --json          print the report as JSON instead of text
  --layout        print as well where the words of host references lie: each word of the block of slots, the words in
                  constants, and the words behind the parameters of kernels delivered by table; JSON has it in any case
  --extract DIR   make DIR with its parents, and write there
                    IMAGE.ARCH.ptx  the PTX of each image for each architecture, as in photo-photo.sm_75.ptx:
                                    IMAGE is the package's and the target's name, longer if several share it
                    IMAGE.OBJECT    the objects with an image's native code, if FILE is an object or an archive.
                                    In a linked FILE that code is part of the program's own: only PTX is written,
                                    and a note says so. The objects are then in the library that was linked,
                                    target/*/build/PACKAGE-*/out/relocgpu/*/librelocgpu_*.a: inspect that
  -h, --help      print this text
  -V, --version   print the version

Exit status: 0 if at least one image was found and all of them could be read,
1 if not, or if FILE could not be read or DIR not written; 2 for a wrong command line.
";

struct Arguments {
    file: PathBuf,
    json: bool,
    layout: bool,
    extract: Option<PathBuf>,
}

enum Command {
    Inspect(Arguments),
    Print(String),
}

fn main() -> ExitCode {
    let command = match parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("relocgpu: {error}\n\nUsage: relocgpu inspect FILE [--json] [--layout] [--extract DIR]; `relocgpu --help` says more");
            return ExitCode::from(2);
        }
    };
    let arguments = match command {
        Command::Inspect(arguments) => arguments,
        Command::Print(text) => {
            return print(&text).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
        }
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("relocgpu: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command, lexopt::Error> {
    use lexopt::prelude::*;
    let mut parser = lexopt::Parser::from_args(arguments);
    let (mut command, mut file, mut json, mut layout, mut extract) = (None, None, false, false, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Command::Print(HELP.to_owned())),
            Short('V') | Long("version") => return Ok(Command::Print(format!("relocgpu {}\n", env!("CARGO_PKG_VERSION")))),
            Long("json") => json = true,
            Long("layout") => layout = true,
            Long("extract") => extract = Some(PathBuf::from(parser.value()?)),
            Value(name) if command.is_none() => command = Some(name.string()?),
            Value(path) if file.is_none() => file = Some(PathBuf::from(path)),
            other => return Err(other.unexpected()),
        }
    }
    match command.as_deref() {
        Some("inspect") => {}
        Some("help") => return Ok(Command::Print(HELP.to_owned())),
        Some(other) => return Err(format!("there is no command `{other}`; the command is `inspect`").into()),
        None => return Err("a command is missing; the command is `inspect`".into()),
    }
    let file = file.ok_or("FILE is missing: the executable, library, object or archive to inspect")?;
    Ok(Command::Inspect(Arguments { file, json, layout, extract }))
}

/// Whether there was an image and all could be read.
fn run(arguments: &Arguments) -> Result<bool, InspectError> {
    let input = Input::open(&arguments.file)?;
    let contents = input.contents();
    print(&match (arguments.json, arguments.layout) {
        (true, _) => inspect::json(&contents),
        (false, true) => inspect::text(&contents) + &inspect::layout(&contents),
        (false, false) => inspect::text(&contents),
    })?;
    for fault in &contents.faults {
        eprintln!("relocgpu: {fault}");
    }
    if contents.images.is_empty() && contents.faults.is_empty() {
        eprintln!(
            "relocgpu: no image in `{}`; a package gets one if its build.rs calls `relocgpu_build::compile()` and it launches a kernel",
            arguments.file.display()
        );
    }
    if let Some(folder) = arguments.extract.as_deref().filter(|_| !contents.images.is_empty()) {
        extract(&contents, folder)?;
    }
    Ok(!contents.images.is_empty() && contents.faults.is_empty())
}

fn extract(contents: &inspect::Contents, folder: &Path) -> Result<(), InspectError> {
    // Standard output may be JSON that another program reads.
    let extracted = inspect::extract(contents, folder)?;
    for file in &extracted.files {
        eprintln!("wrote {}", file.display());
    }
    for image in &extracted.linked {
        eprintln!(
            "note: the native code of {image} is linked into the file and was not written; `relocgpu --help` says where its objects are"
        );
    }
    Ok(())
}

/// Prints to standard output, whose reader may have gone away (`| head`).
fn print(text: &str) -> Result<(), InspectError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(source) if source.kind() != ErrorKind::BrokenPipe => Err(InspectError::Print(source)),
        _ => Ok(()),
    }
}
