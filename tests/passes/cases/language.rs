//@ ptx-not: .extern
//@ kernel: case::wide_struct 16 8
//@ kernel: case::recursion 8 8
// Much of the language and of `core`, in one unit: nothing is left open, and all of it assembles.
use prelude::*;
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU64, fence};

kernel! { fn closures(x: Slice<u32>, out: *mut u32) {
    let k = x[0];
    let f = |a: u32| a.wrapping_mul(k) ^ 5;
    let g: &dyn Fn(u32) -> u32 = &f;
    let h: [&dyn Fn(u32) -> u32; 2] = [g, &|a| a + 1];
    unsafe { *out = h[index() & 1](x[1]) }
} }

#[derive(Clone, Copy)]
enum E {
    A(u8),
    B { x: u64, y: f32 },
    C([u16; 5]),
    D,
}

static ES: [E; 4] = [E::A(3), E::B { x: 7, y: 1.5 }, E::C([1, 2, 3, 4, 5]), E::D];

kernel! { fn enums(out: *mut f32) {
    let v = match ES[index() % 4] {
        E::A(a) => a as f32,
        E::B { x, y } => x as f32 * y,
        E::C(c) => c.iter().map(|v| *v as f32).sum(),
        E::D => -1.0,
    };
    unsafe { *out = v }
} }

#[inline(never)]
fn split(x: u128) -> (u64, u64) {
    ((x >> 64) as u64, x as u64)
}

#[inline(never)]
fn res(x: u32) -> Result<(u8, u64), E> {
    if x > 4 { Ok((1, x as u64)) } else { Err(ES[x as usize % 4]) }
}

kernel! { fn returns(x: u128, out: *mut u64) {
    let (a, b) = split(x);
    let r = res(a as u32).map(|v| v.1).unwrap_or(b);
    unsafe { *out = r }
} }

kernel! { fn i128s(p: *mut i128) {
    unsafe {
        *p =
            (*p / 7).wrapping_mul(*p.add(1)) % 1_000_000_007 + (*p.add(1)).leading_zeros() as i128 + (*p << (*p.add(1) & 63)).rotate_left(3)
    }
} }

kernel! { fn small_atomics(p: *mut u8, q: *mut u16, r: *mut i64, s: *mut *mut u8) {
    unsafe {
        AtomicU8::from_ptr(p).fetch_add(1, SeqCst);
        AtomicU8::from_ptr(p).fetch_or(4, AcqRel);
        AtomicU16::from_ptr(q).fetch_max(7, Relaxed);
        AtomicU16::from_ptr(q).swap(3, Acquire);
        AtomicI64::from_ptr(r).fetch_min(-4, Release);
        AtomicI64::from_ptr(r).fetch_nand(9, Relaxed);
        let _ = AtomicPtr::from_ptr(s).compare_exchange_weak(p, p.add(1), AcqRel, Relaxed);
        AtomicBool::from_ptr(p as *mut bool).fetch_xor(true, SeqCst);
        fence(AcqRel);
        let _ = AtomicU8::from_ptr(p).compare_exchange(1, 2, SeqCst, Relaxed);
        let _ = AtomicU64::from_ptr(r as *mut u64).fetch_update(SeqCst, Relaxed, |v| v.checked_add(1));
    }
} }

kernel! { fn cells(out: *mut u32) {
    let c = Cell::new(3);
    let r = RefCell::new([1u32; 4]);
    r.borrow_mut()[index() & 3] = c.get();
    c.set(4);
    unsafe { *out = r.borrow().iter().sum::<u32>() + c.get() }
} }

fn fib(n: u32) -> u32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

kernel! { fn recursion(out: *mut u32) {
    unsafe { *out = fib(index() as u32 % 20) }
} }

kernel! { fn strings(x: Slice<u8>, out: *mut u32) {
    if let Ok(s) = std::str::from_utf8(x) {
        let n = s.split(',').filter_map(|t| t.trim().parse::<i32>().ok()).sum::<i32>();
        let u = s.chars().filter(|c| c.is_alphanumeric()).count();
        let p = s.find("ab").unwrap_or(9);
        unsafe { *out = n as u32 + u as u32 + p as u32 + s.to_owned_len() }
    }
} }

trait L {
    fn to_owned_len(&self) -> u32;
}

impl L for str {
    fn to_owned_len(&self) -> u32 {
        self.char_indices().rev().map(|(i, c)| i as u32 ^ c as u32).fold(0, |a, b| a.rotate_left(3) ^ b)
    }
}

kernel! { fn sorts(p: *mut u32, n: usize) {
    let s = unsafe { std::slice::from_raw_parts_mut(p, n) };
    s.sort_unstable_by_key(|v| v ^ 5);
    let _ = s.binary_search(&4);
    s.reverse();
    s.rotate_left(1);
    s.chunks_mut(3).for_each(|c| c.swap(0, 1));
    s.windows(2).map(|w| w[0] & w[1]).max();
    let (a, b) = s.split_at_mut(n / 2);
    a[0] = b[0];
    s.iter_mut().zip(0u32..).step_by(2).for_each(|(a, b)| *a += b);
} }

kernel! { fn stack(out: *mut u32, n: usize) {
    let mut a = [0u32; 1024];
    for (i, v) in a.iter_mut().enumerate() {
        *v = (i as u32).wrapping_mul(n as u32)
    }
    a[n % 1024] = 7;
    unsafe { *out = a[(n * 7) % 1024] }
} }

