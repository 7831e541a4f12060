//! Two processes print the same but for addresses and times.

use std::process::Command;

fn run() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_host_references")).env("RELOCGPU_DEVICE", "cpu").env_remove("GAIN").output().unwrap();
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
    assert_eq!(word("`'λ'`"), u64::from('λ'));
    assert_eq!(word("length of"), 8);
    assert_eq!(word("`u32` bound to `picture.width`"), 640);
    assert_eq!(word("`i32` at `optind`"), 1);
    assert_eq!((word("`level()`"), word("`step()`")), (10, 3));
    assert!(word("threads_per_block") >= 256, "{text}");
    let addresses = ["&raw const HITS", "on_the_host as *const ()", "elements of", "memory of", "item: BRICK", "fn: square"];
    assert!(addresses.into_iter().all(|of| word(of) > 0xffff), "{text}");
    let brick: Vec<_> = references.iter().filter(|(name, _)| name.contains("item: BRICK")).collect();
    assert!(brick.iter().all(|(name, word)| name.contains("WALLS") && *word == brick[0].1), "{text}");
}

#[test]
fn every_kind_has_its_result() {
    let text = run();
    let results: Vec<_> = text.lines().skip_while(|line| *line != "results:").skip(1).take_while(|line| line.starts_with(' ')).collect();
    let expected = [
        "  values: [7.0, 9.0, 11.0, 13.0]",
        "  pointers: [2, 1, -1, 3, 1]",
        "  for each device: [1, 1, 2, 3]",
        "  table: [0.0, 0.5, 0.6666667, 0.75, 0.8, 0.8333334, 0.8571429, 0.875, 8.0, 4.5]",
        "  mapped: [40, 41, 42, 43]",
        "  device static: [9, 8, 2, 0]",
        "  items: [3, 105, 0]",
        "  functions: [2, 4, 9, 16]",
        "  symbol: [1, 1]",
        "  bound: [0, 0, 1, 10]",
        "  deliveries: [10, 11, 10, 11, 10, 11, 10, 11, 20, 21, 20, 21, 0, 3]",
    ];
    assert_eq!(results, expected);
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
