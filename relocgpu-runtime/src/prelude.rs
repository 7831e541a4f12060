//! What a program with kernels imports: `use relocgpu_runtime::prelude::*;`.

pub use crate::{
    Buffer, Device, DeviceData, DeviceTable, DisjointSlice, Grid, Linear, Plane, SharedArray, Volume, block, device, gpu_kernel, host,
    thread,
};
