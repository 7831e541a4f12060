//! The driver's library: found and checked once, then called through a table of our own.
//!
//! The types are cudarc's. Its functions are not called: they panic when the library or a symbol is missing, look
//! for another file name first, and return results as a Rust `enum`, which must never hold the code of a newer driver.

use super::failure::{Failure, Outcome};
use crate::backend::Missing;
use crate::error::Error;
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUjit_option, CUmodule,
    CUpointer_attribute, CUstream,
};
use libloading::Library;
use std::error::Error as _;
use std::ffi::{OsStr, c_char, c_int, c_uint, c_void};
use std::sync::{Arc, OnceLock};

/// File names of the driver's library; the first that opens is taken.
const LIBRARIES: &[&str] = &["libcuda.so.1", "libcuda.so"];

/// The driver, ready for use.
pub(super) struct Driver {
    functions: Functions,
    /// CUDA version that it implements: 12040 is 12.4.
    pub version: c_int,
    /// Number of devices, not 0.
    pub devices: usize,
    _library: Library,
}

macro_rules! functions {
    ($($need:ident fn $name:ident($($argument:ident: $type:ty),*);)*) => {
        /// The driver's functions.
        // Some are for a program's own streams and memory only.
        #[cfg_attr(not(feature = "interop"), allow(dead_code))]
        #[allow(non_snake_case)]
        pub(super) struct Functions {
            $($name: functions!(@pointer $need unsafe extern "C" fn($($type),*) -> c_uint),)*
        }

        impl Functions {
            /// Looks all functions up; the missing ones that are needed, if there are any.
            fn find(library: &Library) -> Result<Self, Vec<&'static str>> {
                let mut missing = Vec::new();
                $(
                    // SAFETY: the driver's manual gives this signature for this name. The pointer is used no longer
                    // than `Driver` keeps the library open.
                    #[allow(non_snake_case)]
                    let $name = unsafe {
                        library.get::<unsafe extern "C" fn($($type),*) -> c_uint>(concat!(stringify!($name), "\0").as_bytes())
                    };
                    functions!(@note $need missing $name);
                )*
                if missing.is_empty() { Ok(Self { $($name: functions!(@take $need $name),)* }) } else { Err(missing) }
            }
        }

        #[cfg_attr(not(feature = "interop"), allow(dead_code))]
        #[allow(non_snake_case, clippy::too_many_arguments)]
        impl Functions {
            $(
                #[doc = concat!("`", stringify!($name), "` of the driver's manual.")]
                ///
                /// # Safety
                /// The arguments are as the manual asks for, and the context that it speaks of is current.
                pub(super) unsafe fn $name(&self, $($argument: $type),*) -> Outcome {
                    // SAFETY: the caller's promise.
                    let code = unsafe { functions!(@call $need self.$name, $($argument),*) };
                    Failure::of(stringify!($name), code)
                }
            )*
        }
    };
    (@pointer required $type:ty) => { $type };
    (@pointer optional $type:ty) => { Option<$type> };
    (@note required $missing:ident $name:ident) => { if $name.is_err() { $missing.push(stringify!($name)) } };
    (@note optional $missing:ident $name:ident) => {};
    (@take required $name:ident) => { *$name.expect("checked above") };
    (@take optional $name:ident) => { $name.ok().map(|function| *function) };
    (@call required $self:ident.$name:ident, $($argument:ident),*) => { ($self.$name)($($argument),*) };
    (@call optional $self:ident.$name:ident, $($argument:ident),*) => {
        match $self.$name { Some(function) => function($($argument),*), None => super::failure::NOT_FOUND }
    };
}

functions! {
    required fn cuInit(flags: c_uint);
    required fn cuDriverGetVersion(version: *mut c_int);
    required fn cuDeviceGetCount(count: *mut c_int);
    required fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    required fn cuDeviceGetName(name: *mut c_char, length: c_int, device: CUdevice);
    required fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice);
    required fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    required fn cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    required fn cuCtxPushCurrent_v2(context: CUcontext);
    required fn cuCtxPopCurrent_v2(context: *mut CUcontext);
    required fn cuCtxGetDevice(device: *mut CUdevice);
    required fn cuStreamCreate(stream: *mut CUstream, flags: c_uint);
    required fn cuStreamDestroy_v2(stream: CUstream);
    required fn cuStreamSynchronize(stream: CUstream);
    required fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
    required fn cuEventCreate(event: *mut CUevent, flags: c_uint);
    required fn cuEventDestroy_v2(event: CUevent);
    required fn cuEventRecord(event: CUevent, stream: CUstream);
    required fn cuEventSynchronize(event: CUevent);
    required fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent);
    required fn cuMemAlloc_v2(at: *mut CUdeviceptr, bytes: usize);
    required fn cuMemFree_v2(at: CUdeviceptr);
    required fn cuMemHostAlloc(at: *mut *mut c_void, bytes: usize, flags: c_uint);
    required fn cuMemFreeHost(at: *mut c_void);
    required fn cuMemHostRegister_v2(at: *mut c_void, bytes: usize, flags: c_uint);
    required fn cuMemHostGetDevicePointer_v2(at: *mut CUdeviceptr, host: *mut c_void, flags: c_uint);
    required fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    required fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
    required fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream);
    required fn cuMemsetD8Async(at: CUdeviceptr, value: u8, bytes: usize, stream: CUstream);
    required fn cuMemsetD32Async(at: CUdeviceptr, value: c_uint, words: usize, stream: CUstream);
    required fn cuModuleLoadDataEx(
        module: *mut CUmodule,
        image: *const c_void,
        options: c_uint,
        names: *mut CUjit_option,
        values: *mut *mut c_void
    );
    required fn cuModuleUnload(module: CUmodule);
    required fn cuModuleGetGlobal_v2(at: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char);
    required fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    required fn cuFuncGetAttribute(value: *mut c_int, attribute: CUfunction_attribute, function: CUfunction);
    required fn cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: CUstream,
        params: *mut *mut c_void,
        extra: *mut *mut c_void
    );
    // Since CUDA 11.2.
    optional fn cuMemAllocAsync(at: *mut CUdeviceptr, bytes: usize, stream: CUstream);
    optional fn cuMemFreeAsync(at: CUdeviceptr, stream: CUstream);
    // Only a program's own streams and memory need these.
    optional fn cuStreamGetCtx(stream: CUstream, context: *mut CUcontext);
    optional fn cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, at: CUdeviceptr);
}

