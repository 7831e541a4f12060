use super::*;
use crate::backend::DeviceKind;
use crate::test_backend;
use crate::test_image::{Item, image};
use std::sync::atomic::{AtomicU32, Ordering};

static CALLS: AtomicU32 = AtomicU32::new(0);
extern "C-unwind" fn counted() -> u64 {
    CALLS.fetch_add(1, Ordering::Relaxed);
    std::thread::sleep(std::time::Duration::from_millis(20));
    42
}
extern "C-unwind" fn fails() -> u64 {
    panic!("GAIN is not set")
}
extern "C-unwind" fn fails_with_number() -> u64 {
    std::panic::panic_any(7u8)
}
extern "C-unwind" fn fails_as_table() -> RawTable {
    panic!("no file {}", "curve.txt")
}
extern "C-unwind" fn three() -> RawTable {
    crate::host_ref::raw_table(vec![1u16, 2, 3])
}

fn on_device(image: &Image) -> Result<Vec<Value>> {
    values(image, &test_backend::device(DeviceKind::Cpu).0)
}

fn word(value: Value) -> u64 {
    match value {
        Value::Word(word) => word,
        Value::TablePtr(table) => table.data.addr() as u64,
        Value::Mapped(memory) => memory.data.addr() as u64,
        Value::Static(_, initial) => initial.data.addr() as u64,
    }
}

#[test]
fn every_expression_is_evaluated_once_whatever_names_it() {
    let first = image(&[Item::Value("a", counted), Item::Value("b", counted)]);
    let second = image(&[Item::Value("c", counted)]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                assert_eq!(on_device(first).unwrap().into_iter().map(word).collect::<Vec<_>>(), [42, 42]);
                assert_eq!(on_device(second).unwrap().into_iter().map(word).collect::<Vec<_>>(), [42]);
            });
        }
    });
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
}

#[test]
fn tables_give_an_address_and_a_length() {
    let values = on_device(image(&[Item::TableLen("t_len", three), Item::TablePtr("t_ptr", three)])).unwrap();
    let host = table(three).unwrap();
    assert_eq!([word(values[0]), word(values[1])], [3, host.data.addr() as u64]);
    assert_eq!((host.element_size, host.element_align), (2, 2));
}

#[test]
fn all_failures_of_all_images_are_returned_at_once() {
    let first = image(&[Item::Value("bad", fails), Item::Value("good", counted), Item::Value("odd", fails_with_number)]);
    let second = image(&[Item::TableLen("t_len", fails_as_table), Item::TablePtr("t_ptr", fails_as_table), Item::Null("void")]);
    for _ in 0..2 {
        let Err(Error::Unresolved(all)) = resolve_all([first, second].into_iter()) else { panic!("expected failures") };
        let found: Vec<_> = all.iter().map(|u| (u.name.as_str(), u.source.as_str(), u.cause.as_str())).collect();
        assert_eq!(
            found,
            [
                ("bad", "src/main.rs:1:1", "its expression panicked: GAIN is not set"),
                ("odd", "src/main.rs:3:1", "its expression panicked: (a value that is no text)"),
                ("t_len", "src/main.rs:1:1", "its expression panicked: no file curve.txt"),
                ("void", "src/main.rs:3:1", "the linker left its word empty; build the program again"),
            ]
        );
    }
}

extern "C-unwind" fn outer() -> u64 {
    word(on_device(image(&[Item::Value("inner", inner)])).unwrap()[0]) + 1
}
extern "C-unwind" fn inner() -> u64 {
    5
}
#[test]
fn an_expression_may_use_others() {
    assert_eq!(word(on_device(image(&[Item::Value("outer", outer)])).unwrap()[0]), 6);
}

extern "C-unwind" fn selfish() -> u64 {
    let Err(Error::Unresolved(all)) = on_device(image(&[Item::Value("again", selfish)])) else { panic!("expected an error") };
    panic!("{}", all[0].cause)
}
#[test]
fn an_expression_that_needs_itself_is_an_error_and_no_deadlock() {
    let Err(Error::Unresolved(all)) = on_device(image(&[Item::Value("selfish", selfish)])) else { panic!("expected an error") };
    assert!(all[0].cause.contains("needs its own value"), "{}", all[0].cause);
}

