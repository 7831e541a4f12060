//! Which device a program's environment asks for.

use crate::backend::DeviceKind;
use crate::error::{Error, Result};

/// Environment variable that says which device [`Device::best`](crate::Device::best) returns.
pub(crate) const VARIABLE: &str = "RELOCGPU_DEVICE";

/// What the environment asks for, if anything.
pub(crate) fn from_environment() -> Result<Option<DeviceKind>> {
    // A privileged process takes no advice from whoever started it.
    if privileged() {
        return Ok(None);
    }
    match std::env::var_os(VARIABLE) {
        Some(value) => parse(&value.to_string_lossy()),
        None => Ok(None),
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

    #[test]
    fn tests_are_not_privileged() {
        assert!(!privileged());
    }
}
