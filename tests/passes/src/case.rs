//! A case: its directives, and whether they hold.

use crate::{Compiler, sysroot_libraries};
use relocgpu_build::testing::{Frozen, Kernel, Made, freeze};
use std::path::{Path, PathBuf};

/// A case file.
#[derive(Clone, Debug)]
pub struct Case {
    path: PathBuf,
    /// Directive and argument of each line.
    directives: Vec<(String, String)>,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let directives = text.lines().filter_map(|line| line.strip_prefix("//@ ").or_else(|| line.strip_prefix(";@ "))).map(|line| {
            let (name, argument) = line.split_once(": ").unwrap_or((line, ""));
            (name.trim().to_owned(), argument.to_owned())
        });
        Ok(Self { path: path.into(), directives: directives.collect() })
    }

    /// The architecture whose PTX it gives; `None` if it is about faults, or has no kernel.
    pub fn arch(&self) -> Option<Result<u32, String>> {
        if self.directives.iter().any(|(name, _)| ["fault", "nothing", "refused"].contains(&name.as_str())) {
            return None;
        }
        Some(self.arguments("arch").next().map_or(Ok(75), |arch| arch.parse().map_err(|error| format!("arch: {error}"))))
    }

    /// Runs the case; the PTX that it gives.
    ///
    /// # Errors
    /// All directives that do not hold, with the text that they are about.
    pub fn run(&self) -> Result<String, String> {
        if self.arguments("refused").next().is_some() {
            return self.is_refused().map(|()| String::new());
        }
        let expected: Vec<&str> = self.arguments("fault").collect();
        match make(self)? {
            Made::Nothing => self.arguments("nothing").next().map(|_| String::new()).ok_or_else(|| "no kernel was found".into()),
            Made::Faults(faults) => {
                let text = faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>().join("\n");
                if std::env::var_os("PASSES_BLESS").is_some() && !expected.is_empty() {
                    return bless(self, &text).map(|()| String::new());
                }
                let agree = text.lines().eq(expected.iter().copied());
                if agree { Ok(String::new()) } else { Err(format!("faults:\n{text}\nexpected:\n{}", expected.join("\n"))) }
            }
            Made::Frozen(frozen) => match self.arch() {
                Some(arch) => check(self, &frozen, arch?),
                None => Err("no fault was found".into()),
            },
        }
    }

    /// Whether a stage refuses it, in the words of all its lines.
    fn is_refused(&self) -> Result<(), String> {
        let said = match make(self) {
            Ok(Made::Frozen(frozen)) => frozen.ptx(75).err().ok_or("it was not refused")?,
            Ok(_) => return Err("it has faults, or no kernel".into()),
            Err(said) => said,
        };
        let missing: Vec<_> = self.arguments("refused").filter(|text| !said.contains(text)).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("not said:\n{}\n--- said ---\n{said}", missing.join("\n"))) }
    }

    fn arguments<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.directives.iter().filter(move |(n, _)| n == name).map(|(_, argument)| argument.as_str())
    }
}

fn make(case: &Case) -> Result<Made, String> {
    let path = case.path.as_path();
    let cases = path.ancestors().find(|folder| folder.ends_with("cases")).ok_or("a case lies in `cases`")?;
    let compiler = Compiler::new(cases)?;
    let root = if path.extension().is_some_and(|e| e == "ll") { compiler.assemble(path)? } else { compiler.case(path)? };
    freeze(root, vec![compiler.prelude()], sysroot_libraries()?.1, false, case.arguments("delivery").next().unwrap_or("patch"))
}

/// Replaces the expected faults.
fn bless(case: &Case, text: &str) -> Result<(), String> {
    let old = std::fs::read_to_string(&case.path).map_err(|e| e.to_string())?;
    let faults: String = text.lines().map(|line| format!("//@ fault: {line}\n")).collect();
    let rest: String = old.split_inclusive('\n').filter(|line| !line.starts_with("//@ fault:")).collect();
    std::fs::write(&case.path, format!("{}\n\n{faults}", rest.trim_end())).map_err(|e| e.to_string())
}

