//! Every operation, by many threads on few words: results that do not depend on the order.

use check::{Check, Outcome, checks, equal, random};
use relocgpu_runtime::prelude::*;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

pub fn checks() -> Vec<Check> {
    checks![unsigned_32, signed_32, unsigned_64, signed_64]
}

const WORDS: usize = 7;

/// A kernel that applies eight operations, each to words of its own, and its check.
macro_rules! operations {
    ($check:ident, $kernel:ident, $atomic:ty, $int:ty) => {
        #[gpu_kernel]
        fn $kernel(values: &[$int], words: &[$atomic]) {
            let i = thread::index_1d().get();
            if let Some(&value) = values.get(i) {
                let word = |operation: usize| &words[operation * WORDS + i % WORDS];
                word(0).fetch_add(value, Ordering::Relaxed);
                word(1).fetch_sub(value, Ordering::AcqRel);
                word(2).fetch_max(value, Ordering::SeqCst);
                word(3).fetch_min(value, Ordering::Release);
                word(4).fetch_and(value | 0x10, Ordering::Acquire);
                word(5).fetch_or(value & 0x0f0f, Ordering::SeqCst);
                word(6).fetch_xor(value, Ordering::Relaxed);
                // A product by compare-and-swap.
                let mut old = word(7).load(Ordering::Relaxed);
                while let Err(now) = word(7).compare_exchange_weak(old, old.wrapping_mul(value | 1), Ordering::AcqRel, Ordering::Acquire) {
                    old = now;
                }
            }
        }

        fn $check(device: &Device) -> Outcome {
            for n in [1, 64, 10_000] {
                let values: Vec<$int> = random(n as u64).map(|word| word as $int).take(n).collect();
                let start: Vec<$int> = (0..8 * WORDS).map(|i| if i / WORDS == 4 { -1i64 as $int } else { 1 + i as $int }).collect();
                let words = device.upload(&start.iter().map(|&word| <$atomic>::new(word)).collect::<Vec<_>>())?;
                $kernel::launch(device, Grid::over(n), &device.upload(&values)?, &words)?;
                let ours: Vec<$int> = words.download()?.into_iter().map(<$atomic>::into_inner).collect();

                let mut expected = start;
                for (i, &value) in values.iter().enumerate() {
                    let apply: [fn($int, $int) -> $int; 8] = [
                        <$int>::wrapping_add,
                        <$int>::wrapping_sub,
                        std::cmp::max,
                        std::cmp::min,
                        |a, b| a & (b | 0x10),
                        |a, b| a | (b & 0x0f0f),
                        |a, b| a ^ b,
                        |a, b| a.wrapping_mul(b | 1),
                    ];
                    for (operation, apply) in apply.iter().enumerate() {
                        let word = &mut expected[operation * WORDS + i % WORDS];
                        *word = apply(*word, value);
                    }
                }
                equal(stringify!($kernel), &ours, &expected)?;
            }
            Ok(())
        }
    };
}

operations!(unsigned_32, unsigned_32_kernel, AtomicU32, u32);
operations!(signed_32, signed_32_kernel, AtomicI32, i32);
operations!(unsigned_64, unsigned_64_kernel, AtomicU64, u64);
operations!(signed_64, signed_64_kernel, AtomicI64, i64);
