//! Reads what the build script found, as `Faults::to_text` of relocgpu-runtime's contract writes it; a test compares
//! the two.

use crate::names::{FIELD, Place};

/// Ends each entry.
const ENTRY_END: char = '\u{1e}';

/// One entry of the report.
#[derive(Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A fault of one kernel.
    Kernel { name: &'a str, file: &'a str, line: u32, message: &'a str },
    /// A unit that the nested compile rejected.
    Unit { kind: &'a str, crate_name: &'a str, test: bool, text: &'a str },
}

/// All entries that can be read.
pub fn entries(report: &str) -> Vec<Entry<'_>> {
    let parse = |entry| -> Option<Entry<'_>> {
        let fields: Vec<&str> = str::splitn(entry, 5, FIELD).collect();
        match fields[..] {
            ["kernel", name, file, line, message] => Some(Entry::Kernel { name, file, line: line.parse().ok()?, message }),
            ["unit", kind, crate_name, test, text] => Some(Entry::Unit { kind, crate_name, test: test == "true", text }),
            _ => None,
        }
    };
    report.split_terminator(ENTRY_END).filter_map(parse).collect()
}

impl<'a> Entry<'a> {
    /// The message, if this is a fault of the kernel. The device pass may name the file by another prefix.
    pub fn of_kernel(&self, own: &str, place: &Place) -> Option<&'a str> {
        let Self::Kernel { name, file, line, message } = self else { return None };
        let path = name.split('<').next().unwrap_or(name);
        let last = path.rsplit("::").next().unwrap_or(path);
        let same_file = file.replace('\\', "/").ends_with(&place.file);
        (last == own && *line == place.line && same_file).then_some(message)
    }

    /// Whether the unit was rejected: in `cfg(test)` or not, and the nested compile's text.
    pub fn of_unit(&self, own_kind: &str, own_name: &str) -> Option<(bool, &'a str)> {
        let Self::Unit { kind, crate_name, test, text } = self else { return None };
        (*kind == own_kind && *crate_name == own_name).then_some((*test, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_finds_its_kernel() {
        let report =
            "kernel\u{1f}a::m::blur<f32>\u{1f}member/src/a.rs\u{1f}7\u{1f}no\nmalloc\u{1e}unit\u{1f}bin\u{1f}b\u{1f}true\u{1f}no\u{1e}";
        let entries = entries(report);
        assert_eq!(entries.len(), 2);
        let place = |line| Place { file: "src/a.rs".into(), line, column: 4 };
        assert_eq!(entries[0].of_kernel("blur", &place(7)), Some("no\nmalloc"));
        assert_eq!(entries[0].of_kernel("blur", &place(8)), None);
        assert_eq!(entries[0].of_kernel("lur", &place(7)), None);
        assert_eq!(entries[1].of_unit("bin", "b"), Some((true, "no")));
        assert_eq!(entries[1].of_unit("lib", "b"), None);
    }
}