/// The unit with the words that `interior` lines name; those of `interior-not` must be refused.
fn with_interiors(case: &Case, frozen: &Frozen) -> Result<Frozen, String> {
    let word = |argument: &str| {
        let (name, offset) = argument.split_once(' ').ok_or_else(|| format!("`{argument}` is no global and offset"))?;
        Ok::<_, String>((name.to_owned(), offset.parse().map_err(|e| format!("`{argument}`: {e}"))?))
    };
    for argument in case.arguments("interior-not") {
        if frozen.with_interiors(&[word(argument)?]).is_ok() {
            return Err(format!("interior-not: {argument}: it was not refused"));
        }
    }
    frozen.with_interiors(&case.arguments("interior").map(word).collect::<Result<Vec<_>, _>>()?)
}

/// A kernel and the site of each record that it reads, in manifest order.
fn reads(kernel: &Kernel, frozen: &Frozen) -> String {
    let site = |number: &u32| frozen.manifest().records.get(*number as usize).map_or("?", |record| record.name.as_str());
    kernel.reads.iter().map(site).fold(kernel.name.clone(), |line, site| line + " " + site) + "\n"
}

fn check(case: &Case, frozen: &Frozen, arch: u32) -> Result<String, String> {
    let frozen = &with_interiors(case, frozen)?;
    let ptx = frozen.ptx(arch)?;
    let source_map = frozen.source_map();
    let records = frozen.manifest().records.iter().zip(&source_map.records);
    let records: String = records.map(|(record, source)| format!("{} {} {}\n", record.name, source.symbol, source.source)).collect();
    let locations: String = source_map.locations.iter().map(|(file, line, column)| format!("{file}:{line}:{column}\n")).collect();
    let kernel = |kernel: &Kernel| {
        let flags =
            [(kernel.can_panic, " panics"), (kernel.cooperates, " cooperates")].map(|(on, name)| if on { name } else { "" }).concat();
        format!("{} {} {}{flags}\n", kernel.name, kernel.size, kernel.align)
    };
    let kernels: String = frozen.manifest().kernels.iter().map(kernel).collect();
    let reads: String = frozen.manifest().kernels.iter().map(|kernel| reads(kernel, frozen)).collect();

    let mut wrong = Vec::new();
    let mut shown = Vec::new();
    let mut claim = |holds: bool, directive: &str, argument: &str, name: &'static str, text: &str| {
        if !holds {
            wrong.push(format!("{directive}: {argument}"));
            shown.retain(|(n, _)| *n != name);
            shown.push((name, text.to_owned()));
        }
    };
    for (directive, argument) in &case.directives {
        let (name, text): (&'static str, &str) = match directive.as_str() {
            "unit" => ("unit", &frozen.ir),
            "record" => ("records", &records),
            "location" => ("locations", &locations),
            "kernel" => ("kernels", &kernels),
            "reads" => ("reads", &reads),
            "ptx" | "ptx-not" | "ptx-count" => ("ptx", &ptx),
            "arch" | "delivery" | "interior" | "interior-not" => continue,
            "same-unit-as" => {
                let other = make(&Case::read(&case.path.with_file_name(argument))?)?;
                let Made::Frozen(other) = other else { return Err(format!("{argument} gives no unit")) };
                let same = other.hash() == frozen.hash() && other.bitcode() == frozen.bitcode();
                claim(same && other.source_map() != source_map, directive, argument, "unit", &frozen.ir);
                continue;
            }
            other => return Err(format!("unknown directive `{other}`")),
        };
        let holds = match directive.as_str() {
            "ptx-not" => !text.contains(argument.as_str()),
            "ptx-count" => {
                let (count, what) = argument.split_once(' ').unwrap_or((argument, ""));
                count.parse() == Ok(text.matches(what).count())
            }
            // What is listed is compared line by line: a kernel that panics as well is another one.
            "record" | "location" | "kernel" | "reads" => text.lines().any(|line| line == argument),
            _ => text.contains(argument.as_str()),
        };
        claim(holds, directive, argument, name, text);
    }
    if wrong.is_empty() {
        return Ok(ptx);
    }
    let shown: String = shown.into_iter().map(|(name, text)| format!("\n--- {name} ---\n{text}")).collect();
    Err(format!("does not hold:\n{}{shown}", wrong.join("\n")))
}