kernel! { fn bits(x: u64, out: *mut u64) {
    unsafe {
        *out = x.count_ones() as u64
            + x.swap_bytes()
            + x.reverse_bits()
            + x.saturating_sub(5)
            + x.pow(3)
            + x.isqrt()
            + x.ilog2() as u64
            + x.checked_next_power_of_two().unwrap_or(1)
            + u64::from_le_bytes(x.to_be_bytes())
            + x.abs_diff(9).div_ceil(4)
            + (x as i64).rem_euclid(7) as u64
    }
} }

kernel! { fn floats(x: f64, y: f32, out: *mut f64) {
    unsafe {
        *out = x.mul_add(2.0, 3.0)
            + x.sqrt()
            + x.floor()
            + x.round()
            + x.round_ties_even()
            + x.fract()
            + x.signum()
            + x.clamp(1.0, 2.0)
            + x.to_degrees()
            + y.recip() as f64
            + x.rem_euclid(3.0)
            + x.div_euclid(2.0)
            + (x as i8) as f64
            + (x as u64) as f64
            + y.to_bits() as f64
            + x.max(1.0).min(7.0)
            + x.copysign(-1.0)
            + x.abs()
            + y.sin() as f64
            + x.total_cmp(&2.0) as i32 as f64
    }
} }

kernel! { fn unaligned(p: *mut u8) {
    unsafe {
        let v = (p.add(1) as *const u64).read_unaligned();
        (p.add(11) as *mut u32).write_unaligned(v as u32);
        std::ptr::write_volatile(p.add(20), std::ptr::read_volatile(p));
        std::ptr::copy(p, p.add(3), v as usize & 63);
        std::ptr::write_bytes(p.add(100), 3, v as usize & 63);
        std::ptr::swap(p, p.add(1));
    }
} }

static FNS: [fn(u32) -> u32; 3] = [fib, |x| x + 1, |x| x * x];

static NEST: &[&[&str]] = &[&["a", "bcd"], &[], &["efg"]];

kernel! { fn tables(out: *mut u32) {
    let i = index();
    unsafe { *out = FNS[i % 3](i as u32) + NEST[i % 3].iter().map(|s| s.len() as u32).sum::<u32>() }
} }

kernel! { fn compare(a: *const [u8; 32], b: *const [u8; 32], s: Slice<&'static str>, out: *mut u32) {
    unsafe {
        *out = (*a == *b) as u32
            + ((*a).cmp(&*b) as i32) as u32
            + (s[0] < s[1]) as u32
            + s.contains(&"x") as u32
            + matches!(s[0], "alpha" | "beta") as u32
    }
} }

kernel! { fn iterators(x: Slice<u32>, out: *mut u64) {
    let v = x
        .iter()
        .skip(1)
        .take_while(|v| **v > 0)
        .enumerate()
        .filter(|(i, _)| i % 2 == 0)
        .map(|(i, v)| i as u64 * *v as u64)
        .chain([1, 2, 3])
        .flat_map(|v| [v, v + 1])
        .scan(0, |s, v| {
            *s += v;
            Some(*s)
        })
        .fold(0u64, u64::wrapping_add);
    let (mn, mx) = x.iter().fold((u32::MAX, 0), |(a, b), v| (a.min(*v), b.max(*v)));
    unsafe { *out = v + (mx - mn) as u64 }
} }

kernel! { fn panics(x: Slice<u32>, out: *mut u32) {
    assert!(x.len() > 3, "len {}", x.len());
    let y = x.get(2).copied().expect("three");
    let z: u8 = y.try_into().unwrap();
    if z == 9 {
        unreachable!("nine {z}")
    }
    if z == 8 {
        todo!()
    }
    if z == 7 {
        unimplemented!("seven")
    }
    assert_ne!(z, 6);
    debug_assert!(z != 5);
    let mut a = [0u8; 4];
    a.copy_from_slice(std::slice::from_ref(&z));
    let c = char::from_digit(z as u32, 10).unwrap();
    unsafe { *out = a[0] as u32 + c as u32 }
} }

struct Droppy<'a>(&'a Cell<u32>);

impl Drop for Droppy<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1)
    }
}

kernel! { fn drops(out: *mut u32) {
    let c = Cell::new(0);
    {
        let _a = Droppy(&c);
        let b = [Droppy(&c), Droppy(&c)];
        if index() > 3 {
            std::mem::forget(b)
        }
    }
    unsafe { *out = c.get() }
} }

fn generic<const N: usize, T: Copy + Default + std::ops::AddAssign>(x: &[T]) -> [T; N] {
    let mut a = [T::default(); N];
    for (i, v) in x.iter().enumerate() {
        a[i % N] += *v
    }
    a
}

kernel! { fn generics(x: Slice<f32>, y: Slice<i16>, out: *mut f32) {
    let a: [f32; 8] = generic(x);
    let b: [i16; 3] = generic(y);
    unsafe { *out = a.iter().sum::<f32>() + b[1] as f32 }
} }

kernel! { fn tasks(out: *mut usize) {
    unsafe {
        *out = std::any::type_name::<u32>().len()
            + std::mem::size_of_val(&*out)
            + std::any::TypeId::of::<u8>().eq(&std::any::TypeId::of::<u16>()) as usize
            + std::hint::black_box(3)
    }
} }

kernel! { fn wide_struct(p: *mut [[f64; 4]; 4], q: *const [[f64; 4]; 4]) {
    unsafe {
        let mut r = [[0.0; 4]; 4];
        for i in 0..4 {
            for j in 0..4 {
                for k in 0..4 {
                    r[i][j] += (*p)[i][k] * (*q)[k][j]
                }
            }
        }
        *p = r
    }
} }

kernel! { fn hashing(x: Slice<u64>, out: *mut u64) {
    use std::hash::*;
    let mut h = std::hash::SipHasher::new();
    x.hash(&mut h);
    unsafe { *out = h.finish() }
} }
