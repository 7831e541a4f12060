//! The safety rules of the crate's documentation, each broken in safe code.
use relocgpu_runtime::prelude::*;
use relocgpu_runtime::thread::{index_1d, index_2d, index_3d};

// An index stays with its thread.
fn to_another_thread(_: impl Send) {}
fn seen_by_another_thread(_: &impl Sync) {}

fn indices() {
    to_another_thread(index_1d());
    to_another_thread(index_2d());
    to_another_thread(index_3d());
    seen_by_another_thread(&index_1d());
}

// One slice knows one map from threads to elements.
fn maps(mut line: DisjointSlice<f32>, mut plane: DisjointSlice<f32, Plane>, mut volume: DisjointSlice<f32, Volume>) {
    plane.get_mut(index_1d());
    line.get_mut(index_2d());
    volume.get_mut(index_2d());
}

// A thread has one reference to its element at a time.
fn references(mut line: DisjointSlice<f32>) {
    let (a, b) = (line.get_mut(index_1d()), line.get_mut(index_1d()));
    drop((a, b));
}

fn a_reference_beside_one_to_write(mut line: DisjointSlice<f32>) {
    let kept = line.get(index_1d());
    *line.get_mut(index_1d()).unwrap() = 1.0;
    drop(kept);
}

// Other threads' elements, and shared memory that is no atomic, are for `unsafe` code.
fn others(mut line: DisjointSlice<f32>, tile: SharedArray<f32, 64>) {
    line.get_any_mut(7);
    tile.set(0, 1.0);
    tile.get(0);
}

fn no_atomic(tile: SharedArray<f32, 64>) {
    tile.at(0);
}

// What is written is borrowed, and what is used lives.
fn buffers(mut buffer: Buffer<f32>) -> relocgpu_runtime::Result<()> {
    let part = buffer.slice_mut(1..)?;
    buffer.download()?;
    drop(part);
    let (low, high) = buffer.split_at_mut(1)?;
    buffer.write_from(&[])?;
    drop((low, high));
    let all = buffer.as_slice();
    drop(buffer);
    all.download()?;
    Ok(())
}

fn main() {}
