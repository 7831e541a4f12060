//! The driver's results: names, remedies, and which of them end a device.

use crate::error::Error;
use std::ffi::c_uint;

/// What a call of the driver returns.
pub(super) type Outcome<T = ()> = Result<T, Failure>;

/// A call of the driver that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// The function, as the driver's manual names it.
    pub call: &'static str,
    /// Its `CUresult`.
    pub code: c_uint,
}

#[cfg(any(feature = "interop", test))]
pub(super) const INVALID_VALUE: c_uint = 1;
pub(super) const OUT_OF_MEMORY: c_uint = 2;
pub(super) const ALREADY_REGISTERED: c_uint = 712;
pub(super) const NOT_INITIALIZED: c_uint = 3;
pub(super) const NO_DEVICE: c_uint = 100;
pub(super) const NO_BINARY_FOR_GPU: c_uint = 209;
pub(super) const INVALID_PTX: c_uint = 218;
pub(super) const UNSUPPORTED_PTX_VERSION: c_uint = 222;
pub(super) const NOT_FOUND: c_uint = 500;
pub(super) const LAUNCH_OUT_OF_RESOURCES: c_uint = 701;

/// The device after a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// It goes on working.
    Works,
    /// Its context takes no more work.
    Lost,
}
use After::{Lost, Works};

