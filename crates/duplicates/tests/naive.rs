//! The choice among signatures, against the programs' own ways. samtools: records one after the other in the order of
//! coordinates, with a table of pairs and one of ends (bam_markdup.c, bam_mark_duplicates). Picard: lists of pairs and
//! of ends that are sorted by all that they hold (MarkDuplicates, generateDuplicateIndexes).
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use zerohop_duplicates::{ChunkCounts, Decision, Fragment, LibraryCounts, Primary, Rules, Search, Signatures};
use zerohop_model::record::{CigarOp, FIRST, LAST, PAIRED, QC_FAIL, REVERSE, UNMAPPED};
use zerohop_model::sink::Collect;
use zerohop_sort::{Ordinal, Store};

#[derive(Debug, Clone)]
struct Read {
    flags: u16,
    contig: i32,
    position: i32,
    cigar: Vec<CigarOp>,
    qual: Vec<u8>,
}

/// A read as it is in a table.
#[derive(Debug, Clone)]
struct Seen {
    number: usize,
    has_mate: bool,
    score: u64,
    name: String,
}

impl Read {
    fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    fn order(&self) -> u64 {
        (self.contig as u64) << 32 | (self.position as u64 + 1) << 1 | u64::from(self.is(REVERSE))
    }

    fn score(&self) -> u64 {
        self.qual.iter().map(|q| u64::from(q - 33)).filter(|q| *q >= 15).sum()
    }

    fn start(&self) -> i64 {
        let clipped: u32 = self.cigar.iter().take_while(|op| b"SH".contains(&op.letter())).map(|op| op.length()).sum();
        i64::from(self.position) + 1 - i64::from(clipped)
    }

    fn end(&self) -> i64 {
        let before = self.cigar.iter().take_while(|op| b"SH".contains(&op.letter())).count();
        let behind = self.cigar[before..].iter().filter(|op| op.letter() != b'I');
        i64::from(self.position) + behind.map(|op| i64::from(op.length())).sum::<i64>()
    }

    fn end_key(&self) -> (i32, i64, bool) {
        (self.contig, if self.is(REVERSE) { self.end() } else { self.start() }, self.is(REVERSE))
    }

    /// make_pair_key, branch for branch.
    fn pair_key(&self, mate: &Read) -> (i32, i64, i32, i64, bool, &'static str) {
        let (mut this_at, mut other_at) = (self.start(), mate.start());
        let (rev, mrev, first) = (self.is(REVERSE), mate.is(REVERSE), self.is(FIRST));
        let left = if self.contig != mate.contig {
            self.contig < mate.contig
        } else if rev == mrev {
            if !rev { self.start() <= mate.start() } else { self.end() <= mate.end() }
        } else if rev {
            self.end() <= mate.start()
        } else {
            self.start() <= mate.end()
        };
        let orientation;
        if left {
            if rev == mrev {
                other_at = mate.end();
                orientation = if rev != first { "FF" } else { "RR" };
            } else if !rev {
                orientation = "FR";
                other_at = mate.end();
            } else {
                orientation = "RF";
                this_at = self.end();
            }
        } else if rev == mrev {
            this_at = self.end();
            orientation = if rev != first { "RR" } else { "FF" };
        } else if !rev {
            orientation = "RF";
            other_at = mate.end();
        } else {
            orientation = "FR";
            this_at = self.end();
        }
        (self.contig, this_at, mate.contig, other_at, left, orientation)
    }
}

/// Numbers of the records that samtools marks.
fn naive(fragments: &[(String, Vec<Read>)]) -> Vec<usize> {
    let mut all = Vec::new();
    for (name, reads) in fragments {
        for (at, read) in reads.iter().enumerate() {
            let mate = (reads.len() == 2).then(|| &reads[1 - at]).filter(|mate| !mate.is(UNMAPPED));
            all.push((read.order(), all.len(), name, read, mate));
        }
    }
    all.sort_by_key(|(order, number, ..)| (*order, *number));
    let (mut pairs, mut ends, mut marked) = (HashMap::new(), HashMap::<_, Seen>::new(), Vec::new());
    for (_, number, name, read, mate) in all {
        if read.is(UNMAPPED | QC_FAIL) {
            continue;
        }
        let own = Seen { number, has_mate: mate.is_some(), score: read.score(), name: name.clone() };
        match ends.entry(read.end_key()) {
            Entry::Vacant(entry) => {
                entry.insert(own.clone());
            }
            Entry::Occupied(mut entry) => match (own.has_mate, entry.get().has_mate) {
                (true, true) => {}
                (true, false) => marked.push(entry.insert(own.clone()).number),
                (false, true) => marked.push(number),
                (false, false) if own.score > entry.get().score => marked.push(entry.insert(own.clone()).number),
                (false, false) => marked.push(number),
            },
        }
        let Some(mate) = mate else { continue };
        let own = Seen { score: read.score() + mate.score(), ..own };
        match pairs.entry(read.pair_key(mate)) {
            Entry::Vacant(entry) => {
                entry.insert(own);
            }
            Entry::Occupied(mut entry) => {
                let (old, new): (&Seen, &Seen) = (entry.get(), &own);
                match new.score > old.score || new.score == old.score && new.name < old.name {
                    true => marked.push(entry.insert(own).number),
                    false => marked.push(number),
                }
            }
        }
    }
    marked.sort_unstable();
    marked.dedup();
    marked
}

