//! Indices of threads and blocks in launches of one to three dimensions.

use check::{Check, Outcome, checks, equal, that};
use relocgpu_runtime::{Error, host, prelude::*};

pub fn checks() -> Vec<Check> {
    checks![places, as_on_the_host, empty_grids, impossible_grids, more_threads_than_elements, default_blocks]
}

/// What a thread says of itself.
type Place = [[u32; 3]; 4];

fn dim([x, y, z]: [u32; 3], at: u32) -> [u32; 3] {
    [at % x, at / x % y, at / x / y % z]
}

#[gpu_kernel]
fn report(mut out: DisjointSlice<Place>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let all = [thread::thread_idx(), thread::block_idx(), thread::block_dim(), thread::grid_dim()];
        *out = all.map(|dim| [dim.x, dim.y, dim.z]);
    }
}

fn places(device: &Device) -> Outcome {
    for (blocks, threads) in
        [([1, 1, 1], [1, 1, 1]), ([5, 1, 1], [32, 1, 1]), ([3, 4, 1], [8, 2, 1]), ([2, 3, 4], [5, 3, 2]), ([1, 1, 7], [1, 1, 64])]
    {
        let grid = Grid::new(blocks, threads);
        let (per_block, all) = (threads.iter().product::<u32>(), blocks.iter().product::<u32>() * threads.iter().product::<u32>());
        let mut out = device.zeroed::<Place>(all as usize)?;
        report::launch(device, grid, &mut out)?;
        let expected: Vec<Place> = (0..all).map(|i| [dim(threads, i % per_block), dim(blocks, i / per_block), threads, blocks]).collect();
        equal("report", &out.download()?, &expected)?;
    }
    Ok(())
}

/// The kernel itself, thread by thread on the host.
fn as_on_the_host(device: &Device) -> Outcome {
    for grid in [Grid::new(1, 1), Grid::new(3, 33), Grid::new((2, 3), (4, 5)), Grid::new((2, 1, 3), (3, 2, 4))] {
        let mut expected = [Place::default(); 130];
        host::run(grid, || report(DisjointSlice::from(&mut expected[..])));
        let mut out = device.zeroed::<Place>(expected.len())?;
        report::launch(device, grid, &mut out)?;
        equal("report", &out.download()?, &expected)?;
    }
    Ok(())
}

/// An empty grid is no launch: not even a panic happens.
#[gpu_kernel]
fn always_panics(out: DisjointSlice<u32>) {
    panic!("launched over nothing, with {}", out.len());
}

fn empty_grids(device: &Device) -> Outcome {
    let mut out = device.upload(&[3u32; 4])?;
    for grid in [Grid::over(0), Grid::over_2d((0, 5)), Grid::over_3d((4, 5, 0)), Grid::new((3, 0), 32)] {
        always_panics::launch(device, grid, &mut out)?;
    }
    device.synchronize()?;
    let mut nothing = device.zeroed::<Place>(0)?;
    report::launch(device, Grid::over(nothing.len()), &mut nothing)?;
    that(nothing.download()?.is_empty(), "a buffer without elements")?;
    equal("untouched", &out.download()?, &[3; 4])
}

fn impossible_grids(device: &Device) -> Outcome {
    let mut out = device.zeroed::<Place>(1)?;
    for grid in [Grid::new(1, 0), Grid::new(1, 1 << 20), Grid::new((1, 1 << 30), 1), Grid::new(1, (1, 1, 1000))] {
        let result = report::launch(device, grid, &mut out);
        that(matches!(result, Err(Error::Grid { .. })), format!("{grid}: {result:?}"))?;
    }
    equal("untouched", &out.download()?, &[Place::default()])
}

fn more_threads_than_elements(device: &Device) -> Outcome {
    let mut out = device.zeroed::<Place>(33)?;
    report::launch(device, Grid::new(4, 32), &mut out)?;
    let expected: Vec<Place> = (0..33).map(|i| [[i % 32, 0, 0], [i / 32, 0, 0], [32, 1, 1], [4, 1, 1]]).collect();
    equal("report", &out.download()?, &expected)
}

/// Every point of the extent has a thread, whatever the block.
#[gpu_kernel]
fn mark(mut out: DisjointSlice<u32, Volume>) {
    let i = thread::index_3d();
    if let Some(out) = out.get_mut(i) {
        *out += 1 + i.x() as u32 + 1000 * i.y() as u32 + 1_000_000 * i.z() as u32;
    }
}

fn default_blocks(device: &Device) -> Outcome {
    for (x, y, z) in [(1, 1, 1), (100, 1, 1), (33, 9, 1), (65, 5, 3), (2, 3, 50)] {
        let mut out = device.zeroed::<u32>(x * y * z)?;
        mark::launch(device, Grid::over_3d((x, y, z)), out.volume_mut((x, y, z))?)?;
        let expected: Vec<u32> = (0..x * y * z).map(|i| (1 + i % x + 1000 * (i / x % y) + 1_000_000 * (i / x / y)) as u32).collect();
        equal("mark", &out.download()?, &expected)?;
    }
    Ok(())
}