/// What to do about results that the user can change; texts for the others.
const KNOWN: &[(c_uint, After, &str, &str)] = &[
    (1, Works, "CUDA_ERROR_INVALID_VALUE", "a value out of range; this is a fault of relocgpu, please report it"),
    (
        OUT_OF_MEMORY,
        Works,
        "CUDA_ERROR_OUT_OF_MEMORY",
        "not enough memory; drop buffers, work in smaller parts, or end other programs that use the GPU",
    ),
    (
        NOT_INITIALIZED,
        Lost,
        "CUDA_ERROR_NOT_INITIALIZED",
        "the driver is not started in this process; open devices after a fork, not before",
    ),
    (4, Lost, "CUDA_ERROR_DEINITIALIZED", "the driver is shutting down; stop using devices before the program ends"),
    (
        34,
        Works,
        "CUDA_ERROR_STUB_LIBRARY",
        "the CUDA toolkit's stub was found instead of the driver; take its folder out of LD_LIBRARY_PATH",
    ),
    (
        46,
        Works,
        "CUDA_ERROR_DEVICE_UNAVAILABLE",
        "the GPU is in use by another program or in exclusive mode; end the other or choose another GPU",
    ),
    (NO_DEVICE, Works, "CUDA_ERROR_NO_DEVICE", "there is no GPU"),
    (
        101,
        Works,
        "CUDA_ERROR_INVALID_DEVICE",
        "the GPU cannot be used, for example because its compute mode forbids it; see `nvidia-smi -q -d COMPUTE`",
    ),
    (200, Works, "CUDA_ERROR_INVALID_IMAGE", "not device code; build the program again"),
    (201, Lost, "CUDA_ERROR_INVALID_CONTEXT", "the device's context is gone; some other code of this program has destroyed or reset it"),
    (
        NO_BINARY_FOR_GPU,
        Works,
        "CUDA_ERROR_NO_BINARY_FOR_GPU",
        "no code for this GPU; build with `Builder::arch` for an architecture not above the GPU's",
    ),
    (214, Lost, "CUDA_ERROR_ECC_UNCORRECTABLE", "a memory fault of the GPU; see `nvidia-smi -q -d ECC`"),
    (
        INVALID_PTX,
        Works,
        "CUDA_ERROR_INVALID_PTX",
        "PTX that the driver's compiler refuses; this is a fault of relocgpu, please report it with the PTX, which `relocgpu inspect --extract` writes",
    ),
    (220, Lost, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "a fault of the link between GPUs; see `nvidia-smi nvlink -e`"),
    (
        221,
        Works,
        "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
        "the driver's PTX compiler (libnvidia-ptxjitcompiler) is missing; install the whole driver, in a container with NVIDIA_DRIVER_CAPABILITIES=compute,utility",
    ),
    (
        UNSUPPORTED_PTX_VERSION,
        Works,
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        "PTX newer than the driver; install a newer driver, or ask for the CPU with RELOCGPU_DEVICE=cpu",
    ),
    (226, Lost, "CUDA_ERROR_CONTAINED", "a memory fault of the GPU ended this program's work; start it again"),
    (223, Works, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "the driver may not compile PTX; unset CUDA_DISABLE_PTX_JIT"),
    (NOT_FOUND, Works, "CUDA_ERROR_NOT_FOUND", "the name is not there"),
    (
        700,
        Lost,
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "a kernel used memory that is not its own; look at its `unsafe` code, compute-sanitizer finds the line",
    ),
    (
        LAUNCH_OUT_OF_RESOURCES,
        Works,
        "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        "the block needs more registers than there are; use a smaller block",
    ),
    (702, Lost, "CUDA_ERROR_LAUNCH_TIMEOUT", "a kernel ran longer than the system lets it on a GPU that drives a display; split the work"),
    (
        709,
        Lost,
        "CUDA_ERROR_CONTEXT_IS_DESTROYED",
        "the device's context is gone; some other code of this program has destroyed or reset it",
    ),
    (710, Lost, "CUDA_ERROR_ASSERT", "a kernel stopped at a device-side assertion"),
    (714, Lost, "CUDA_ERROR_HARDWARE_STACK_ERROR", "a kernel used more stack than it has; look for deep recursion"),
    (715, Lost, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "a kernel met an illegal instruction or a trap"),
    (716, Lost, "CUDA_ERROR_MISALIGNED_ADDRESS", "a kernel used a misaligned address; look at its `unsafe` code"),
    (717, Lost, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "a kernel used an address in a kind of memory that it does not belong to"),
    (718, Lost, "CUDA_ERROR_INVALID_PC", "a kernel jumped to where there is no code"),
    (
        719,
        Lost,
        "CUDA_ERROR_LAUNCH_FAILED",
        "a kernel failed, for example by a trap or a stack that was too small; compute-sanitizer finds the line",
    ),
    (721, Lost, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "a kernel ended without giving its tensor memory back; look at its inline assembly"),
    (801, Works, "CUDA_ERROR_NOT_SUPPORTED", "the driver or the GPU cannot do this"),
    (802, Works, "CUDA_ERROR_SYSTEM_NOT_READY", "the GPUs are not ready; start the nvidia-fabricmanager service"),
    (
        803,
        Works,
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "the driver's library and its kernel module have different versions; restart the machine, or install one version of both",
    ),
    (
        804,
        Works,
        "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        "the cuda-compat library does not work with this GPU; take its folder out of LD_LIBRARY_PATH",
    ),
    (
        810,
        Lost,
        "CUDA_ERROR_MPS_CLIENT_TERMINATED",
        "the MPS service ended this program's work after a fault of some program; start it again",
    ),
    (911, Lost, "CUDA_ERROR_EXTERNAL_DEVICE", "a device outside of CUDA that the GPU waited for reported a fault"),
    (999, Lost, "CUDA_ERROR_UNKNOWN", "the driver gives no reason; the system's log (`dmesg`) may"),
];

impl Failure {
    /// The result of `call` as an outcome.
    pub fn of(call: &'static str, code: c_uint) -> Outcome {
        if code == 0 { Ok(()) } else { Err(Self { call, code }) }
    }

    /// Whether the device is lost with it.
    pub fn is_sticky(self) -> bool {
        KNOWN.iter().any(|(code, after, ..)| (*code, *after) == (self.code, Lost))
    }

    /// `CUDA_ERROR_…: what, and what to do`.
    pub fn text(self) -> String {
        match KNOWN.iter().find(|(code, ..)| *code == self.code) {
            Some((_, _, name, text)) => format!("{name}: {text}"),
            None => "see CUresult in the manual of the CUDA driver API".to_owned(),
        }
    }

    /// The error on a device that is not lost with it.
    pub fn error(self, device: &str) -> Error {
        Error::Driver { device: device.to_owned(), call: self.call, code: self.code as i32, cause: self.text() }
    }

    /// `cuStreamSynchronize failed with 700, CUDA_ERROR_…`.
    pub fn sentence(self) -> String {
        format!("{} failed with {}, {}", self.call, self.code, self.text())
    }
}