/// An end in Picard's lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    library: u16,
    contig: i32,
    at: i64,
    orientation: &'static str,
    second: Option<(i32, i64)>,
    location: (i16, i32, i32),
    place: (u64, usize),
    second_number: usize,
    score: i16,
}

/// The library of a fragment, by its name.
fn library(name: &str) -> u16 {
    u16::from(name.starts_with('b'))
}

/// Numbers of the records that Picard marks.
fn naive_picard(fragments: &[(String, Vec<Read>)]) -> Vec<usize> {
    let (mut ends, mut pairs, mut number) = (Vec::new(), Vec::new(), 0);
    for (name, reads) in fragments {
        let fields: Vec<&str> = name.split(':').collect();
        let location = match fields[..] {
            [_, _, tile, x, y] => (tile.parse().unwrap(), x.parse().unwrap(), y.parse().unwrap()),
            _ => (-1, -1, -1),
        };
        let mut own = Vec::new();
        for (at, read) in reads.iter().enumerate() {
            let mate = (reads.len() == 2).then(|| &reads[1 - at]).filter(|mate| !mate.is(UNMAPPED));
            let (contig, begin, reverse) = read.end_key();
            let failed = if read.is(QC_FAIL) { 16384 } else { 0 };
            let end = End {
                library: library(name),
                contig,
                at: begin,
                orientation: if reverse { "R" } else { "F" },
                second: mate.map(|mate| (mate.contig, -1)),
                location,
                place: (read.order(), number),
                second_number: 0,
                score: (read.score() as i64 - failed) as i16,
            };
            if !read.is(UNMAPPED) {
                ends.push(end.clone());
                own.extend(mate.map(|_| end));
            }
            number += 1;
        }
        own.sort_by_key(|end| (end.contig, end.at, end.place));
        let [first, second] = &own[..] else { continue };
        let orientation = match (first.orientation, second.orientation) {
            ("F", "F") => "FF",
            ("R", "R") => "RR",
            ("R", "F") if (first.contig, first.at) != (second.contig, second.at) => "RF",
            _ => "FR",
        };
        let (second_at, second_number) = (Some((second.contig, second.at)), second.place.1);
        let score = first.score + second.score;
        pairs.push(End { orientation, second: second_at, second_number, score, ..first.clone() });
    }
    let mut marked = Vec::new();
    pairs.sort();
    for set in pairs.chunk_by(|a, b| {
        (a.library, a.contig, a.at, a.orientation, a.second) == (b.library, b.contig, b.at, b.orientation, b.second)
    }) {
        for end in set.iter().filter(|end| **end != *first_best(set.iter())) {
            marked.extend([end.place.1, end.second_number]);
        }
    }
    ends.sort();
    for set in
        ends.chunk_by(|a, b| (a.library, a.contig, a.at, a.orientation) == (b.library, b.contig, b.at, b.orientation))
    {
        let singles = set.iter().filter(|end| end.second.is_none());
        let has_pairs = set.iter().any(|end| end.second.is_some());
        let stays = (!has_pairs).then(|| first_best(singles.clone()));
        marked.extend(singles.filter(|end| stays.is_none_or(|stays| stays != *end)).map(|end| end.place.1));
    }
    marked.sort_unstable();
    marked
}

/// The first of those with the highest score.
fn first_best<'e>(ends: impl Iterator<Item = &'e End>) -> &'e End {
    ends.reduce(|best, end| if end.score > best.score { end } else { best }).unwrap()
}

