//! Whatever the chunks, the threads, the memory and the parts: records come as a stable sort of the input gives them.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use zerohop_model::error::Error;
use zerohop_model::sink::Collect;
use zerohop_sort::{KeyRef, RunStore, push_frame};

/// A key, and how much its record holds beside its number.
type Record = (Vec<u8>, usize);
/// The keys and records of a chunk.
type Chunk = Vec<(Vec<u8>, Vec<u8>)>;

fn frames(records: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (key, record) in records {
        push_frame(&mut out, key, |out| {
            out.extend_from_slice(record);
            Ok(())
        })
        .unwrap();
    }
    out
}

/// Records with their numbers in them.
fn numbered(chunks: &[Vec<Record>]) -> Vec<Chunk> {
    let mut number = 0u32;
    let mut record = |(key, length): &Record| {
        number += 1;
        let mut record = number.to_le_bytes().to_vec();
        record.resize(4 + length, number as u8);
        // No key is the beginning of another one.
        (key.iter().map(|byte| byte + 1).chain([0]).collect(), record)
    };
    chunks.iter().map(|chunk| chunk.iter().map(&mut record).collect()).collect()
}

/// All parts as they come out, by so many collectors, with so much memory; and how much was spilled.
fn sorted(chunks: &[Chunk], collectors: usize, memory: u64) -> (Vec<Vec<Vec<u8>>>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(memory, folder.path().to_owned());
    let mut all: Vec<_> = (0..collectors).map(|_| store.collector()).collect();
    for (number, chunk) in chunks.iter().enumerate().rev() {
        all[number * 7 % collectors].add(number as u64, &frames(chunk)).unwrap();
    }
    all.iter_mut().for_each(|collector| collector.finish().unwrap());
    drop(all);
    let parts = store.parts(1 << 20);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a file has a name");
    let (mut in_a_row, mut out) = (parts.merger(), vec![Vec::new(); parts.count()]);
    // Backwards, and in a row: both are the same.
    for (part, out) in out.iter_mut().enumerate().rev() {
        let push = |_: KeyRef<'_>, record: &[u8]| {
            out.push(record.to_vec());
            Ok(())
        };
        parts.merger().part(part, push).unwrap();
    }
    for (part, out) in out.iter().enumerate() {
        let mut expected = out.iter();
        let same = |_: KeyRef<'_>, record: &[u8]| {
            assert!(expected.next().is_some_and(|expected| expected == record));
            Ok(())
        };
        in_a_row.part(part, same).unwrap();
        assert!(expected.next().is_none());
    }
    (out, store.spilled_bytes())
}

fn naive(chunks: &[Chunk]) -> Vec<Vec<u8>> {
    let mut all: Vec<_> = chunks.concat();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.into_iter().map(|(_, record)| record).collect()
}

fn chunks(most: usize) -> impl Strategy<Value = Vec<Vec<Record>>> {
    let record = (prop::collection::vec(0u8..3, 0..12), 0usize..60);
    prop::collection::vec(prop::collection::vec(record, 0..most), 0..12)
}

proptest! {
    #[test]
    fn records_come_in_order(chunks in chunks(60), collectors in 1usize..4, memory in 0u64..20_000) {
        let chunks = numbered(&chunks);
        prop_assert_eq!(sorted(&chunks, collectors, memory).0.concat(), naive(&chunks));
        let (in_memory, spilled) = sorted(&chunks, collectors, 1 << 30);
        prop_assert_eq!((in_memory.concat(), spilled), (naive(&chunks), 0));
    }
}

#[test]
fn many_parts_of_many_runs() {
    let mut seed = 7u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed >> 8
    };
    let record = |next: &mut dyn FnMut() -> u32| {
        // Some keys are frequent, and some records larger than a block.
        let key = if next().is_multiple_of(5) { 12 } else { next() % 100_000 };
        let length = if next().is_multiple_of(4_000) { 200_000 } else { next() % 300 };
        (key.to_be_bytes().map(|byte| byte / 2).to_vec(), length as usize)
    };
    let chunks: Vec<Vec<Record>> = (0..60).map(|_| (0..400).map(|_| record(&mut next)).collect()).collect();
    let chunks = numbered(&chunks);
    let (parts, _) = sorted(&chunks, 1, 1 << 30);
    assert!(parts.concat() == naive(&chunks));
    for (memory, is_spilled) in [(300_000, true), (3_000_000, true), (1 << 30, false)] {
        for collectors in [1, 3] {
            let (same, spilled) = sorted(&chunks, collectors, memory);
            assert!(same == parts, "{memory} bytes, {collectors} collectors");
            assert_eq!(spilled > 0, is_spilled);
        }
    }
}

#[test]
fn parts_hold_neighbouring_keys_and_are_many() {
    let records: Vec<_> = (0..200_000u32).map(|key| (key.to_be_bytes().to_vec(), vec![0; 96])).collect();
    let (parts, _) = sorted(&[records], 1, 1 << 30);
    let counts: Vec<usize> = parts.iter().map(Vec::len).collect();
    assert!(counts.len() > 12 && counts.iter().all(|&count| (1..30_000).contains(&count)), "{counts:?}");
}

/// How many parts have records with each key.
fn parts_of_keys(parts: &zerohop_sort::RecordParts) -> Vec<(Vec<u8>, usize)> {
    let mut seen: Vec<(Vec<u8>, usize)> = Vec::new();
    for part in 0..parts.count() {
        let mut of_part: Vec<Vec<u8>> = Vec::new();
        let see = |_: KeyRef<'_>, record: &[u8]| {
            of_part.push(record[..1].to_vec());
            Ok(())
        };
        parts.merger().part(part, see).unwrap();
        of_part.dedup();
        for key in of_part {
            match seen.last_mut() {
                Some((last, parts)) if *last == key => *parts += 1,
                _ => seen.push((key, 1)),
            }
        }
    }
    seen
}

#[test]
fn equal_keys_are_in_one_part_where_that_is_wanted() {
    let records: Vec<_> =
        (0..90_000u32).map(|number| (vec![(number % 3) as u8], vec![(number % 3) as u8; 96])).collect();
    let of = |records: &[(Vec<u8>, Vec<u8>)]| {
        let store = RunStore::new(1 << 30, ".".into());
        let mut collector = store.collector();
        collector.add(0, &frames(records)).unwrap();
        collector.finish().unwrap();
        store.parts(1 << 20)
    };
    assert!(parts_of_keys(&of(&records)).iter().any(|(_, parts)| *parts > 1));
    let grouped = parts_of_keys(&of(&records).of_groups());
    assert!(grouped.len() == 3 && grouped.iter().all(|(_, parts)| *parts == 1), "{grouped:?}");
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let store = RunStore::new(1, "/nowhere".into());
    let mut collector = store.collector();
    let chunk = frames(&[(vec![1], vec![2; 100])]);
    collector.add(0, &chunk).unwrap();
    match collector.add(1, &chunk) {
        Err(Error::Spill { folder, .. }) => assert_eq!(folder.to_str(), Some("/nowhere")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_frame_is_refused() {
    let store = RunStore::new(1 << 20, ".".into());
    let chunk = frames(&[(vec![1], vec![2; 100])]);
    for length in 1..chunk.len() {
        assert!(store.collector().add(0, &chunk[..length]).is_err(), "{length}");
    }
}
