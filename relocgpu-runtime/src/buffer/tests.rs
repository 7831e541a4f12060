use super::*;
use crate::backend::DeviceKind;
use crate::device::disjoint::RawDisjoint;
use crate::error::Error;
use crate::test_backend::device;

fn what<T>(result: Result<T>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn handles_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<(Device, Buffer<f32>, Slice<f32>, SliceMut<f32, Plane>)>();
}

#[test]
fn elements_go_there_and_back() {
    let (device, log) = device(DeviceKind::Cuda(0));
    {
        let mut x = device.upload(&[1u16, 2, 3, 4]).unwrap();
        assert_eq!((x.len(), x.download().unwrap()), (4, vec![1, 2, 3, 4]));
        x.write_from(&[5, 6, 7, 8]).unwrap();
        let mut into = [0; 4];
        x.read_into(&mut into).unwrap();
        assert_eq!(into, [5, 6, 7, 8]);
        assert_eq!(device.zeroed::<(u8, f32)>(2).unwrap().download().unwrap(), [(0, 0.0); 2]);
        let mut y = device.zeroed::<u16>(4).unwrap();
        y.copy_from(&x).unwrap();
        y.slice_mut(..2).unwrap().copy_from(x.slice(2..).unwrap()).unwrap();
        assert_eq!(y.try_clone().unwrap().download().unwrap(), [7, 8, 7, 8]);
    }
    let log = log.lock().unwrap();
    assert_eq!((log.allocated.len(), log.freed.len()), (4, 4));
}

#[test]
fn nothing_takes_no_memory() {
    let (device, log) = device(DeviceKind::Cuda(0));
    let mut empty = device.upload::<u64>(&[]).unwrap();
    assert!(empty.is_empty() && empty.download().unwrap().is_empty());
    assert_eq!(device.upload(&[(); 3]).unwrap().download().unwrap().len(), 3);
    let raw = (&empty).__pack(&device).unwrap();
    assert!(raw.ptr.is_aligned() && !raw.ptr.is_null() && raw.len == 0);
    assert!((&mut empty).__pack(&device).unwrap().ptr.is_aligned());
    assert!(log.lock().unwrap().allocated.is_empty());
}

#[test]
fn lengths_that_do_not_fit_are_errors() {
    let (device, _) = device(DeviceKind::Cuda(0));
    let mut x = device.upload(&[1u32, 2, 3]).unwrap();
    assert_eq!(what(x.write_from(&[1])), "write_from: 1 elements for a device slice of 3; the two must have one length");
    assert!(what(x.read_into(&mut [0; 4])).starts_with("read_into: 4 elements for a device slice of 3"));
    let y = device.upload(&[1u32]).unwrap();
    assert!(what(x.copy_from(&y)).starts_with("copy_from: 1 elements for a device slice of 3"));
    assert!(matches!(device.zeroed::<u64>(usize::MAX), Err(Error::OutOfMemory { bytes: u64::MAX, .. })));
    assert!(matches!(device.zeroed::<u8>(1 << 40), Err(Error::OutOfMemory { bytes: 0x100_0000_0000, .. })));
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "that they are refused is the point")]
fn ranges_lie_inside() {
    let (device, _) = device(DeviceKind::Cuda(0));
    let mut x = device.upload(&[0u32, 1, 2, 3, 4]).unwrap();
    assert_eq!(x.slice(1..3).unwrap().download().unwrap(), [1, 2]);
    assert_eq!(x.slice(..).unwrap().slice(3..=4).unwrap().download().unwrap(), [3, 4]);
    assert_eq!(x.slice(5..).unwrap().len(), 0);
    assert!(what(x.slice(4..6)).contains("of a device slice of 5 elements; it must lie inside"));
    assert!(x.slice(3..2).is_err() && x.slice(..=usize::MAX).is_err() && x.slice_mut(6..).is_err());
    let (mut low, mut high) = x.split_at_mut(2).unwrap();
    low.write_from(&[10, 11]).unwrap();
    high.slice_mut(2..).unwrap().write_from(&[14]).unwrap();
    assert!(what(x.split_at_mut(6)).starts_with("split_at_mut"));
    assert_eq!(x.download().unwrap(), [10, 11, 2, 3, 14]);
}

#[test]
fn shapes_take_all_elements() {
    let (device, _) = device(DeviceKind::Cuda(0));
    let mut x = device.zeroed::<u32>(6).unwrap();
    let RawDisjoint { len, space, .. } = x.plane_mut((3, 2)).unwrap().__pack(&device).unwrap();
    assert_eq!((len, format!("{space:?}")), (6, "Plane { width: 3, height: 2 }".to_owned()));
    assert!(x.volume_mut((1, 2, 3)).is_ok());
    assert!(what(x.plane_mut((4, 2))).contains("a shape of 4 × 2 for 6 elements"));
    assert!(x.volume_mut((usize::MAX, usize::MAX, 2)).is_err());
}

#[test]
fn a_buffer_of_another_device_is_an_error() {
    let ((here, _), (there, _)) = (device(DeviceKind::Cuda(0)), device(DeviceKind::Cuda(1)));
    let (mut x, y) = (here.zeroed::<u8>(1).unwrap(), there.zeroed::<u8>(1).unwrap());
    let launched = "launch: the buffer lies on device `cuda:0` and is needed on `cuda:1`; download it and upload it there";
    assert_eq!(what((&x).__pack(&there)), launched);
    assert_eq!(what((&mut x).__pack(&there)), launched);
    assert!(what(x.copy_from(&y)).starts_with("copy_from: the buffer lies on device `cuda:1`"));
}

#[test]
fn a_panic_before_comes_back_from_what_waits() {
    let (device, log) = device(DeviceKind::Cuda(0));
    let x = device.zeroed::<u8>(1).unwrap();
    let pend = || log.lock().unwrap().pending = Some(Error::DeviceName { value: "a stand-in".into() });
    pend();
    assert!(x.download().is_err() && x.download().is_ok());
    pend();
    assert!(device.upload::<u8>(&[]).unwrap().download().is_err(), "also where there is nothing to read");
    pend();
    assert!(device.synchronize().is_err() && device.synchronize().is_ok());
    pend();
    assert!(device.time(|| Ok(())).is_err());
    assert_eq!(device.time(|| Ok(())).unwrap().as_micros(), 5);
}
