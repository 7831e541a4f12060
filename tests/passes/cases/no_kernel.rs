//@ nothing
// A crate without kernels.
pub fn host() -> String {
    format!("{:?}", std::time::Instant::now())
}
