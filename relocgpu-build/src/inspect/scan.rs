//! Finds the containers of a file: archive members, sections, containers back to back.

use super::{Contents, Fault, Image, Input, Object};
use object::read::archive::ArchiveFile;
use object::read::{FileKind, ReadCacheRange, ReadRef};
use object::{Object as _, ObjectSection, ObjectSymbol};
use relocgpu_runtime::contract::image::{CONTAINER_ALIGN, DecodeError, decode, extent};
use relocgpu_runtime::contract::names::CONTAINER_SECTION;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{Read, Seek};

/// Archives inside archives, as rustc bundles them; deeper ones are not looked into.
const ARCHIVE_DEPTH: usize = 3;

pub(super) fn run<S: Read + Seek>(input: &Input<S>) -> Contents<'_> {
    let mut scan = Scan { input, contents: Contents::default(), section_bytes: 0 };
    let whole = (0, input.length);
    match kind(input, whole) {
        Some(FileKind::Archive) => scan.archive(whole, &input.name, ARCHIVE_DEPTH),
        Some(_) => drop(scan.object(whole, None)),
        None => scan.fault(format!(
            "`{}` is neither an ELF executable, library or object nor an archive; name what cargo built for Linux",
            printable(&input.name)
        )),
    }
    scan.contents
}

/// Text from a file, safe for a terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}

fn kind<S: Read + Seek>(input: &Input<S>, (at, size): (u64, u64)) -> Option<FileKind> {
    FileKind::parse(input.cache.range(at, size)).ok()
}

fn whole_object<'a, S: Read + Seek>(input: &'a Input<S>, member: &Member) -> Option<Object<'a>> {
    let bytes = input.cache.range(member.range.0, member.range.1).read_bytes_at(0, member.range.1).ok()?;
    Some(Object { name: member.name.clone(), bytes })
}

struct Scan<'a, S: Read + Seek> {
    input: &'a Input<S>,
    contents: Contents<'a>,
    /// Bytes of all sections read so far.
    section_bytes: u64,
}

/// An object in an archive, as far as linking is concerned.
struct Member<'a> {
    name: String,
    range: (u64, u64),
    defines: Vec<&'a [u8]>,
    needs: Vec<&'a [u8]>,
    /// Indices of its images.
    images: std::ops::Range<usize>,
}

type Elf<'a, S> = object::File<'a, ReadCacheRange<'a, S>>;

impl<'a, S: Read + Seek> Scan<'a, S> {
    fn fault(&mut self, message: String) {
        self.contents.faults.push(Fault(message));
    }

    fn archive(&mut self, (start, size): (u64, u64), name: &str, depth: usize) {
        let data = self.input.cache.range(start, size);
        let damaged = |what: object::read::Error| format!("`{}` is a damaged archive ({what}); build it again", printable(name));
        let archive = match ArchiveFile::parse(data) {
            Ok(archive) => archive,
            Err(what) => return self.fault(damaged(what)),
        };
        if archive.is_thin() {
            return self.fault(format!("`{}` is a thin archive, which holds names only; inspect the objects it names", printable(name)));
        }
        let mut members = Vec::new();
        for member in archive.members() {
            let member = match member {
                Ok(member) => member,
                Err(what) => return self.fault(damaged(what)),
            };
            let (at, size) = member.file_range();
            let Some(range) = start.checked_add(at).map(|at| (at, size)) else { continue };
            let member = String::from_utf8_lossy(member.name()).into_owned();
            match kind(self.input, range) {
                Some(FileKind::Archive) if depth > 0 => self.archive(range, &member, depth - 1),
                Some(FileKind::Archive) | None => {}
                Some(_) => members.extend(self.member(range, member)),
            }
        }
        self.join_native_objects(&members);
    }

