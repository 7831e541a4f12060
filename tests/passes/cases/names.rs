//@ record: load_value_global_0_93326ab5 __relocgpu_host_a a.rs:1:1
//@ record: load_sym_8_5617c339 __relocgpu_host_b a.rs:2:1
//@ record: load_sym_8_0_beccc7ac __relocgpu_host_c a.rs:3:1
//@ record: load_gr__e_0_b65dac43 __relocgpu_host_d a.rs:4:1
//@ record: load__7up_0_7aad0bdc __relocgpu_host_e a.rs:5:1
//@ record: bound_Vec___a_str_____187100f2 __relocgpu_host_f a.rs:6:1
//@ unit: @WARP_SZ_2 = internal
//@ unit: @relocgpu_slots_2 = internal
//@ unit: @case___ =
//@ unit: @case____2 =
//@ ptx: .visible .const .align 8 .b8 relocgpu_slots[56];
//@ ptx-not: .extern
// Names that PTX does not take, or that mean something there: each is another one, and the same target is one word.
use prelude::*;

#[unsafe(no_mangle)]
static WARP_SZ: [u64; 3] = [5, 7, 9];
#[unsafe(no_mangle)]
static relocgpu_slots: [u64; 3] = [15, 17, 19];
static é: [u64; 3] = [25, 27, 29];
static è: [u64; 3] = [35, 37, 39];

macro_rules! load {
    ($link:literal, $source:literal, $detail:literal) => {
        *reference!("load", $link, "0123456789abcdef", $source, $detail, "symbol")
    };
}

kernel! { fn names(out: *mut u64) {
    unsafe {
        let i = index() % 3;
        *out = load!("__relocgpu_host_a", "a.rs:1:1", "value#global\u{1e}u64\u{1e}0\u{1e}");
        *out.add(1) = load!("__relocgpu_host_b", "a.rs:2:1", "sym\u{1e}u64\u{1e}8\u{1e}");
        *out.add(2) = load!("__relocgpu_host_c", "a.rs:3:1", "sym_8\u{1e}u64\u{1e}0\u{1e}");
        *out.add(3) = load!("__relocgpu_host_d", "a.rs:4:1", "größe\u{1e}u64\u{1e}0\u{1e}");
        *out.add(4) = load!("__relocgpu_host_e", "a.rs:5:1", "7up\u{1e}u64\u{1e}0\u{1e}");
        *out.add(5) = *reference!("bound", "__relocgpu_host_f", "0123456789abcdef", "a.rs:6:1", "Vec<&'a str, é>\u{1e}u64", "bound");
        *out.add(6) = load!("__relocgpu_host_h", "a.rs:8:1", "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\u{1e}u64\u{1e}0\u{1e}");
        *out.add(7) = load!("__relocgpu_host_g", "a.rs:7:1", "value#global\u{1e}u64\u{1e}0\u{1e}");
        *out.add(8) = WARP_SZ[i] + relocgpu_slots[i] + é[i] + è[i];
    }
} }