impl Driver {
    /// The process's driver, opened the first time.
    pub fn get() -> Result<Arc<Self>, Missing> {
        static DRIVER: OnceLock<Result<Arc<Driver>, Missing>> = OnceLock::new();
        let driver = DRIVER.get_or_init(|| Self::open(LIBRARIES).map(Arc::new));
        if super::fork::forked() {
            return Err(Missing::Broken(broken("fork", 0, super::fork::REMEDY.to_owned())));
        }
        driver.clone()
    }

    /// Opens the first of these libraries that is there, and starts it.
    pub fn open(libraries: &[impl AsRef<OsStr>]) -> Result<Self, Missing> {
        let (library, name) = open_library(libraries)?;
        let functions = Functions::find(&library).map_err(|missing| {
            let text = format!(
                "`{name}` has no {}, so it is too old or not a CUDA driver; install NVIDIA's driver for CUDA 11.0 or later, \
                 or ask for the CPU with RELOCGPU_DEVICE=cpu",
                missing.join(", ")
            );
            Missing::Broken(broken(missing[0], super::failure::NOT_FOUND, text))
        })?;
        // SAFETY: 0 is the only value of the flags.
        match unsafe { functions.cuInit(0) } {
            Ok(()) => {}
            Err(failure) if failure.code == super::failure::NO_DEVICE => return Err(no_devices()),
            Err(failure) => return Err(Missing::Broken(failure.error("cuda"))),
        }
        let (mut version, mut devices) = (0, 0);
        // SAFETY: both write one number.
        unsafe { functions.cuDriverGetVersion(&mut version).and_then(|()| functions.cuDeviceGetCount(&mut devices)) }.map_err(
            |failure| if failure.code == super::failure::NO_DEVICE { no_devices() } else { Missing::Broken(failure.error("cuda")) },
        )?;
        let devices = usize::try_from(devices).unwrap_or(0);
        if devices == 0 {
            return Err(no_devices());
        }
        super::fork::watch();
        Ok(Self { functions, version, devices, _library: library })
    }

    /// `12.4`.
    pub fn version_text(&self) -> String {
        format!("{}.{}", self.version / 1000, self.version % 1000 / 10)
    }

    /// Whether memory can be allocated and freed in queue order, as far as the driver is concerned.
    pub fn has_pools(&self) -> bool {
        self.functions.cuMemAllocAsync.is_some() && self.functions.cuMemFreeAsync.is_some()
    }
}

impl std::ops::Deref for Driver {
    type Target = Functions;

    fn deref(&self) -> &Functions {
        &self.functions
    }
}

fn open_library(libraries: &[impl AsRef<OsStr>]) -> Result<(Library, String), Missing> {
    let mut first = None;
    for name in libraries {
        let name = name.as_ref();
        // SAFETY: the driver's library may be loaded at any time, on any thread; a file by that name is the driver's.
        match unsafe { Library::new(name) } {
            Ok(library) => return Ok((library, name.to_string_lossy().into_owned())),
            Err(error) => {
                // What the system's loader says; the error itself says only that it failed.
                let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                if is_damaged(&text, &name.to_string_lossy()) {
                    let text = format!("{text}; install NVIDIA's driver anew, or ask for the CPU with RELOCGPU_DEVICE=cpu");
                    return Err(Missing::Broken(broken("dlopen", 0, text)));
                }
                first.get_or_insert(text);
            }
        }
    }
    Err(Missing::Absent(format!("there is no CUDA driver ({})", first.unwrap_or_default())))
}

/// Whether the loader found the library and could not use it. Its texts may be translated: in doubt the library is absent.
fn is_damaged(text: &str, name: &str) -> bool {
    !text.contains(name) || ["ELF", "file too short", "undefined symbol", "Permission denied"].iter().any(|part| text.contains(part))
}

fn no_devices() -> Missing {
    let visible = std::env::var_os("CUDA_VISIBLE_DEVICES");
    let hidden = visible.map_or(String::new(), |value| format!("; CUDA_VISIBLE_DEVICES is `{}`", value.to_string_lossy()));
    Missing::Absent(format!("the CUDA driver finds no GPU{hidden}"))
}

fn broken(call: &'static str, code: c_uint, cause: String) -> Error {
    Error::Driver { device: "cuda".to_owned(), call, code: code as i32, cause }
}
