//! One PTX text.

/// The PTX of one image for one architecture.
#[derive(Clone, Debug)]
pub struct Module {
    /// Name of the image.
    pub image: String,
    /// Architecture: 75 for `sm_75`.
    pub arch: u32,
    /// The text.
    pub text: String,
}

impl Module {
    /// A module of this text.
    pub fn new(image: &str, arch: u32, text: String) -> Self {
        Self { image: image.to_owned(), arch, text }
    }

    /// Declarations that nothing in the module defines, but those that the driver has: shared memory sized at launch, and
    /// `vprintf`.
    pub fn unresolved(&self) -> Vec<&str> {
        let declarations = self.text.lines().map(str::trim).filter(|line| line.starts_with(".extern"));
        declarations.filter(|line| !line.contains(".shared") && !line.contains("vprintf")).collect()
    }

    /// The body of the entry whose name ends in `kernel`, up to its closing brace.
    pub fn entry(&self, kernel: &str) -> Option<&str> {
        let names = self.text.match_indices(".entry ").map(|(at, marker)| at + marker.len());
        names.map(|at| &self.text[at..]).find_map(|rest| {
            let name = rest.split(['(', '\n', ' ']).next()?;
            name.ends_with(kernel).then(|| rest.split("\n}").next().unwrap_or(rest))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_entries_and_what_is_left_open() {
        let text = ".extern .func vprintf\n.extern .shared .b8 s[]\n.extern .global .u32 lost;\n\
                    .visible .entry a_one(\n)\n{\n\tret;\n}\n.visible .entry a_two()\n{\n\tbar.sync 0;\n}\n";
        let module = Module::new("m", 75, text.to_owned());
        assert_eq!(module.unresolved(), [".extern .global .u32 lost;"]);
        assert!(module.entry("_two").is_some_and(|body| body.contains("bar.sync") && !body.contains("ret;")));
        assert!(module.entry("_three").is_none());
    }
}