/// Numbers of the records that are marked here, with so many fragments in a chunk and so much memory.
fn marked(rules: Rules, fragments: &[(String, Vec<Read>)], in_chunk: usize, memory: u64) -> Vec<usize> {
    let folder = tempfile::tempdir().unwrap();
    let (store, counts) = (Store::new(memory, folder.path().to_owned()), ChunkCounts::default());
    let (mut collector, mut signatures, mut ordinals) = (store.collector(), Signatures::new(rules), Vec::new());
    for (chunk, fragments) in fragments.chunks(in_chunk).enumerate() {
        signatures.clear();
        let mut record = 0;
        for (name, reads) in fragments {
            let fragment = Fragment { name: name.as_bytes(), library: library(name), read_group: 0 };
            signatures.begin_fragment(fragment).unwrap();
            for read in reads {
                let (place, quality) = ((read.contig, read.position), (&read.qual[..], read.qual.len()));
                signatures.add(Primary::new(read.flags, place, &read.cigar, quality, read.order(), record));
                ordinals.push(Ordinal::first_of(chunk as u64).unwrap().with_record(record));
                record += 1;
            }
        }
        collector.add(chunk as u64, signatures.frames().unwrap()).unwrap();
        let mut stored = Vec::new();
        signatures.put_counts(&mut stored);
        counts.add(chunk as u64, record, &stored);
    }
    collector.finish().unwrap();
    let decision = Decision::new(store.parts(1 << 20), &counts, Search { rules, optical_distance: None });
    let mut found = decision.examined();
    found += decision.decide(0..decision.count()).unwrap();
    let marks = decision.into_marks();
    let marked: Vec<usize> = (0..ordinals.len()).filter(|&number| marks.is_marked(ordinals[number])).collect();
    let LibraryCounts { paired, single, unmapped, paired_duplicates, single_duplicates, .. } = found.total();
    assert_eq!(paired_duplicates + single_duplicates, marked.len() as u64);
    let failed = fragments.iter().flat_map(|(_, reads)| reads).filter(|read| read.is(QC_FAIL)).count() as u64;
    let ignored = if rules == Rules::Samtools { failed } else { 0 };
    assert_eq!(paired + single + unmapped + ignored, ordinals.len() as u64);
    let in_sets = |(size, sets): (&u64, &zerohop_duplicates::Sets)| size * sets.all;
    if ignored == 0 {
        assert_eq!(found.sets.iter().map(in_sets).sum::<u64>(), paired / 2);
    }
    marked
}

fn read(paired: u16) -> impl Strategy<Value = Read> {
    let cigar = prop::sample::select(vec!["5M", "3S2M", "2M3S", "1H2S2M1I1M", "2M2D2M1S2H", "4M"]);
    let flags = prop::sample::select(vec![0, 0, 0, UNMAPPED, QC_FAIL]);
    let qual = prop::collection::vec(prop::sample::select(vec![b'#', b'5', b'?']), 3);
    (0i32..2, 3i32..7, any::<bool>(), cigar, flags, qual).prop_map(
        move |(contig, position, reverse, cigar, odd, qual)| {
            let flags = paired | odd | if reverse { REVERSE } else { 0 };
            let mut numbers = cigar.split_inclusive(|letter: char| letter.is_ascii_alphabetic());
            let op = |op: &str| CigarOp::new(op[..op.len() - 1].parse().unwrap(), op.as_bytes()[op.len() - 1]).unwrap();
            Read { flags, contig, position, cigar: numbers.by_ref().map(op).collect(), qual }
        },
    )
}

fn fragment() -> impl Strategy<Value = (String, Vec<Read>)> {
    let pair = (read(PAIRED | FIRST), read(PAIRED | LAST)).prop_map(|(one, two)| vec![one, two]);
    let single = read(0).prop_map(|read| vec![read]);
    ("[a-c]{1,2}(:1:[12]:[12]:[12])?", prop_oneof![3 => pair, 1 => single])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn marks_are_those_of_the_programs(
        fragments in prop::collection::vec(fragment(), 0..60),
        in_chunk in 1usize..9,
        memory in prop::sample::select(vec![0u64, 500, 1 << 20]),
    ) {
        prop_assert_eq!(marked(Rules::Samtools, &fragments, in_chunk, memory), naive(&fragments));
        prop_assert_eq!(marked(Rules::Picard, &fragments, in_chunk, memory), naive_picard(&fragments));
    }
}
