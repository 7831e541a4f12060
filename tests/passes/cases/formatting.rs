//@ ptx: core__fmt
//@ ptx-not: .extern
// Code that really formats, into a buffer of its own, keeps its formatting functions.
use prelude::*;
use std::fmt::Write;

struct Line {
    text: [u8; 64],
    used: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.used + text.len();
        self.text.get_mut(self.used..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.used = end;
        Ok(())
    }
}

kernel! { fn write(out: *mut u8, x: u32) {
    let mut line = Line { text: [0; 64], used: 0 };
    if write!(line, "{x:>8} of {}", index()).is_ok() {
        unsafe { std::ptr::copy_nonoverlapping(line.text.as_ptr(), out, line.used) }
    }
} }
