//! Runs that several processes have kept, some of them in vain: they come as one sort of what was finished gives them.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use zerohop_model::error::Error;
use zerohop_model::sink::Collect;
use zerohop_sort::{KeyRef, RecordParts, RunFolder, RunStore, push_frame};

fn kept(folder: &Path, attempt: usize, rank: usize) -> RunFolder {
    RunFolder { folder: folder.to_owned(), kind: "records", attempt, rank }
}

/// The frames of a chunk: keys, with records that name chunk and place.
fn frames(number: u64, keys: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let record = |out: &mut Vec<u8>| {
            out.extend_from_slice(format!("{number}.{at} {}", "x".repeat(usize::from(*key) * 200)).as_bytes());
            Ok(())
        };
        push_frame(&mut out, &[*key, 0], record).unwrap();
    }
    out
}

/// Has one process keep these chunks, and says which of them it knows to be kept.
fn keep(folder: &Path, (attempt, rank): (usize, usize), chunks: &[(u64, Vec<u8>)], memory: u64) -> Vec<u64> {
    let store = RunStore::kept(memory, kept(folder, attempt, rank));
    let (mut threads, mut known) = ([store.collector(), store.collector()], Vec::new());
    for (number, keys) in chunks {
        let thread = &mut threads[(number % 2) as usize];
        thread.add(*number, &frames(*number, keys)).unwrap();
        known.extend(thread.take_kept());
    }
    for thread in &mut threads {
        thread.finish().unwrap();
        known.extend(thread.take_kept());
    }
    known.sort_unstable();
    known
}

/// The records of each part.
fn records(parts: &RecordParts) -> Vec<Vec<String>> {
    let mut merger = parts.merger();
    let mut of_part = |part| {
        let mut out = Vec::new();
        let push = |_: KeyRef<'_>, record: &[u8]| {
            out.push(String::from_utf8_lossy(record).split(' ').next().unwrap().to_owned());
            Ok(())
        };
        merger.part(part, push).unwrap();
        out
    };
    (0..parts.count()).map(&mut of_part).collect()
}

/// The same, of one process that keeps nothing.
fn in_parts(chunks: &[Vec<u8>]) -> Vec<Vec<String>> {
    let store = RunStore::new(1 << 30, std::env::temp_dir());
    let mut collector = store.collector();
    (0..).zip(chunks).for_each(|(number, keys)| collector.add(number, &frames(number, keys)).unwrap());
    collector.finish().unwrap();
    records(&store.parts(1))
}

fn naive(chunks: &[Vec<u8>]) -> Vec<String> {
    let of_chunk = |(number, keys): (usize, &Vec<u8>)| {
        keys.iter().enumerate().map(move |(at, key)| (*key, number, at)).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = chunks.iter().enumerate().flat_map(of_chunk).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, number, at)| format!("{number}.{at}")).collect()
}

proptest! {
    #[test]
    fn what_was_finished_is_merged_by_anybody(
        chunks in prop::collection::vec(prop::collection::vec(0u8..20, 0..30), 1..20),
        // Where each attempt but the last ends, and how many chunks it did behind.
        ends in prop::collection::vec((0usize..20, 0usize..6), 0..3),
        ranks in 1usize..4,
        memory in prop_oneof![Just(1u64 << 30), 1u64..150_000],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let numbered: Vec<(u64, Vec<u8>)> = (0..).zip(chunks.iter().cloned()).collect();
        let (mut first, mut limits) = (0, Vec::new());
        for attempt in 0..=ends.len() {
            let (end, last) = match ends.get(attempt) {
                Some(&(end, behind)) => (end.clamp(first, chunks.len()), behind),
                None => (chunks.len(), 0),
            };
            let done = &numbered[first..(end + last).min(chunks.len())];
            for rank in 0..ranks {
                let own: Vec<_> = done.iter().skip(rank).step_by(ranks).cloned().collect();
                let known = keep(folder.path(), (attempt, rank), &own, memory);
                prop_assert_eq!(known, own.iter().map(|(number, _)| *number).collect::<Vec<_>>());
            }
            first = end;
            limits.push(end as u64);
        }
        limits.pop();
        for rank in [0, 7] {
            let store = RunStore::kept(memory, kept(folder.path(), limits.len(), rank));
            let noted = store.take_up(&limits, 0..chunks.len() as u64).unwrap();
            prop_assert_eq!(noted.len(), chunks.len());
            prop_assert_eq!(records(&store.parts(1)), in_parts(&chunks));
        }
        let all: Vec<String> = in_parts(&chunks).concat();
        prop_assert_eq!(all, naive(&chunks));
    }
}

#[test]
fn what_is_missing_or_there_twice_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let chunks: Vec<(u64, Vec<u8>)> = (0..4).map(|number| (number, vec![number as u8; 9])).collect();
    keep(folder.path(), (0, 0), &chunks[..2], 1 << 30);
    keep(folder.path(), (0, 1), &chunks[2..], 1 << 30);
    let take_up = |limits: &[u64], chunks| {
        let store = RunStore::kept(1 << 30, kept(folder.path(), 9, 0));
        match store.take_up(limits, 0..chunks) {
            Ok(noted) => Ok(noted.len()),
            Err(Error::Kept { source, .. }) => Err(source.to_string()),
            Err(other) => panic!("{other:?}"),
        }
    };
    assert_eq!(take_up(&[], 4), Ok(4));
    assert!(take_up(&[], 5).is_err_and(|words| words.contains("not those that were finished")));
    assert!(take_up(&[3], 4).is_err_and(|words| words.contains("--restart")));
    assert_eq!(take_up(&[3], 3), Ok(3));
    keep(folder.path(), (1, 0), &chunks[3..], 1 << 30);
    assert!(take_up(&[], 4).is_err_and(|words| words.contains("chunk 3 twice")));
    assert_eq!(take_up(&[3], 4), Ok(4));
    // An entry that was cut off is of a run that was not finished.
    let list = folder.path().join("sorting.records.1.0.list");
    OpenOptions::new().append(true).open(&list).unwrap().write_all(&[77, 0, 0, 0, 0, 0, 0, 0, 1]).unwrap();
    assert_eq!(take_up(&[3], 4), Ok(4));
    let whole = std::fs::read(&list).unwrap();
    std::fs::write(&list, &whole[..whole.len() - 10]).unwrap();
    assert!(take_up(&[3], 4).is_err());
}
