//! What is no form of `host!` or `device!`.
use relocgpu_runtime::prelude::*;

fn gain(x: f32) -> f32 {
    x * 2.0
}
static LIMIT: u32 = 1;

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
    let _ = host!(|a, b| 1_u32);
    let _ = host!(item: 3_u32);
    let _ = host!(item: &LIMIT);
    let _ = host!(fn: gain);
    let _ = host!(fn: gain as usize);
    let _ = host!(fn: (|x| x) as fn(f32) -> f32);
    let _ = host!(bound: limit as u32);
    let _ = host!(bound: "limit");
    let _ = host!(symbol: "limit");
    let _ = host!(symbol: "limit" as u32, size: 4);
    let _ = host!(symbol: "limit" as u32, offset: LIMIT);
    let _ = host!(symbol: "limit" as u32 8);
    let _ = host!(symbol: "limit" as u32, library: "liblimit.so");
    let _ = host!(bound: "limit" as u32, 4);
}
