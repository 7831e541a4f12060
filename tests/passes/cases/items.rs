//@ record: case_1_2_3_case_0000000a __relocgpu_host_a a.rs:1:1
//@ record: case_1_2_3_case_0000000b __relocgpu_host_b a.rs:2:1
//@ record: case__DOORS __relocgpu_host_c a.rs:3:1
//@ record: case__DOORS __relocgpu_host_d a.rs:4:1
//@ reads: case::compare case_1_2_3_case_0000000a case_1_2_3_case_0000000b case__DOORS case__DOORS
//@ unit: @case__DOORS = internal externally_initialized global
//@ ptx: .visible .global .align 8 .u64 case__DOORS[
//@ ptx: .visible .const .align 8 .b8 relocgpu_slots[16];
//@ ptx: setp.eq
//@ ptx-not: .extern
// Addresses of host items: in code each is a slot, also in a comparison of two of them, with null, and in a match; in a
// constant, behind another constant, each is an interior word.
use prelude::*;

struct Door {
    number: u64,
    key: Item,
    other: Option<&'static Door>,
}
static DOORS: [Door; 2] = [
    Door { number: 1, key: item!("__relocgpu_host_c", "0000000c00000000", "a.rs:3:1", "item: C"), other: None },
    Door { number: 2, key: item!("__relocgpu_host_d", "0000000d00000000", "a.rs:4:1", "item: D"), other: Some(&DOORS[0]) },
];
static WAY: &[Door; 2] = &DOORS;

fn a() -> Item {
    item!("__relocgpu_host_a", "0000000a00000000", "a.rs:1:1", "item: A")
}

fn b() -> Item {
    item!("__relocgpu_host_b", "0000000b00000000", "a.rs:2:1", "item: B")
}

kernel! { fn compare(out: *mut u64, which: *const Item) {
    unsafe {
        let i = index();
        let asked = *which.add(i);
        *out.add(i) = match asked {
            item if item == a() => 1,
            item if item == b() => 2,
            item if item == WAY[i % 2].key => 10 + WAY[i % 2].number,
            item if WAY[i % 2].other.is_some_and(|door| door.key == item) => 20,
            _ => (a() == b()) as u64 + (a() == Item(std::ptr::null())) as u64,
        };
    }
} }
