//! A panic record as the text that Rust prints.

use crate::contract::panic::{FIXED_MESSAGES, PanicKind, PanicRecord};
use crate::error::Error;
use crate::image::Image;

/// The error of a panic of kernel number `kernel`.
pub(crate) fn error(record: &PanicRecord, image: &Image, kernel: usize) -> Error {
    let kernel = image.container.manifest.kernels.get(kernel).map_or_else(|| "?".to_owned(), |k| k.name.clone());
    let place = record.location.checked_sub(1).and_then(|id| image.container.source_map.locations.get(usize::try_from(id).ok()?));
    let (file, line, column) = place.cloned().unwrap_or_default();
    Error::Panicked { kernel, message: message(record), file, line, column, thread: record.thread, block: record.block }
}

fn message(record: &PanicRecord) -> String {
    let [a, b, c] = record.args;
    let bytes = record.text.get(..record.text_len as usize).unwrap_or(&record.text);
    let text = String::from_utf8_lossy(bytes);
    // Kinds come from an image of the same schema, so an unknown one is damage, and damage must not panic here.
    match record.kind {
        k if k == PanicKind::Text as u32 => text.into_owned(),
        k if k == PanicKind::Bounds as u32 => format!("index out of bounds: the len is {b} but the index is {a}"),
        k if k == PanicKind::SliceRange as u32 => slice_range(a, b, c),
        k if k == PanicKind::Fixed as u32 => {
            let fixed = usize::try_from(a).ok().and_then(|a| FIXED_MESSAGES.get(a));
            fixed.map_or_else(|| format!("panic with message number {a}"), |m| (*m).to_owned())
        }
        k if k == PanicKind::CopyLength as u32 => {
            format!("copy_from_slice: source slice length ({b}) does not match destination slice length ({a})")
        }
        k if k == PanicKind::Template as u32 => template(bytes),
        k if k == PanicKind::ResultUnwrap as u32 => format!("{text}: (the error's value stays on the device)"),
        k if k == PanicKind::StrRange as u32 => {
            format!("range {a}..{b} is out of bounds of a str of {c} bytes, or cuts a character")
        }
        other => format!("panic of unknown kind {other}: {text}"),
    }
}

/// As `core::slice::index::slice_index_fail` words it.
fn slice_range(start: u64, end: u64, len: u64) -> String {
    if start > len {
        format!("range start index {start} out of range for slice of length {len}")
    } else if end > len {
        format!("range end index {end} out of range for slice of length {len}")
    } else {
        format!("slice index starts at {start} but ends at {end}")
    }
}

/// The literal pieces of a `fmt::Arguments` template, `{}` for each value that was not carried along.
///
/// Bytes: 0 ends; 1 to 127 and so many bytes of text; 0x80, a `u16` length and text; 0b11…: a placeholder, whose bits
/// 0 to 3 say that 4, 2, 2, 2 bytes of options follow.
fn template(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    let mut rest = bytes;
    while let Some((&first, tail)) = rest.split_first() {
        let (skip, literal) = match first {
            0 => break,
            1..=0x7f => (0, usize::from(first)),
            0x80 => match tail {
                [low, high, ..] => (2, usize::from(u16::from_le_bytes([*low, *high]))),
                _ => break,
            },
            _ => {
                out.extend(b"{}");
                let bytes_of = [4, 2, 2, 2];
                ((0..4).filter(|bit| first >> bit & 1 == 1).map(|bit| bytes_of[bit]).sum(), 0)
            }
        };
        let tail = tail.get(skip..).unwrap_or_default();
        // A text that was cut at its maximal length ends inside a piece.
        let (text, after) = tail.split_at(literal.min(tail.len()));
        out.extend(text);
        rest = after;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::panic::TEXT_BYTES;

    fn record(kind: PanicKind, args: [u64; 3], text: &[u8]) -> PanicRecord {
        let mut bytes = [0; TEXT_BYTES];
        bytes[..text.len()].copy_from_slice(text);
        let text_len = text.len() as u32;
        PanicRecord { state: 1, kind: kind as u32, location: 0, args, thread: [0; 3], block: [0; 3], text_len, reserved: 0, text: bytes }
    }

    /// What `core` says when the same thing happens on the host.
    fn host(panic: impl FnOnce() + std::panic::UnwindSafe) -> String {
        let payload = std::panic::catch_unwind(panic).unwrap_err();
        payload.downcast_ref::<String>().cloned().unwrap_or_else(|| (*payload.downcast_ref::<&str>().unwrap()).to_owned())
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "its message is compared")]
    fn messages_are_those_of_core() {
        let cases: [(PanicRecord, String); 6] = [
            (record(PanicKind::Bounds, [9, 4, 0], b""), host(|| _ = std::hint::black_box([0; 4].as_slice())[9])),
            (record(PanicKind::SliceRange, [5, 9, 4], b""), host(|| _ = &std::hint::black_box([0; 4].as_slice())[5..9])),
            (record(PanicKind::SliceRange, [1, 9, 4], b""), host(|| _ = &std::hint::black_box([0; 4].as_slice())[1..9])),
            (record(PanicKind::SliceRange, [3, 2, 4], b""), host(|| _ = &std::hint::black_box([0; 4].as_slice())[3..2])),
            (record(PanicKind::CopyLength, [2, 3, 0], b""), host(|| [0; 2].copy_from_slice(std::hint::black_box(&[0; 3])))),
            (record(PanicKind::Fixed, [10, 0, 0], b""), host(|| std::hint::black_box(None::<u8>).map(|_| ()).unwrap())),
        ];
        for (record, expected) in cases {
            assert_eq!(message(&record), expected);
        }
    }

    #[test]
    fn every_fixed_message_has_its_number() {
        for (number, text) in FIXED_MESSAGES.iter().enumerate() {
            assert_eq!(message(&record(PanicKind::Fixed, [number as u64, 0, 0], b"")), *text);
        }
        assert_eq!(message(&record(PanicKind::Fixed, [u64::MAX, 0, 0], b"")), format!("panic with message number {}", u64::MAX));
    }

    #[test]
    fn templates_keep_their_literals() {
        assert_eq!(template(b"\x02a \xc0\x02 b\xc3\x20\0\0\x28\x05\0\x01!\0junk"), "a {} b{}!");
        assert_eq!(template(b"\x80\x03\0abc\0"), "abc");
        assert_eq!(template(b"\x80\x03"), "");
        assert_eq!(template(b"\x09cut"), "cut");
    }

    #[test]
    fn a_damaged_record_is_no_panic() {
        let mut damaged = record(PanicKind::Text, [0; 3], b"x");
        (damaged.kind, damaged.text_len) = (99, u32::MAX);
        assert!(message(&damaged).starts_with("panic of unknown kind 99"));
    }
}
