//! Functions of core: slices, iterators, strings, options.
// Each form of iteration is wanted as it is.
#![allow(clippy::manual_contains, clippy::double_ended_iterator_last)]

use check::{Check, Outcome, checks, equal, random};
use relocgpu_runtime::prelude::*;

pub fn checks() -> Vec<Check> {
    checks![sorting, searching, iterators, slices, text]
}

/// Sixteen words of a thread of its own, sorted; then their ranks.
fn sorted(words: &[u32]) -> [u32; 16] {
    let mut own = [0; 16];
    own.copy_from_slice(words);
    own.sort_unstable();
    own[..8].reverse();
    own
}

#[gpu_kernel]
fn sort(words: &[u32], mut out: DisjointSlice<[u32; 16]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = sorted(&words[16 * i.get()..16 * i.get() + 16]);
    }
}

fn sorting(device: &Device) -> Outcome {
    for threads in [1, 100, 513] {
        let words: Vec<u32> = random(5).map(|word| word as u32 % 1000).take(16 * threads).collect();
        let mut out = device.zeroed::<[u32; 16]>(threads)?;
        sort::launch(device, Grid::over(threads), &device.upload(&words)?, &mut out)?;
        equal("sort", &out.download()?, &words.chunks(16).map(sorted).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn find(sorted: &[i64], needle: i64) -> [i64; 3] {
    let place = sorted.binary_search(&needle).map_or_else(|at| -(at as i64) - 1, |at| at as i64);
    [place, sorted.partition_point(|&x| x < needle) as i64, sorted.iter().position(|&x| x == needle).map_or(-1, |at| at as i64)]
}

#[gpu_kernel]
fn search(haystack: &[i64], needles: &[i64], mut out: DisjointSlice<[i64; 3]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = find(haystack, needles[i.get()]);
    }
}

fn searching(device: &Device) -> Outcome {
    let needles: Vec<i64> = (-50..650).collect();
    for length in [0, 1, 2, 100, 333] {
        let haystack: Vec<i64> = (0..length).map(|i| i * 2 - 7).collect();
        let mut out = device.zeroed::<[i64; 3]>(needles.len())?;
        search::launch(device, Grid::over(needles.len()), &device.upload(&haystack)?, &device.upload(&needles)?, &mut out)?;
        equal("search", &out.download()?, &needles.iter().map(|&n| find(&haystack, n)).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn digest(window: &[u32]) -> [u32; 8] {
    [
        window.iter().copied().filter(|x| x.is_multiple_of(3)).map(|x| x.wrapping_mul(x)).fold(0, u32::wrapping_add),
        window.chunks(3).map(|c| c.iter().copied().max().unwrap_or(0)).fold(0, |a, b| a ^ b),
        window.windows(2).filter(|w| w[0] < w[1]).count() as u32,
        window.iter().zip(window.iter().rev()).map(|(a, b)| a ^ b).fold(1, |a, b| a.rotate_left(3) ^ b),
        window.iter().step_by(4).skip(1).take(2).copied().min().unwrap_or(u32::MAX),
        u32::from(window.iter().any(|&x| x == 17)) + 2 * u32::from(window.iter().all(|&x| x > 3)),
        window.chunks_exact(4).map(|c| if let &[a, b, c, d] = c { a ^ b & c | d } else { 0 }).last().unwrap_or(9),
        window.split_first().map_or(0, |(first, rest)| first.wrapping_add(rest.len() as u32)),
    ]
}

#[gpu_kernel]
fn iterate(words: &[u32], mut out: DisjointSlice<[u32; 8]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let end = words.len().min(i.get() + i.get() % 23);
        *out = digest(&words[i.get()..end]);
    }
}

fn iterators(device: &Device) -> Outcome {
    let words: Vec<u32> = random(11).map(|word| word as u32 % 40).take(900).collect();
    let mut out = device.zeroed::<[u32; 8]>(words.len())?;
    iterate::launch(device, Grid::over(words.len()), &device.upload(&words)?, &mut out)?;
    let expected: Vec<[u32; 8]> = (0..words.len()).map(|i| digest(&words[i..words.len().min(i + i % 23)])).collect();
    equal("iterate", &out.download()?, &expected)
}

fn rearranged(i: usize) -> [u8; 12] {
    let mut bytes: [u8; 12] = std::array::from_fn(|k| (k * 7 + i) as u8);
    bytes.rotate_left(i % 12);
    bytes[3..6].fill(i as u8);
    bytes.swap(0, i % 12);
    bytes.copy_within(8..11, 1);
    if bytes.starts_with(&[1, 2]) || bytes[2..5] == bytes[5..8] {
        bytes.reverse();
    }
    let (left, right) = bytes.split_at_mut(6);
    left[..2].swap_with_slice(&mut right[..2]);
    bytes
}

#[gpu_kernel]
fn rearrange(mut out: DisjointSlice<[u8; 12]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = rearranged(i.get());
    }
}

fn slices(device: &Device) -> Outcome {
    let mut out = device.zeroed::<[u8; 12]>(1111)?;
    rearrange::launch(device, Grid::over(1111), &mut out)?;
    equal("rearrange", &out.download()?, &(0..1111).map(rearranged).collect::<Vec<_>>())
}

/// The sum of the numbers in a line of text.
fn sum_of_numbers(line: &[u8]) -> u32 {
    let words = line.split(|b| b.is_ascii_whitespace());
    words.filter_map(|word| std::str::from_utf8(word).ok()?.parse::<u32>().ok()).fold(0, u32::wrapping_add)
}

#[gpu_kernel]
fn parse(lines: &[[u8; 16]], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = sum_of_numbers(&lines[i.get()]);
    }
}

fn text(device: &Device) -> Outcome {
    let texts = ["1 2 3", "4294967295 1", "17 x 5", "", "99999999999 7", "8 ü 1"];
    let lines: Vec<[u8; 16]> = (0..400)
        .map(|i| {
            let mut line = [b' '; 16];
            let text = texts[i % texts.len()].as_bytes();
            line[..text.len()].copy_from_slice(text);
            line
        })
        .collect();
    let mut out = device.zeroed::<u32>(lines.len())?;
    parse::launch(device, Grid::over(lines.len()), &device.upload(&lines)?, &mut out)?;
    equal("parse", &out.download()?, &lines.iter().map(|line| sum_of_numbers(line)).collect::<Vec<_>>())
}