    /// Reads one object of an archive; `None` if nothing can be said about its symbols.
    fn member(&mut self, range: (u64, u64), name: String) -> Option<Member<'a>> {
        let before = self.contents.images.len();
        let file = self.object(range, Some(&name))?;
        let images = before..self.contents.images.len();
        let mut member = Member { name, range, defines: Vec::new(), needs: Vec::new(), images };
        for symbol in file.symbols().filter(|symbol| !symbol.is_local()) {
            let Ok(name) = symbol.name_bytes() else { continue };
            if symbol.is_undefined() { &mut member.needs } else { &mut member.defines }.push(name);
        }
        Some(member)
    }

    /// An image's native code lies in its own object and in those that define what it refers to, host items excepted:
    /// they are defined by the program.
    fn join_native_objects(&mut self, members: &[Member<'a>]) {
        let mut definitions = HashMap::new();
        for (index, member) in members.iter().enumerate() {
            for name in &member.defines {
                definitions.entry(*name).or_insert(index);
            }
        }
        for (index, member) in members.iter().enumerate().filter(|(_, member)| !member.images.is_empty()) {
            let images = &mut self.contents.images[member.images.clone()];
            let host: HashSet<&[u8]> =
                images.iter().flat_map(|image| &image.container.source_map.records).map(|record| record.symbol.as_bytes()).collect();
            let native = member.needs.iter().filter(|name| !host.contains(*name)).filter_map(|name| definitions.get(name));
            let wanted: BTreeSet<usize> = native.copied().filter(|&other| members[other].images.is_empty()).chain([index]).collect();
            let objects: Vec<_> = wanted.into_iter().filter_map(|index| whole_object(self.input, &members[index])).collect();
            images.iter_mut().for_each(|image| image.objects = objects.clone());
        }
    }

    fn object(&mut self, range: (u64, u64), member: Option<&str>) -> Option<Elf<'a, S>> {
        let name = printable(member.unwrap_or(&self.input.name));
        let data = self.input.cache.range(range.0, range.1);
        let file = match object::File::parse(data) {
            Ok(file) => file,
            Err(what) => {
                self.fault(format!("`{name}` is damaged ({what}); build it again"));
                return None;
            }
        };
        if file.sections().next().is_none() {
            self.fault(format!("`{name}` has no section headers, by which images are found; strip it with `strip`, which keeps them"));
        }
        let before = self.contents.images.len();
        for section in file.sections() {
            // A section whose name cannot be read is not ours.
            if section.name_bytes().is_ok_and(|name| name == CONTAINER_SECTION.as_bytes()) {
                self.section(&name, member, &section);
            }
        }
        if member.is_none() && file.kind() == object::ObjectKind::Relocatable {
            let bytes = data.read_bytes_at(0, range.1).unwrap_or_default();
            let object = Object { name: self.input.name.clone(), bytes };
            self.contents.images[before..].iter_mut().for_each(|image| image.objects = vec![object.clone()]);
        }
        Some(file)
    }

    fn section(&mut self, name: &str, member: Option<&str>, section: &object::Section<'a, '_, ReadCacheRange<'a, S>>) {
        let place = format!("section {CONTAINER_SECTION} of `{name}`");
        // Sections of a sound file lie side by side. Overlapping ones would make a small file cost a lot of memory.
        self.section_bytes = self.section_bytes.saturating_add(section.size());
        if self.section_bytes > self.input.length {
            return self.fault(format!("{place} overlaps others or passes the end of the file; build it again"));
        }
        let bytes = match section.data() {
            Ok(bytes) => bytes,
            Err(what) => return self.fault(format!("{place} cannot be read ({what}); build it again")),
        };
        if bytes.is_empty() && section.size() > 0 {
            return self.fault(format!("{place} has no contents, as in a file with debug information only; inspect the program itself"));
        }
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            if rest.iter().take(CONTAINER_ALIGN).all(|&byte| byte == 0) {
                at += CONTAINER_ALIGN;
                continue;
            }
            let result = decode(rest);
            match result {
                Ok((container, _)) => self.contents.images.push(Image {
                    name: String::new(),
                    member: member.map(str::to_owned),
                    container,
                    objects: Vec::new(),
                }),
                Err(DecodeError::NotAnImage) => {
                    return self.fault(format!("{place}, byte {at}: {}; link it again", DecodeError::NotAnImage));
                }
                Err(error) => self.fault(format!("{place}, byte {at}: {error}")),
            }
            let Some(end) = extent(rest).and_then(|n| usize::try_from(n).ok()).and_then(|n| at.checked_add(n)) else { return };
            at = end.saturating_add(CONTAINER_ALIGN - 1) / CONTAINER_ALIGN * CONTAINER_ALIGN;
        }
    }
}
