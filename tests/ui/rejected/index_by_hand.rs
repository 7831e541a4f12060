//! Only the device library makes an index.
use relocgpu_runtime::thread::{Index1, Index2, index_1d, index_2d};

fn main() {
    let _ = Index1 { i: 0, ..index_1d() };
    let _ = Index2 { x: 0, ..index_2d() };
}
