//! The choice among signatures, against the programs' own ways. samtools: records one after the other in the order of
//! coordinates, with a table of pairs and one of ends (bam_markdup.c, bam_mark_duplicates). Picard: lists of pairs and
//! of ends that are sorted by all that they hold (MarkDuplicates, generateDuplicateIndexes).
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use zerohop_duplicates::{ChunkCounts, Decision, LibraryCounts, NamedFragment, Primary, Rules, Search, Signatures};
use zerohop_model::record::{CigarOp, FIRST, LAST, PAIRED, QC_FAIL, REVERSE, UNMAPPED};
use zerohop_model::sink::Collect;
use zerohop_sort::{Ordinal, RunStore};

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

    /// Bases of the operations with these letters, from the last one on, as long as they have them.
    fn bases(&self, letters: &[u8], all: bool) -> i64 {
        let has = |op: &&CigarOp| letters.contains(&op.letter());
        let ops: Vec<_> = if all {
            self.cigar.iter().filter(has).collect()
        } else {
            self.cigar.iter().rev().take_while(has).collect()
        };
        ops.iter().map(|op| i64::from(op.length())).sum()
    }

    /// unclipped_end, with bam_endpos, which has no record end before it begins.
    fn end(&self) -> i64 {
        i64::from(self.position) + self.bases(b"MD", true).max(1) + self.bases(b"SH", false)
    }

    /// unclipped_other_end, step by step.
    fn end_as_mate(&self) -> i64 {
        let (mut at, mut skip) = (i64::from(self.position), true);
        for op in &self.cigar {
            match op.letter() {
                b'M' | b'D' => (at, skip) = (at + i64::from(op.length()), false),
                b'S' | b'H' if !skip => at += i64::from(op.length()),
                _ => {}
            }
        }
        at
    }

    /// getUnclippedEnd of htsjdk.
    fn end_of_picard(&self) -> i64 {
        i64::from(self.position) + self.bases(b"MD", true) + self.bases(b"SH", false)
    }

    fn end_key(&self, end: i64) -> (i32, i64, bool) {
        (self.contig, if self.is(REVERSE) { end } else { self.start() }, self.is(REVERSE))
    }

    /// make_pair_key, branch for branch.
    fn pair_key(&self, mate: &Read) -> (i32, i64, i32, i64, bool, &'static str) {
        let (mut this_at, mut other_at) = (self.start(), mate.start());
        let (rev, mrev, first) = (self.is(REVERSE), mate.is(REVERSE), self.is(FIRST));
        let left = if self.contig != mate.contig {
            self.contig < mate.contig
        } else if rev == mrev {
            if !rev { self.start() <= mate.start() } else { self.end() <= mate.end_as_mate() }
        } else if rev {
            self.end() <= mate.start()
        } else {
            self.start() <= mate.end_as_mate()
        };
        let orientation;
        if left {
            if rev == mrev {
                other_at = mate.end_as_mate();
                orientation = if rev != first { "FF" } else { "RR" };
            } else if !rev {
                orientation = "FR";
                other_at = mate.end_as_mate();
            } else {
                orientation = "RF";
                this_at = self.end();
            }
        } else if rev == mrev {
            this_at = self.end();
            orientation = if rev != first { "RR" } else { "FF" };
        } else if !rev {
            orientation = "RF";
            other_at = mate.end_as_mate();
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
        match ends.entry(read.end_key(read.end())) {
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
            let (contig, begin, reverse) = read.end_key(read.end_of_picard());
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
    let search = Search { rules, optical_distance: None, templates: false, umis: None };
    let folder = tempfile::tempdir().unwrap();
    let (store, counts) = (RunStore::new(memory, folder.path().to_owned()), ChunkCounts::default());
    let (mut collector, mut signatures, mut ordinals) = (store.collector(), Signatures::new(search), Vec::new());
    for (chunk, fragments) in fragments.chunks(in_chunk).enumerate() {
        signatures.clear();
        let mut record = 0;
        for (name, reads) in fragments {
            let fragment = NamedFragment { name: name.as_bytes(), library: library(name), read_group: 0 };
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
    let decision = Decision::new(store.parts(1 << 20), &counts, search);
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
    let cigar = prop::sample::select(vec!["5M", "3S2M", "2M3S", "1H2S2M1I1M", "2M2D2M1S2H", "4M", "5S", "4I", "2I3S"]);
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

#[test]
fn all_records_of_a_template_are_marked_on_request() {
    let op = |length, letter| CigarOp::new(length, letter).unwrap();
    let primary = |flags, quality: u8, record| {
        let qual = [quality; 5];
        Primary::new(flags, (0, 7), &[op(5, b'M')], (&qual, 5), 16, record)
    };
    for (rules, templates) in [Rules::Samtools, Rules::Picard].into_iter().flat_map(|r| [(r, false), (r, true)]) {
        let search = Search { rules, optical_distance: None, templates, umis: None };
        let folder = tempfile::tempdir().unwrap();
        let (store, counts) = (RunStore::new(1 << 20, folder.path().to_owned()), ChunkCounts::default());
        let (mut collector, mut signatures) = (store.collector(), Signatures::new(search));
        signatures.clear();
        // A read with a supplementary record and a mate that is nowhere; the same of less quality; another one.
        for (name, quality, first) in [("a", b'?', 0), ("b", b'5', 3)] {
            signatures.begin_fragment(NamedFragment { name: name.as_bytes(), library: 0, read_group: 0 }).unwrap();
            signatures.add(primary(PAIRED | FIRST, quality, first));
            signatures.count_other(true);
            signatures.add(primary(PAIRED | LAST | UNMAPPED, quality, first + 2));
        }
        signatures.begin_fragment(NamedFragment { name: b"c", library: 0, read_group: 0 }).unwrap();
        signatures.add(primary(REVERSE, b'?', 6));
        collector.add(0, signatures.frames().unwrap()).unwrap();
        let mut stored = Vec::new();
        signatures.put_counts(&mut stored);
        counts.add(0, 7, &stored);
        collector.finish().unwrap();
        let decision = Decision::new(store.parts(1 << 20), &counts, search);
        let found = decision.decide(0..decision.count()).unwrap().total();
        assert_eq!(found.single_duplicates, 1);
        let marks = decision.into_marks();
        let is_marked = |record| marks.is_marked(Ordinal::first_of(0).unwrap().with_record(record));
        let marked: Vec<u32> = (0..7).filter(|record| is_marked(*record)).collect();
        assert_eq!(marked, if templates { vec![3, 4, 5] } else { vec![3] }, "{rules:?}");
    }
}

#[test]
fn pairs_with_a_barcode_on_one_mate_alone_are_counted() {
    let op = CigarOp::new(5, b'M').unwrap();
    let mut signatures =
        Signatures::new(Search { rules: Rules::Samtools, optical_distance: None, templates: false, umis: None });
    signatures.clear();
    for barcodes in [[Some(&b"AC"[..]), None], [Some(b"AC"), Some(b"AC")], [None, None], [None, Some(b"AC")]] {
        signatures.begin_fragment(NamedFragment { name: b"a", library: 0, read_group: 0 }).unwrap();
        for (flags, barcode) in [PAIRED | FIRST, PAIRED | LAST].into_iter().zip(barcodes) {
            signatures.add(Primary::new(flags, (0, 7), &[op], (b"?????", 5), 16, 0).with_barcode(barcode));
        }
    }
    signatures.frames().unwrap();
    let (counts, mut stored) = (ChunkCounts::default(), Vec::new());
    signatures.put_counts(&mut stored);
    counts.add(0, 8, &stored);
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(0, folder.path().to_owned());
    let search = Search { rules: Rules::Samtools, optical_distance: None, templates: false, umis: None };
    let found = Decision::new(store.parts(1 << 20), &counts, search).examined().total();
    assert_eq!((found.barcoded, found.barcoded_alone), (4, 2));
}
