//! Tables whose elements are not the static's, or no elements at all.
use relocgpu_runtime::prelude::*;

static OTHER: DeviceTable<f32> = host!(table: vec![1_u32]);
static NOT_A_SOURCE: DeviceTable<u32> = host!(table: 3_u32);

fn main() {
    println!("{} {}", OTHER.len(), NOT_A_SOURCE.len());
}
