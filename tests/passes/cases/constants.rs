//@ ptx: .global .align 4 .b8
//@ ptx-not: .extern
// Constants are copied, with pointers, slices, functions and vtables in them.
use prelude::*;

trait Shape {
    fn area(&self) -> u32;
}
struct Square(u32);
struct Strip(u32, u32);
impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> u32 {
        self.0 * self.0
    }
}
impl Shape for Strip {
    #[inline(never)]
    fn area(&self) -> u32 {
        self.0 * self.1
    }
}
static NAMES: [&[u32]; 3] = [&[1, 2], &[3], &[]];
static SHAPES: [&(dyn Shape + Sync); 2] = [&Square(3), &Strip(4, 5)];
static STEPS: [fn(u32) -> u32; 2] = [|x| x + 1, |x| x * 3];

kernel! { fn look(out: *mut u32) {
    let i = index();
    unsafe { *out.add(i) = NAMES[i % 3].len() as u32 + SHAPES[i % 2].area() + STEPS[i % 2](i as u32) }
} }
