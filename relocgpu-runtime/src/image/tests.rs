//! Images that are damaged, or that somebody made to do harm.

use super::*;
use crate::contract::SCHEMA;
use crate::contract::image::{CONTAINER_HEADER, PtxEntry, checksum, encode};
use crate::contract::layout::Layout;
use crate::contract::manifest::*;
use crate::deliver::by_site;
use crate::test_image::{Item, image};

/// A container with something of everything that the runtime follows by number.
fn sound() -> Container<'static> {
    let word = Layout { name: "u32".into(), size: 4, align: 4, fields: vec![] };
    let layout = Layout { name: "P".into(), size: 8, align: 4, fields: vec![("a".into(), 0, word.clone()), ("b".into(), 4, word)] };
    let kernel = |name: &str, delivery| Kernel {
        name: name.into(),
        entry: name.into(),
        params: vec![Param { name: "p".into(), ty: "P".into(), offset: 4, layout: layout.clone() }],
        size: 12,
        align: 4,
        can_panic: true,
        cooperates: false,
        reads: vec![0, 2, 3],
        delivery,
    };
    let record = |name: &str, site, offset, target| Record { name: name.into(), site, offset, target, in_block: site == Site::Slot };
    let records = vec![
        record("curve", Site::Interior, 8, Target::Address),
        record("curve", Site::Interior, 24, Target::Address),
        record("gain", Site::Slot, 0, Target::Expr(Part::Value)),
        record("limit", Site::Slot, 0, Target::Bound { name: "limit".into(), ty: "u64".into() }),
    ];
    let source = |record: &Record| RecordSource { symbol: record.name.clone(), source: "a.rs:1:2".into(), text: "t()".into() };
    let sources = records.iter().map(source).collect();
    let kernels = vec![
        kernel("baked", Delivery::Bake),
        kernel("patched", Delivery::Patch),
        kernel("tabled", Delivery::Table(LaunchTable::behind(12, vec![2, 3]))),
    ];
    let unit = UnitName { package: "p".into(), version: "1.0.0".into(), kind: "lib".into(), crate_name: "p".into(), test: false };
    let text = "mov.b64 %rd1, 0x5e1fc0de00000002; mov.b64 %rd2, 0x5e1fc0de00000003;";
    Container {
        unit_hash: [3; 32],
        source_map: SourceMap {
            records: sources,
            kernels: kernels.iter().map(|_| "a.rs:1:1".to_owned()).collect(),
            locations: vec![("a.rs".into(), 1, 2)],
        },
        manifest: Manifest { schema: SCHEMA, unit, kernels, records },
        ptx: vec![PtxEntry { arch: 75, isa: (6, 3), text: text.into(), baked: vec![(2, 16), (3, 50)] }],
        cpu_levels: Vec::new(),
    }
}

/// Reads bytes as the program's image with so many words in its host table.
fn read_with(bytes: &[u8], words: usize) -> Result<Image> {
    let (bytes, table) = (bytes.to_vec().leak(), vec![std::ptr::null(); words].leak());
    let raw = RawImage {
        schema: SCHEMA,
        reserved: 0,
        container: bytes.as_ptr(),
        container_len: bytes.len(),
        host_table: table.as_ptr(),
        host_table_len: words,
        cpu: std::ptr::null(),
    };
    // SAFETY: all of it is leaked.
    unsafe { Image::read(Box::leak(Box::new(raw))) }
}

fn read(bytes: &[u8]) -> Result<Image> {
    read_with(bytes, sound().manifest.records.len())
}

/// What reading says to a container that is not sound.
fn refusal(change: impl FnOnce(&mut Container<'static>)) -> String {
    let mut container = sound();
    change(&mut container);
    assert_ne!(container, sound());
    read(&encode(&container)).expect_err("the image is not sound").to_string()
}

#[test]
fn a_sound_image_is_read() {
    assert_eq!(read(&encode(&sound())).unwrap().container, sound());
}

#[test]
fn a_flipped_bit_or_a_cut_is_refused_wherever_it_is() {
    let bytes = encode(&sound());
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "cut to {length} bytes");
    }
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let said = read(&flipped).expect_err("a flipped bit").to_string();
        let known = ["not a relocgpu image", "made for schema", "damaged relocgpu image; build it again"];
        assert!(known.iter().any(|known| said.contains(known)), "bit {bit}: {said}");
    }
}

#[test]
fn another_version_is_named_before_anything_else_of_it_is_read() {
    let nothing = std::ptr::without_provenance(1);
    let raw = RawImage {
        schema: SCHEMA + 1,
        reserved: 0,
        container: nothing,
        container_len: usize::MAX,
        host_table: std::ptr::null(),
        host_table_len: 9,
        cpu: std::ptr::null(),
    };
    // SAFETY: of an image of another schema nothing else is read.
    let said = unsafe { Image::read(Box::leak(Box::new(raw))) }.unwrap_err().to_string();
    let expected = format!("made for schema {}, this program reads {SCHEMA}; use the same version", SCHEMA + 1);
    assert!(said.contains(&expected), "{said}");
    let mut bytes = encode(&sound());
    bytes[8] += 1;
    assert!(read(&bytes).unwrap_err().to_string().contains(&expected));
    assert!(refusal(|c| c.manifest.schema += 1).contains("its manifest was made for schema"));
}

