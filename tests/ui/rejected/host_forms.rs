//! What is no form of `host!` or `device!`.
use relocgpu_runtime::prelude::*;

fn main() {
    let _ = host!();
    let _ = host!(tabel: vec![1_u32]);
    let _ = host!(|| 1_u32);
    let _: f32 = host!(1.0);
    let _: u32 = host!(-(1 + 2));
    let _ = device!(shraed: [f32; 4]);
    let _ = device!();
    let _ = device!(shared: f32);
    let _ = host!(1_u32, 2_u32);
}
