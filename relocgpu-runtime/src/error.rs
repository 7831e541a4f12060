//! The one error type: where, what, remedy.

use std::fmt;

/// What the functions of this crate return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something did not work. Each message says where, what, and what to do about it.
///
/// `{:?}` prints the same text as `{}`: `fn main() -> relocgpu_runtime::Result<()>` shows it to the user.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A kernel panicked. Other threads' elements hold their old values or their right ones; the device still works.
    Panicked {
        /// `module::path::function`, with its type arguments.
        kernel: String,
        /// What the panic says.
        message: String,
        /// Source file; empty when the place is not known.
        file: String,
        /// Line from 1, or 0.
        line: u32,
        /// Column from 1, or 0.
        column: u32,
        /// Index of the thread in its block.
        thread: [u32; 3],
        /// Index of the block in the grid.
        block: [u32; 3],
    },
    /// Some threads of a block wait at a barrier that the others never reach.
    Divergence {
        /// `module::path::function`, with its type arguments.
        kernel: String,
        /// Index of the block in the grid.
        block: [u32; 3],
        /// Threads that wait.
        waiting: u64,
        /// Threads that have ended.
        ended: u64,
    },
    /// A device that was asked for by name cannot be had.
    NoDevice {
        /// `cpu` or `cuda:N`.
        device: String,
        /// Why not.
        reason: String,
    },
    /// `RELOCGPU_DEVICE` names no device.
    DeviceName {
        /// Its value.
        value: String,
    },
    /// The driver reported a fault after which nothing on the device works any more.
    DeviceLost {
        /// `cuda:N`.
        device: String,
        /// The driver's error.
        cause: String,
    },
    /// A call of the driver failed.
    Driver {
        /// `cuda:N`, or `cuda` where it is about none in particular.
        device: String,
        /// The function, as the driver's manual names it.
        call: &'static str,
        /// Its result.
        code: i32,
        /// Name and text of the result, and what to do.
        cause: String,
    },
    /// Not enough memory.
    OutOfMemory {
        /// The device.
        device: String,
        /// Bytes asked for.
        bytes: u64,
    },
    /// Host references could not be resolved: all that failed.
    Unresolved(
        /// In the order of the images and their manifests.
        Vec<Unresolved>,
    ),
    /// A name was bound to values of two types.
    Bind {
        /// The name.
        name: String,
        /// Type of the value that it has.
        bound: String,
        /// Type of the value that it was to get.
        now: String,
    },
    /// A new value cannot be delivered: code holds the old one.
    Baked {
        /// The device.
        device: String,
        /// The references, each with its place.
        references: Vec<String>,
    },
    /// The expression of a `device!(static: …)` failed.
    Static {
        /// What happened.
        cause: String,
    },
    /// An image cannot be read.
    BadImage {
        /// Which.
        image: String,
        /// Why, and what to do.
        reason: String,
    },
    /// Images cannot be read: all of them.
    BadImages(
        /// One for each.
        Vec<Error>,
    ),
    /// The kernel is in no image of this program.
    NoKernel {
        /// `module::path::function`, with its type arguments.
        kernel: String,
        /// Why, and what to do.
        reason: String,
    },
    /// The image has no code for the device.
    NoEntry {
        /// The image.
        image: String,
        /// The device.
        device: String,
        /// What it has, what the device needs, and what to do.
        reason: String,
    },
    /// The driver did not take an image's code.
    Load {
        /// The image.
        image: String,
        /// The device.
        device: String,
        /// The driver's log, and what to do.
        log: String,
    },
    /// Program and image disagree about a kernel's parameters.
    Layout {
        /// `module::path::function`, with its type arguments.
        kernel: String,
        /// The parameter; empty if it is about all of them.
        parameter: String,
        /// How they differ.
        difference: String,
    },
    /// A grid that the device cannot run.
    Grid {
        /// The grid.
        grid: String,
        /// What is wrong with it.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// Lengths that do not fit.
    Length {
        /// The operation.
        operation: &'static str,
        /// What does not fit what.
        what: String,
    },
    /// A buffer of another device.
    OtherDevice {
        /// The operation.
        operation: &'static str,
        /// The device that it lies on.
        lies_on: String,
        /// The device that needs it.
        needed_on: String,
    },
}

