//! PTX to a module, by the driver's compiler.

use super::failure::{Failure, NO_BINARY_FOR_GPU, OUT_OF_MEMORY, Outcome, UNSUPPORTED_PTX_VERSION};
use super::ptx;
use super::queue::Queue;
use crate::contract::image::PtxEntry;
use crate::error::{Error, Result};
use crate::image::Image;
use cudarc::driver::sys::{CUjit_option, CUmodule};
use std::ffi::{CString, c_void};
use std::ptr;

/// Bytes of each log. The driver cuts what is longer.
const LOG_BYTES: usize = 16 << 10;

/// Loads the image's best entry that the driver takes. Panics, slots and functions are not looked at yet.
pub(super) fn compile(queue: &Queue, image: &'static Image, words: &[u64]) -> Result<(CUmodule, &'static PtxEntry<'static>)> {
    let context = &queue.context;
    let entries = ptx::candidates(context, image);
    if entries.is_empty() {
        return Err(Error::NoEntry { image: image.name(), device: context.device(), reason: ptx::no_entry(context, image) });
    }
    let mut refused = Vec::new();
    for entry in entries {
        match attempt(queue, image, entry, words)? {
            Ok(module) => return Ok((module, entry)),
            Err((failure, log)) => {
                refused.push(refusal(queue, entry, failure, &log));
                // Another entry can help only against these.
                if ![NO_BINARY_FOR_GPU, UNSUPPORTED_PTX_VERSION].contains(&failure.code) {
                    break;
                }
            }
        }
    }
    Err(Error::Load { image: image.name(), device: context.device(), log: refused.join("\n") })
}

/// What the driver says to one entry, with its log if it refuses.
fn attempt(queue: &Queue, image: &Image, entry: &PtxEntry, words: &[u64]) -> Result<Result<CUmodule, (Failure, String)>> {
    let bad = |reason: String| Error::BadImage { image: image.name(), reason: format!("{reason}; build the program again") };
    let text = baked(entry, words).ok_or_else(|| bad(format!("words for sm_{} lie outside its PTX", entry.arch)))?;
    let text = CString::new(text).map_err(|_| bad(format!("its PTX for sm_{} holds a NUL", entry.arch)))?;
    let (mut info, mut error) = (vec![0u8; LOG_BYTES], vec![0u8; LOG_BYTES]);
    let size = || ptr::without_provenance_mut::<c_void>(LOG_BYTES);
    let mut names = [
        CUjit_option::CU_JIT_INFO_LOG_BUFFER,
        CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = [info.as_mut_ptr().cast(), size(), error.as_mut_ptr().cast(), size()];
    queue.run(|driver| {
        let mut module = ptr::null_mut();
        let outcome: Outcome = {
            // SAFETY: the text ends with a NUL; options and values are as many as said, and the logs as long.
            unsafe {
                driver.cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), names.len() as u32, names.as_mut_ptr(), values.as_mut_ptr())
            }
        };
        match outcome {
            Ok(()) => Ok(Ok(module)),
            Err(failure) if failure.is_sticky() || failure.code == OUT_OF_MEMORY => Err(failure),
            Err(failure) => Ok(Err((failure, [log(&error), log(&info)].join("\n").trim().to_owned()))),
        }
    })
}

/// The text with the words that code holds in their places; `None` if one has no place in it.
fn baked(entry: &PtxEntry, words: &[u64]) -> Option<Vec<u8>> {
    let mut text = entry.text.as_bytes().to_vec();
    for (record, offset) in &entry.baked {
        let (word, at) = (words.get(*record as usize)?, usize::try_from(*offset).ok()?);
        let place = text.get_mut(at..at.checked_add(16)?).filter(|place| place.iter().all(u8::is_ascii_hexdigit))?;
        place.copy_from_slice(format!("{word:016x}").as_bytes());
    }
    Some(text)
}

fn log(buffer: &[u8]) -> String {
    String::from_utf8_lossy(buffer.split(|&byte| byte == 0).next().unwrap_or_default()).trim().to_owned()
}

fn refusal(queue: &Queue, entry: &PtxEntry, failure: Failure, log: &str) -> String {
    let context = &queue.context;
    let text = match failure.code {
        UNSUPPORTED_PTX_VERSION => format!("{} failed with {}: it has {}", failure.call, failure.code, ptx::too_new(context, entry)),
        _ => format!(
            "its PTX {}.{} for sm_{} on {} (sm_{}), driver for CUDA {}: {}",
            entry.isa.0,
            entry.isa.1,
            entry.arch,
            context.device(),
            context.arch,
            context.driver.version_text(),
            failure.sentence()
        ),
    };
    if log.is_empty() { text } else { format!("{text}\nthe driver's log:\n{log}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_written_over_their_digits_and_nowhere_else() {
        let text = "mov.b64 %rd1, 0x5e1fc0de00000001;";
        let entry = |baked: &[(u32, u64)]| PtxEntry { arch: 75, isa: (6, 3), text: text.into(), baked: baked.to_vec() };
        assert_eq!(baked(&entry(&[(1, 16)]), &[0, 0xabc]).unwrap(), b"mov.b64 %rd1, 0x0000000000000abc;");
        for places in [[(2, 16)], [(1, 17)], [(1, u64::MAX)], [(1, 0)]] {
            assert_eq!(baked(&entry(&places), &[0, 1]), None, "{places:?}");
        }
    }
}
