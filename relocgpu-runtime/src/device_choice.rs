//! Which device a program's environment asks for.

use crate::backend::DeviceKind;
use crate::error::{Error, Result};
use std::ffi::OsString;

/// Environment variable that says which device [`Device::best`](crate::Device::best) returns.
pub(crate) const VARIABLE: &str = "RELOCGPU_DEVICE";

/// What the environment asks for, if anything.
pub(crate) fn from_environment() -> Result<Option<DeviceKind>> {
    choice(privileged(), std::env::var_os(VARIABLE))
}

/// What a value asks for. A privileged process takes no advice from whoever started it.
fn choice(privileged: bool, value: Option<OsString>) -> Result<Option<DeviceKind>> {
    match value {
        Some(value) if !privileged => parse(&value.to_string_lossy()),
        _ => Ok(None),
    }
}

/// `cpu`, `cuda` (the first) or `cuda:N`; nothing asks for nothing.
fn parse(value: &str) -> Result<Option<DeviceKind>> {
    let ordinal = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
    match value.trim() {
        "" => Ok(None),
        "cpu" => Ok(Some(DeviceKind::Cpu)),
        "cuda" => Ok(Some(DeviceKind::Cuda(0))),
        name => match name.strip_prefix("cuda:").and_then(ordinal) {
            Some(ordinal) => Ok(Some(DeviceKind::Cuda(ordinal))),
            None => Err(Error::DeviceName { value: value.to_owned() }),
        },
    }
}

/// Whether the process has rights that its starter lacks.
#[cfg(target_os = "linux")]
fn privileged() -> bool {
    // SAFETY: no precondition.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

#[cfg(not(target_os = "linux"))]
fn privileged() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices() {
        assert_eq!(parse("cpu"), Ok(Some(DeviceKind::Cpu)));
        assert_eq!(parse("cuda"), Ok(Some(DeviceKind::Cuda(0))));
        assert_eq!(parse(" cuda:12\n"), Ok(Some(DeviceKind::Cuda(12))));
        assert_eq!(parse(""), Ok(None));
        for bad in ["gpu", "CPU", "cuda:", "cuda:-1", "cuda:+1", "cuda:x", "cuda:99999999999999999999999", "cpu:0"] {
            assert_eq!(parse(bad), Err(Error::DeviceName { value: bad.to_owned() }), "{bad}");
        }
    }

    /// That the system's word is asked for is held by `tests/device_choice.rs`, with a program that is privileged.
    #[test]
    fn a_privileged_process_is_not_asked() {
        assert!(!privileged());
        for value in ["cpu", "cuda:0", "nonsense"].map(OsString::from) {
            assert_eq!(choice(true, Some(value.clone())), Ok(None));
            assert_eq!(choice(false, Some(value.clone())), parse(value.to_str().unwrap()));
        }
        assert_eq!((choice(true, None), choice(false, None)), (Ok(None), Ok(None)));
    }
}