#[test]
fn each_field_that_leads_elsewhere_is_refused_and_named() {
    fn table<'a>(c: &'a mut Container<'static>) -> &'a mut LaunchTable {
        let Delivery::Table(table) = &mut c.manifest.kernels[2].delivery else { unreachable!() };
        table
    }
    let words = "the words of kernel `tabled` are not those of its records";
    let place = "words for sm_75 lie outside its PTX";
    let parameters = "the parameters of kernel `patched` have no such place";
    let site = "names no site";
    type Change = fn(&mut Container<'static>);
    let cases: &[(Change, &str)] = &[
        (|c| table(c).records[1] = 4, words),
        (|c| table(c).records[1] = u32::MAX, words),
        (|c| table(c).records[0] = 1, words),
        (|c| table(c).records.swap(0, 1), words),
        (|c| table(c).offset = 8, words),
        (|c| table(c).offset = u64::MAX, words),
        (|c| c.manifest.kernels[0].reads[2] = 4, "kernel `baked` reads what there is no record of"),
        (|c| c.ptx[0].baked[1].0 = 9, place),
        (|c| c.ptx[0].baked[1].0 = 0, place),
        (|c| c.ptx[0].baked[1].1 = u64::MAX, place),
        (|c| c.ptx[0].baked[1].1 += 1, place),
        (|c| c.ptx[0].baked[1].1 = 16, place),
        (|c| c.ptx.push(c.ptx[0].clone()), "its PTX is not by rising architecture"),
        (|c| c.manifest.kernels[1].size = 11, parameters),
        (|c| c.manifest.kernels[1].size = 1 << 50, parameters),
        (|c| c.manifest.kernels[1].align = 3, parameters),
        (|c| c.manifest.kernels[1].align = 1 << 40, parameters),
        (|c| c.manifest.kernels[1].params[0].offset = u64::MAX, parameters),
        (|c| c.manifest.records[2].offset = 8, site),
        (|c| c.manifest.records[0].offset = u64::MAX - 7, site),
        (|c| c.manifest.records[2].name = "value#global".into(), site),
        (|c| c.manifest.records[2].name.clear(), site),
        (|c| c.manifest.records.swap(2, 3), "its records `limit` and `gain` are out of order"),
        (|c| c.manifest.records[3].name = "gain".into(), "its records `gain` and `gain` are out of order"),
        (|c| (c.manifest.records[1].site, c.manifest.records[0].offset) = (Site::Slot, 0), site),
        (|c| _ = c.manifest.records.pop(), "3 records, but 4 words in its host table and 4 sources"),
        (|c| _ = c.source_map.records.pop(), "4 records, but 4 words in its host table and 3 sources"),
        (|c| _ = c.source_map.kernels.pop(), "3 kernels, but 2 sources of them"),
    ];
    for (number, (change, expected)) in cases.iter().enumerate() {
        let said = refusal(change);
        assert!(said.contains(expected) && said.contains("build it again"), "case {number}: {said}");
    }
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let said = refusal(|c| {
        c.manifest.kernels[1].align = 0;
        c.ptx[0].baked[0].0 = 7;
    });
    assert!(said.contains("kernel `patched`") && said.contains("sm_75"), "{said}");
}

/// Ten thousand containers with damaged bytes and a checksum that says that they are whole: each is refused, or can be used.
#[test]
fn whatever_is_read_can_be_used() {
    let whole = encode(&sound());
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut refused = 0;
    for _ in 0..10_000 {
        let mut bytes = whole.clone();
        for _ in 0..=next(4) {
            let at = CONTAINER_HEADER + next(bytes.len() - CONTAINER_HEADER);
            match next(4) {
                0 => bytes[at] = next(256) as u8,
                1 => bytes[at] ^= 1 << next(8),
                2 => _ = bytes.remove(at),
                _ => bytes.insert(at, [0, 1, 0x7f, 0x80, 0xff][next(5)]),
            }
        }
        let body = bytes.split_off(CONTAINER_HEADER);
        bytes[12..16].copy_from_slice(&checksum(&body).to_le_bytes());
        bytes[16..24].copy_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend(body);
        let Ok(image) = read(&bytes) else {
            refused += 1;
            continue;
        };
        let manifest = &image.container.manifest;
        let words = by_site(&image, &vec![7; manifest.records.len()]);
        assert_eq!(words.all.len(), manifest.records.len());
        for kernel in &manifest.kernels {
            let (size, align) = kernel.block();
            assert!(size <= 1 << 21 && align.is_power_of_two());
        }
        _ = image.name();
    }
    assert!((1_000..10_000).contains(&refused), "{refused} refused");
}

extern "C-unwind" fn one() -> u64 {
    1
}

#[test]
fn an_image_without_its_host_words_belongs_to_another_program() {
    assert!(image(&[]).is_complete() && image(&[Item::Value("a", one)]).is_complete());
    assert!(!image(&[Item::Value("a", one), Item::Null("b")]).is_complete());
}
