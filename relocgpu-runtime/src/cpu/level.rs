//! Which of an image's objects this processor runs.

/// Index of the highest of `levels`, which rise, that this processor has.
pub(super) fn best(levels: &[String]) -> Option<usize> {
    levels.iter().rposition(|level| has(level))
}

#[cfg(target_arch = "x86_64")]
fn has(level: &str) -> bool {
    use std::arch::is_x86_feature_detected as has;
    // As the psABI lists them. What the system has to save is part of the tests that the standard library makes.
    let v3 = || has!("avx2") && has!("bmi1") && has!("bmi2") && has!("f16c") && has!("fma") && has!("lzcnt") && has!("movbe");
    let v4 = || has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl");
    match level {
        "x86-64" => true,
        "x86-64-v3" => v3(),
        "x86-64-v4" => v3() && v4(),
        _ => false,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn has(_level: &str) -> bool {
    false
}

/// The processor's name, as its maker gives it.
#[cfg(target_arch = "x86_64")]
pub(super) fn processor() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    const FIRST: u32 = 0x8000_0002;
    const LAST: u32 = 0x8000_0004;
    if __cpuid(0x8000_0000).eax < LAST {
        return None;
    }
    let bytes: Vec<u8> = (FIRST..=LAST)
        .flat_map(|leaf| {
            let r = __cpuid(leaf);
            [r.eax, r.ebx, r.ecx, r.edx]
        })
        .flat_map(u32::to_le_bytes)
        .take_while(|byte| *byte != 0)
        .collect();
    let name = String::from_utf8_lossy(&bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn processor() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_that_is_there() {
        let levels = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        assert_eq!(best(&levels(&["x86-64"])), Some(0));
        assert_eq!(best(&levels(&["x86-64", "x86-64-v99"])), Some(0));
        assert_eq!(best(&levels(&["x86-64-v99"])), None);
        assert_eq!(best(&[]), None);
    }
}
