//! Values that are not one word, told once.
use relocgpu_runtime::prelude::*;

fn text() -> &'static str {
    "text"
}
fn function() -> fn(f32) -> f32 {
    |x| x
}
fn gain() -> f32 {
    2.0
}
static COUNT: u32 = 1;

fn reference() {
    let _ = host!(&COUNT);
}
fn string() {
    let _ = host!(text());
}
fn pointer() {
    let _ = host!(function());
}
fn item() {
    let _ = host!(gain);
}
fn wide() {
    let _ = host!(1_u128);
}
fn unknown() {
    let _: f32 = host!(missing());
}
fn helper(n: u32) -> u32 {
    host!(n)
}
fn local() -> u32 {
    let count = COUNT;
    host!(count + 1_u32)
}
fn generic<T>() -> usize {
    host!(size_of::<T>())
}

fn main() {
    reference();
    string();
    pointer();
    item();
    wide();
    unknown();
    helper(1);
    local();
    generic::<u32>();
}
