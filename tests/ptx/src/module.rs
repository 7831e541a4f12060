//! One PTX text.

use std::collections::BTreeMap;

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

    /// The text of a kernel: of its entry, which is named `<crate>__<modules>__<kernel>_<8 hex>`, and of the functions that
    /// it reaches. What reports a panic is left out.
    pub fn kernel(&self, kernel: &str) -> Option<String> {
        let functions = self.functions();
        let is_entry = |name: &str| name.rsplit_once('_').is_some_and(|(path, _hash)| path.rsplit("__").next() == Some(kernel));
        let entry = functions.iter().find(|(name, text)| text.contains(".entry ") && is_entry(name))?.0;
        let (mut reached, mut open) = (Vec::new(), vec![*entry]);
        while let Some(name) = open.pop() {
            if reached.contains(&name) || name.starts_with("core__panicking") || name.starts_with("__relocgpu") {
                continue;
            }
            reached.push(name);
            let calls = functions[name].lines().filter(|line| line.trim_start().starts_with("call"));
            let words = calls.flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$')));
            open.extend(words.filter_map(|word| functions.get_key_value(word)).map(|(name, _)| *name));
        }
        Some(reached.into_iter().map(|name| functions[name]).collect())
    }

    /// Name and text of each definition. One ends where a brace stands at the start of a line.
    fn functions(&self) -> BTreeMap<&str, &str> {
        let named = |text| {
            let heads = [".entry ", ".func "].into_iter().filter_map(|head| Some((str::rfind(text, head)?, head.len())));
            let (start, length) = heads.max()?;
            let mut signature = text[start + length..].trim_start();
            if signature.starts_with('(') {
                signature = signature.split_once(')')?.1.trim_start();
            }
            Some((signature.split(|c: char| c == '(' || c.is_whitespace()).next()?, &text[start..]))
        };
        self.text.split("\n}").filter_map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".extern .func vprintf\n.extern .shared .b8 s[]\n.extern .global .u32 lost;\n\
        .func  (.param .b32 r) a__helper(\n\t.param .b32 p\n)\n;\n\
        .visible .entry a__one_0123abcd(\n)\n{\n\tret;\n}\n\
        .visible .entry a__b__two_0123abcd()\n{\n\t{\n\tcall.uni (r), a__helper, (p);\n\t}\n}\n\
        .func  (.param .b32 r) a__helper(\n\t.param .b32 p\n)\n{\n\tbar.sync 0;\n}\n";

    #[test]
    fn finds_what_is_left_open() {
        assert_eq!(Module::new("m", 75, TEXT.to_owned()).unresolved(), [".extern .global .u32 lost;"]);
    }

    #[test]
    fn finds_kernels_and_what_they_call() {
        let module = Module::new("m", 75, TEXT.to_owned());
        let two = module.kernel("two").unwrap();
        assert!(two.contains("bar.sync") && !two.contains("ret;"), "{two}");
        assert!(!module.kernel("one").unwrap().contains("bar.sync"));
        assert!(module.kernel("three").is_none() && module.kernel("wo").is_none());
    }
}