#[test]
fn a_word_of_an_instance_is_evaluated_once_whoever_asks() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    fn seven() -> i8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        -7
    }
    fn selfish() -> u32 {
        instance_word(TypeId::of::<u8>(), 1, selfish).map_or_else(|cause| panic!("{cause}"), |word| word as u32)
    }
    for _ in 0..2 {
        for (instance, number) in [(TypeId::of::<u8>(), 0), (TypeId::of::<u16>(), 0), (TypeId::of::<u16>(), 2)] {
            assert_eq!(instance_word(instance, number, seven), Ok(-7_i64 as u64));
        }
    }
    assert_eq!(CALLS.load(Ordering::Relaxed), 3);
    let cause = instance_word(TypeId::of::<u8>(), 1, selfish).unwrap_err();
    assert!(cause.contains("needs its own value"), "{cause}");
}

static MEET: std::sync::Barrier = std::sync::Barrier::new(2);
extern "C-unwind" fn left() -> u64 {
    MEET.wait();
    on_device(image(&[Item::Value("right", right)])).map_or(1, |_| 0)
}
extern "C-unwind" fn right() -> u64 {
    MEET.wait();
    on_device(image(&[Item::Value("left", left)])).map_or(1, |_| 0)
}
#[test]
fn a_cycle_around_two_threads_is_an_error_and_no_deadlock() {
    std::thread::scope(|scope| {
        let a = scope.spawn(|| value(left).unwrap());
        let b = scope.spawn(|| value(right).unwrap());
        assert_eq!(a.join().unwrap() + b.join().unwrap(), 1, "exactly one of them sees the cycle");
    });
}

extern "C-unwind" fn kind_of(device: *const ()) -> u64 {
    // SAFETY: the argument is a device (contract).
    match unsafe { &*device.cast::<Device>() }.kind() {
        DeviceKind::Cpu => 100,
        DeviceKind::Cuda(ordinal) => ordinal as u64,
    }
}
extern "C-unwind" fn threshold() -> u64 {
    named::bound::<u32>("resolve.threshold").into()
}
static ITEM: u32 = 5;
static ITEM_WORD: crate::host_ref::identity::ItemWord = crate::host_ref::identity::ItemWord::new((&raw const ITEM).cast());

#[test]
fn what_differs_from_device_to_device_is_left_to_them() {
    let image = image(&[Item::Of("d", Target::Expr(Part::DeviceValue), kind_of as *const ())]);
    resolve_all([image].into_iter()).unwrap();
    for (kind, expected) in [(DeviceKind::Cuda(2), 2), (DeviceKind::Cpu, 100)] {
        let device = test_backend::device(kind).0;
        assert_eq!(word(values(image, &device).unwrap()[0]), expected);
    }
}

#[test]
fn an_unbound_name_is_told_before_its_thunk_runs() {
    let bound = |name: &str| Target::Bound { name: name.into(), ty: "u32".into() };
    let image = image(&[
        Item::Of("a", bound("resolve.threshold"), threshold as *const ()),
        Item::Of("b", bound("resolve.other"), threshold as *const ()),
        Item::Of("c", Target::Load { symbol: "no_such".into(), ty: "u32".into(), library: None, offset: 0 }, threshold as *const ()),
        Item::Of("d", Target::Address, (&raw const ITEM_WORD).cast()),
    ]);
    let Err(Error::Unresolved(all)) = on_device(image) else { panic!("expected failures") };
    assert_eq!(all.len(), 3);
    for (failure, text) in
        all.iter().zip(["nothing is bound to `resolve.threshold`", "nothing is bound to `resolve.other`", "no symbol `no_such`"])
    {
        assert!(failure.cause.contains(text), "{}", failure.cause);
    }
    crate::bind("resolve.threshold", 9u32).unwrap();
    let Err(Error::Unresolved(all)) = on_device(image) else { panic!("expected failures") };
    assert_eq!(all.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["b", "c"]);
    let of_item = record_value(&Target::Address, (&raw const ITEM_WORD).cast(), None).unwrap().unwrap();
    assert_eq!(word(of_item), (&raw const ITEM).addr() as u64);
}
