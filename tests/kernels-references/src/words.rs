//! `host!` with every type of value.

use check::{Check, Outcome, checks, equal};
use relocgpu_runtime::prelude::*;
use std::sync::atomic::AtomicU64;

pub fn checks() -> Vec<Check> {
    checks![integers, floats_and_others, addresses, in_functions, branches, in_two_kernels]
}

static ANCHOR: AtomicU64 = AtomicU64::new(3);
static TEXT: &str = "a host item";

fn on_the_host() -> u64 {
    9
}

/// Differs from process to process, so that no build can know it.
fn secret() -> u64 {
    u64::from(std::process::id()) * 0x1_0000_0001 + 1
}

/// All integers as their bits, sign-extended.
#[gpu_kernel]
fn read_integers(mut out: DisjointSlice<[u64; 10]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = [
            u64::from(host!(secret() as u8)),
            host!(secret() as i8) as u64,
            u64::from(host!(secret() as u16)),
            host!(!secret() as i16) as u64,
            u64::from(host!(secret() as u32)),
            host!(!secret() as i32) as u64,
            host!(secret()),
            host!(!secret() as i64) as u64,
            host!(secret() as usize) as u64,
            host!(i64::MIN) as u64,
        ];
    }
}

fn integers(device: &Device) -> Outcome {
    for n in [1, 300] {
        let mut out = device.zeroed::<[u64; 10]>(n)?;
        read_integers::launch(device, Grid::over(n), &mut out)?;
        let s = secret();
        let expected = [
            u64::from(s as u8),
            s as i8 as u64,
            u64::from(s as u16),
            !s as i16 as u64,
            u64::from(s as u32),
            !s as i32 as u64,
            s,
            !s,
            s as usize as u64,
            i64::MIN as u64,
        ];
        equal("integers", &out.download()?, &vec![expected; n])?;
    }
    Ok(())
}

#[gpu_kernel]
fn read_others(mut out: DisjointSlice<(f32, f64, bool, bool, char)>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = (host!(secret() as f32), host!(-(secret() as f64)), host!(secret() != 0), host!(secret() == 0), host!('🦀'));
    }
}

fn floats_and_others(device: &Device) -> Outcome {
    let mut out = device.zeroed::<(f32, f64, bool, bool, char)>(257)?;
    read_others::launch(device, Grid::over(257), &mut out)?;
    equal("others", &out.download()?, &[(secret() as f32, -(secret() as f64), true, false, '🦀'); 257])
}

#[gpu_kernel]
fn read_addresses(mut out: DisjointSlice<[u64; 4]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = [
            host!(&raw const ANCHOR).addr() as u64,
            host!(on_the_host as *const ()).addr() as u64,
            host!(TEXT.as_ptr()).addr() as u64,
            host!(std::ptr::null_mut::<u8>()).addr() as u64,
        ];
    }
}

fn addresses(device: &Device) -> Outcome {
    let mut out = device.upload(&[[7u64; 4]; 100])?;
    read_addresses::launch(device, Grid::over(100), &mut out)?;
    let expected = [(&raw const ANCHOR).addr() as u64, (on_the_host as *const ()).addr() as u64, TEXT.as_ptr().addr() as u64, 0];
    equal("addresses", &out.download()?, &[expected; 100])
}

/// Not a kernel: an ordinary helper can refer to the host, too.
fn offset(x: u64) -> u64 {
    x.wrapping_add(host!(secret()))
}

mod deeper {
    use super::host;

    /// The same tokens in another module are another reference.
    pub fn scale(x: u64) -> u64 {
        x.wrapping_mul(host!(super::secret() | 1))
    }
}

#[gpu_kernel]
fn through_functions(mut x: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(x) = x.get_mut(i) {
        *x = deeper::scale(offset(*x)).wrapping_sub(host!(secret()));
    }
}

fn in_functions(device: &Device) -> Outcome {
    let values: Vec<u64> = check::random(4).take(700).collect();
    let mut x = device.upload(&values)?;
    through_functions::launch(device, Grid::over(700), &mut x)?;
    let s = secret();
    let expected: Vec<u64> = values.iter().map(|x| x.wrapping_add(s).wrapping_mul(s | 1).wrapping_sub(s)).collect();
    equal("through_functions", &x.download()?, &expected)
}

/// An unresolved word must not decide a branch while the image is built.
#[gpu_kernel]
fn branch(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let pointer = host!(&raw const ANCHOR);
        let zero = host!(u32::from(secret() == 0));
        *out = match (pointer.is_null(), zero == 0, host!(secret()) == host!(secret() + 1)) {
            (false, true, false) => i.get() as u32,
            (true, ..) => 1_000_001,
            (_, false, _) => 1_000_002,
            _ => 1_000_003,
        };
    }
}

fn branches(device: &Device) -> Outcome {
    let mut out = device.zeroed::<u32>(500)?;
    branch::launch(device, Grid::over(500), &mut out)?;
    equal("branch", &out.download()?, &(0..500).collect::<Vec<u32>>())
}

#[gpu_kernel]
fn offset_once(mut x: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(x) = x.get_mut(i) {
        *x = offset(*x);
    }
}

/// Two kernels that share a helper share its reference.
fn in_two_kernels(device: &Device) -> Outcome {
    let mut x = device.upload(&[5u64; 100])?;
    offset_once::launch(device, Grid::over(100), &mut x)?;
    through_functions::launch(device, Grid::over(100), &mut x)?;
    offset_once::launch(device, Grid::over(100), &mut x)?;
    let s = secret();
    let expected = 5u64.wrapping_add(s).wrapping_add(s).wrapping_mul(s | 1).wrapping_sub(s).wrapping_add(s);
    equal("in two kernels", &x.download()?, &[expected; 100])
}
