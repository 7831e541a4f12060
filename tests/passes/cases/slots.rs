//@ ptx: .visible .const .align 8 .b8 relocgpu_slots[32];
//@ ptx: ld.const.b64
//@ ptx-not: .extern
//@ record: case_1_2_3_case_01234567 __relocgpu_host_a a.rs:9:1
//@ record: case_1_2_3_case_01234567_2 __relocgpu_host_b a.rs:10:1
//@ record: case_1_2_3_case_89abcdef_len __relocgpu_host_t a.rs:3:1
//@ record: case_1_2_3_case_89abcdef_ptr __relocgpu_host_t a.rs:3:1
//@ reads: case::read case_1_2_3_case_01234567 case_1_2_3_case_01234567_2 case_1_2_3_case_89abcdef_len case_1_2_3_case_89abcdef_ptr
//@ unit: @case_1_2_3_case_01234567_2 = external constant i64, align 8
// Four words that the loader writes; the same tokens twice are numbered by line, and what is never read is no record.
use prelude::*;

struct Table(*const u64, *const u64);
unsafe impl Sync for Table {}
static TABLE: Table = Table(
    reference!("table_ptr", "__relocgpu_host_t", "89abcdef00000000", "a.rs:3:1", "table: t()"),
    reference!("table_len", "__relocgpu_host_t", "89abcdef00000000", "a.rs:3:1", "table: t()"),
);

#[inline(never)]
fn off() -> bool {
    false
}

kernel! { fn read(out: *mut u64) {
    unsafe {
        *out = *reference!("value", "__relocgpu_host_b", "0123456789abcdef", "a.rs:10:1", "gain()");
        *out.add(1) = *reference!("value", "__relocgpu_host_a", "0123456789abcdef", "a.rs:9:1", "gain()");
        if off() {
            *out.add(2) = *reference!("value", "__relocgpu_host_dead", "fedcba9876543210", "a.rs:11:1", "dead()");
        }
        *out.add(3) = *((*TABLE.0 + index() as u64 % *TABLE.1 * 8) as *const u64);
    }
} }
