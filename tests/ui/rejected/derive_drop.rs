//! A type that must be dropped: its copies on the device never are.
use relocgpu_runtime::prelude::*;

#[derive(DeviceData)]
struct Counted(u32);

impl Drop for Counted {
    fn drop(&mut self) {}
}

fn main() {}
