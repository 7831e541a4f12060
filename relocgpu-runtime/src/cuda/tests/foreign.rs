//! A program's own streams and memory.

use super::fake::Fake;
use crate::backend::Backend;
use std::ptr;

#[test]
fn streams_are_ordered_by_events() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let stream = ptr::without_provenance_mut(20);
    fake.log();
    // SAFETY: the fake takes any stream.
    unsafe {
        assert!(cuda.has_stream(stream).unwrap() && !cuda.has_stream(ptr::without_provenance_mut(21)).unwrap());
        cuda.wait_for(stream).unwrap();
        cuda.release_to(stream).unwrap();
    }
    let log: Vec<_> = fake.log().into_iter().filter(|call| call.starts_with("cuEvent") || call == "cuStreamWaitEvent").collect();
    let once = ["cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuEventDestroy_v2"];
    assert_eq!(log, [once, once].concat());
    assert_eq!(fake.get("fake_events_live"), 0);
}

#[test]
fn memory_is_known_by_its_context_or_its_device() {
    let fake = Fake::new();
    let cuda = fake.cuda();
    let own = cuda.allocate(64).unwrap();
    let has = |at| cuda.has_memory(at).unwrap();
    assert_eq!([has(own), has(0x1000), has(0x2000), has(0x3000), has(8)], [true, false, true, false, false]);
    assert!(cuda.is_context(ptr::without_provenance_mut(100)) && !cuda.is_context(ptr::without_provenance_mut(101)));
}
