//! What a program with kernels imports: `use relocgpu_runtime::prelude::*;`.

pub use crate::{
    Buffer, Device, DeviceData, DeviceStatic, DeviceTable, DisjointSlice, FnToken, Grid, HostRef, Linear, Mapped, Plane, SharedArray,
    Volume, block, device, gpu_kernel, host, thread,
};