/// One host reference that could not be resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unresolved {
    /// Its name in the image.
    pub name: String,
    /// `file:line:column`.
    pub source: String,
    /// What stands inside `host!`.
    pub text: String,
    /// What happened.
    pub cause: String,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: `host!({})` ({}): {}", self.source, self.text, self.name, self.cause)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Panicked { kernel, message, file, line, column, thread, block } => {
                let ([tx, ty, tz], [bx, by, bz]) = (thread, block);
                write!(f, "kernel `{kernel}` panicked")?;
                if !file.is_empty() {
                    write!(f, " at {file}:{line}:{column}")?;
                }
                write!(f, ", block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}): {message}")
            }
            Self::Divergence { kernel, block: [x, y, z], waiting, ended } => write!(
                f,
                "kernel `{kernel}`, block ({x}, {y}, {z}): {waiting} threads wait at a barrier that the other {ended} never reach; \
                 all threads of a block must reach the same barriers"
            ),
            Self::NoDevice { device, reason } => {
                write!(f, "device `{device}` cannot be had: {reason}; `Device::best()` takes what there is")
            }
            Self::DeviceName { value } => write!(
                f,
                "environment variable {}: `{value}` names no device; use `cpu`, `cuda` or `cuda:N`, or unset it",
                crate::device_choice::VARIABLE
            ),
            Self::DeviceLost { device, cause } => {
                write!(f, "device `{device}` is lost: {cause}; nothing more can be done on it, restart the program")
            }
            Self::Driver { device, call, code, cause } => write!(f, "device `{device}`: {call} failed with {code}: {cause}"),
            Self::OutOfMemory { device, bytes } => {
                write!(f, "device `{device}`: not enough memory for {bytes} bytes; drop buffers or work in smaller parts")
            }
            Self::Unresolved(all) => {
                write!(f, "{} could not be resolved:", count(all.len(), "host reference"))?;
                all.iter().try_for_each(|one| write!(f, "\n  {one}"))
            }
            Self::Bind { name, bound, now } => {
                write!(f, "`bind(\"{name}\", …)`: it is bound to a value of type `{bound}`, and now to one of type `{now}`; use one type")
            }
            Self::Baked { device, references } => write!(
                f,
                "device `{device}`: the code of kernels that are delivered by bake holds the old value of {}; deliver them by patch or table",
                references.join(", ")
            ),
            Self::Static { cause } => write!(f, "the initial value of a `device!(static: …)`: {cause}"),
            Self::BadImage { image, reason } => write!(f, "image {image}: {reason}"),
            Self::BadImages(all) => {
                write!(f, "{} cannot be read:", count(all.len(), "image"))?;
                all.iter().try_for_each(|one| write!(f, "\n  {one}"))
            }
            Self::NoKernel { kernel, reason } => write!(f, "no device code for kernel `{kernel}`: {reason}"),
            Self::NoEntry { image, device, reason } => write!(f, "image {image} has no code for device `{device}`: {reason}"),
            Self::Load { image, device, log } => write!(f, "image {image} could not be loaded on device `{device}`: {log}"),
            Self::Layout { kernel, parameter, difference } => {
                write!(f, "kernel `{kernel}`")?;
                if !parameter.is_empty() {
                    write!(f, ", parameter `{parameter}`")?;
                }
                write!(
                    f,
                    ": {difference}; likely the device pass saw other features, another version or another `cfg` of the type's crate: \
                     build again, and compare the features of both in `cargo tree -e features`"
                )
            }
            Self::Grid { grid, what, remedy } => write!(f, "grid of {grid}: {what}; {remedy}"),
            Self::Length { operation, what } => write!(f, "{operation}: {what}"),
            Self::OtherDevice { operation, lies_on, needed_on } => write!(
                f,
                "{operation}: the buffer lies on device `{lies_on}` and is needed on `{needed_on}`; download it and upload it there"
            ),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crosses_threads_and_stays_small() {
        fn crosses<T: Send + Sync + 'static>() {}
        crosses::<Error>();
        assert!(size_of::<Error>() <= 128, "clippy::result_large_err: {}", size_of::<Error>());
    }

    #[test]
    fn a_panic_says_where_what_and_who() {
        let error = Error::Panicked {
            kernel: "k::blur<f32>".into(),
            message: "index out of bounds: the len is 4 but the index is 9".into(),
            file: "src/lib.rs".into(),
            line: 7,
            column: 3,
            thread: [1, 2, 0],
            block: [3, 0, 0],
        };
        assert_eq!(
            error.to_string(),
            "kernel `k::blur<f32>` panicked at src/lib.rs:7:3, block (3, 0, 0), thread (1, 2, 0): index out of bounds: the len is 4 but the index is 9"
        );
    }

    #[test]
    fn all_unresolved_references_are_listed() {
        let one = |name: &str| Unresolved {
            name: name.into(),
            source: "src/main.rs:3:9".into(),
            text: "gain()".into(),
            cause: "it panicked: no".into(),
        };
        let text = Error::Unresolved(vec![one("a"), one("b")]).to_string();
        assert_eq!(
            text,
            "2 host references could not be resolved:\n  src/main.rs:3:9: `host!(gain())` (a): it panicked: no\n  src/main.rs:3:9: `host!(gain())` (b): it panicked: no"
        );
    }
}
