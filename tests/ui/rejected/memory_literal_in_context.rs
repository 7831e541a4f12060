//! The thunk stands alone: it would make memory of other types than the statics have.
use relocgpu_runtime::prelude::*;

static CURVE: DeviceTable<f32> = host!(table: vec![0.0, 1.0]);
static MASKS: DeviceTable<u32> = host!(table: [!0, (!0) / 2]);
static LIMITS: Mapped<[u32; 2]> = host!(mapped: [1, (!0) / 2]);
static START: DeviceStatic<(u32, f32)> = device!(static: ((!0) / 2, 1.0_f32));

fn main() {
    println!("{} {} {} {}", CURVE.len(), MASKS.len(), LIMITS[0], START.0);
}
