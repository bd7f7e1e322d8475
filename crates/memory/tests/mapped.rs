//! Files as vectors, where `PlacedAlloc` is the global allocator. One test: it counts the mappings of the process.
#![allow(clippy::unwrap_used, reason = "a helper of a test is test code")]

use std::fs::File;
use std::io::{ErrorKind, Write};
use zerohop_memory::{FileMapping, LARGE, Placed, PlacedAlloc, mapped, populate};
use zerohop_model::machine::NodeId;
use zerohop_model::plan::{HugePages, Pages, Placement};

#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

const PAGE: usize = 1 << 16;

/// How many mappings of the process are of `file`, and all the lines of `/proc/self/maps`.
fn mappings(name: &str) -> usize {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().filter(|line| line.ends_with(name)).count()
}

fn words(file: &File, offset: usize, count: usize) -> std::io::Result<Vec<u64>> {
    // SAFETY: no vector below is written or resized, and the file is not changed while there is one.
    unsafe { mapped(file, offset as u64, count) }
}

#[test]
fn a_file_is_a_vector_that_is_given_back() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let name = file.path().to_string_lossy().into_owned();
    let count = (3 * LARGE + 24) / 8;
    let all: Vec<u64> = (0..(PAGE / 8 + count) as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    all.iter().for_each(|word| file.write_all(&word.to_ne_bytes()).unwrap());
    file.flush().unwrap();
    let placement = Placement { nodes: vec![NodeId(0)], pages: Pages::FirstTouch, huge_pages: HugePages::Auto };
    let placed = Placed::new(&placement);
    for offset in [0, PAGE] {
        for _ in 0..3 {
            let mapped = placed.run(|| words(file.as_file(), offset, count).unwrap());
            assert_eq!((mapped.len(), mapped.capacity()), (count, count));
            assert_eq!(mappings(&name), 1);
            assert!(mapped[..] == all[offset / 8..][..count]);
            if let Ok(census) = placed.census() {
                assert!(census.pages.present.0 >= 3 * LARGE as u64, "{census:?}");
            }
            // A neighbour stays what it is when the mapping has gone.
            let neighbour = vec![7u8; LARGE];
            let elsewhere = std::thread::spawn(move || drop(mapped));
            elsewhere.join().unwrap();
            assert_eq!(mappings(&name), 0);
            assert!(neighbour.iter().all(|&byte| byte == 7));
            assert!(placed.census().is_ok_and(|census| census.pages.present.0 == 0) || placed.census().is_err());
        }
    }
    let kind = |offset, count| words(file.as_file(), offset, count).unwrap_err().kind();
    assert_eq!(kind(0, LARGE / 8 - 1), ErrorKind::Unsupported, "too small");
    assert_eq!(kind(8, count), ErrorKind::Unsupported, "not at a page");
    assert_eq!(kind(0, usize::MAX), ErrorKind::Unsupported, "too large");
    assert_eq!(kind(2 * PAGE, count), ErrorKind::UnexpectedEof, "beyond the file");
    a_file_is_mapped_at_a_huge_page(file.as_file(), &name);
    assert_eq!(mappings(&name), 0);
}

fn a_file_is_mapped_at_a_huge_page(file: &File, name: &str) {
    let bytes = file.metadata().unwrap().len() as usize;
    for map in [FileMapping::read, FileMapping::write] {
        let mapping = map(file, bytes - 1).unwrap();
        assert_eq!((mapping.bytes(), mapping.start().addr().get() % (2 << 20)), (bytes - 1, 0));
        assert_eq!(mappings(name), 1);
        mapping.populate(3);
        // Only files in memory, and not with every kernel.
        let _moved = mapping.collapse();
        // SAFETY: so many bytes are mapped, and nobody writes.
        let whole = unsafe { std::slice::from_raw_parts(mapping.start().as_ptr(), mapping.bytes()) };
        assert!(whole[8..16] == 0x9E37_79B9_7F4A_7C15_u64.to_ne_bytes());
    }
    assert_eq!(mappings(name), 0);
    for threads in 0..3 {
        populate(&[], threads);
        populate(&[1; 10], threads);
    }
    let kind = |bytes| FileMapping::read(file, bytes).unwrap_err().kind();
    assert_eq!((kind(bytes + 1), kind(0)), (ErrorKind::UnexpectedEof, ErrorKind::InvalidInput));
    assert_eq!(kind(usize::MAX), ErrorKind::InvalidInput);
}
