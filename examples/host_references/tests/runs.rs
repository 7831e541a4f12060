//! Two processes print the same but for addresses and times.

use std::process::Command;

fn run() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_host_references")).env("RELOCGPU_DEVICE", "cpu").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// The lines of the references, each with its word.
fn references(text: &str) -> Vec<(&str, u64)> {
    let words = text.lines().filter_map(|line| line.rsplit_once(" 0x"));
    words.map(|(name, word)| (name.trim(), u64::from_str_radix(word, 16).unwrap())).collect()
}

#[test]
fn words_are_what_the_host_says() {
    let text = run();
    let references = references(&text);
    assert!(references.len() >= 5, "{text}");
    let word = |of: &str| references.iter().find(|(name, _)| name.contains(of)).unwrap_or_else(|| panic!("no {of} in {text}")).1;
    assert_eq!(word("`gain()`"), u64::from(2.0f32.to_bits()));
    assert_eq!(word("`limit()`"), 1_000_000_007);
    assert_eq!(word("`separator()`"), u64::from('λ'));
    assert_eq!(word("length of"), 8);
    assert!(["&raw const HITS", "on_the_host as *const ()", "elements of"].into_iter().all(|of| word(of) > 0xffff), "{text}");
}

#[test]
fn two_runs_differ_in_addresses_and_times_only() {
    let fixed = |text: &str| {
        let line = |line: &str| match line.rsplit_once(" 0x") {
            Some((name, _)) => name.to_owned(),
            None if line.starts_with("time ") => "time".to_owned(),
            None => line.to_owned(),
        };
        text.lines().map(line).collect::<Vec<_>>()
    };
    let (first, second) = (run(), run());
    assert_eq!(fixed(&first), fixed(&second));
    let hash = |text: &str| text.lines().find_map(|line| Some(line.strip_prefix("ptx of ")?.rsplit_once(": ")?.1.to_owned()));
    let hash = hash(&first).expect("the PTX hash");
    assert!(hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{hash}");
    // Loaded at another address each time, where the system does that.
    assert_eq!(references(&first).len(), references(&second).len());
}
