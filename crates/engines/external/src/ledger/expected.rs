//! The reads that a program was given, and whose name a record has.

use xxhash_rust::xxh3::xxh3_64;
use zerohop_model::chunk::{Chunk, Fragment, Span};
use zerohop_model::complement::BASES;
use zerohop_model::record::REVERSE;

/// What is to be known of a fragment besides its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct FragmentKind {
    /// Whether its mates have names of their own, which differ in the last character alone (`x.1` and `x.2`).
    pub(super) numbered: bool,
    /// Which of its reads have no bases: a program may write no record of such a mate.
    pub(super) empty: [bool; 2],
}

/// What the input says of a read, and the program is not told.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadMarks {
    /// Whether it failed the sequencer's filters.
    pub(super) failed_filters: bool,
    pub(super) has_qualities: bool,
}

/// What is asked for of each read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) comments: bool,
    /// A digest of its bases, by which reads of the same name are told apart.
    pub(crate) digests: bool,
}

/// The reads of a chunk that a program was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expected {
    /// Number of the chunk in the run.
    pub(crate) number: u64,
    pub(crate) lane: u32,
    pub(super) bases: u64,
    /// Whether its fragments are pairs.
    pub(super) paired: bool,
    /// The names of the first reads of the fragments, one after the other, and where each ends.
    names: Vec<u8>,
    name_ends: Vec<u32>,
    pub(super) kinds: Vec<FragmentKind>,
    /// The comments of the reads and where each ends, if they were asked for.
    pub(super) comments: Vec<u8>,
    comment_ends: Vec<u32>,
    pub(super) marks: Vec<ReadMarks>,
    /// Digests of the bases of each read, if they were asked for.
    digests: Vec<u64>,
}

impl Expected {
    /// The reads of `chunk`, all of them pairs or none, with what is asked for of each.
    pub(crate) fn of(chunk: &Chunk, number: u64, paired: bool, asked: Asked) -> Self {
        let mut expected = Expected { number, lane: chunk.ticket.lane, paired, ..Expected::default() };
        chunk.fragments().for_each(|fragment| expected.add(&fragment, asked));
        expected
    }

    fn add(&mut self, fragment: &Fragment<'_>, asked: Asked) {
        let name = bare(fragment.first.name);
        self.names.extend_from_slice(name);
        self.name_ends.push(self.names.len() as u32);
        let mut empty = [false; 2];
        for (read, empty) in fragment.reads().zip(&mut empty) {
            self.bases += read.seq.len() as u64;
            *empty = read.seq.is_empty();
            self.marks.push(ReadMarks { failed_filters: read.failed_filters, has_qualities: read.qual.is_some() });
            if asked.digests {
                self.digests.push(xxh3_64(read.seq));
            }
            if asked.comments {
                self.comments.extend_from_slice(read.comment);
                self.comment_ends.push(self.comments.len() as u32);
            }
        }
        let numbered = fragment.mate.is_some_and(|mate| bare(mate.name) != name);
        self.kinds.push(FragmentKind { numbered, empty });
    }

    /// Which mate of a fragment a record of this name is of, as far as names tell: 0 where they are the same. None if
    /// it is of another fragment.
    pub(super) fn mate_named(&self, fragment: usize, name: &[u8], rules: Promises) -> Option<usize> {
        let own = self.name(fragment);
        let Some((start, rest)) = name.split_at_checked(own.len()) else {
            // bwa cuts off any number, not those of mates alone.
            return matches!(own, [start @ .., b'/', b'0'..=b'9'] if start == name).then_some(0);
        };
        let may_follow = rest.is_empty() || rules.names_take_comments && rest[0] == b'_';
        if !may_follow {
            return None;
        }
        if start == own {
            return Some(0);
        }
        let numbered = self.kinds[fragment].numbered && other_number(own).eq(start.iter().copied());
        numbered.then_some(1)
    }

    /// Whether one of the reads of a fragment has bases of this digest.
    pub(super) fn has_bases(&self, fragment: usize, digest: u64) -> bool {
        let reads = self.read(fragment, 0)..self.read(fragment + 1, 0);
        self.digests.get(reads).is_some_and(|digests| digests.contains(&digest))
    }

    pub(super) fn len(&self) -> usize {
        self.name_ends.len()
    }

    pub(super) fn reads(&self) -> u64 {
        self.len() as u64 * if self.paired { 2 } else { 1 }
    }

    pub(super) fn name(&self, fragment: usize) -> &[u8] {
        &self.names[span(&self.name_ends, fragment)]
    }

    pub(super) fn comment(&self, fragment: usize, mate: usize) -> Span {
        if self.comment_ends.is_empty() {
            return Span::default();
        }
        let range = span(&self.comment_ends, self.read(fragment, mate));
        Span { start: range.start as u32, end: range.end as u32 }
    }

    /// The index of a read among all reads of the chunk.
    pub(super) fn read(&self, fragment: usize, mate: usize) -> usize {
        if self.paired { 2 * fragment + mate } else { fragment }
    }
}

fn span(ends: &[u32], index: usize) -> std::ops::Range<usize> {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    start as usize..ends[index] as usize
}

/// What a program promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Promises {
    /// Its records keep the order of the reads.
    pub(crate) keeps_order: bool,
    /// It may write several primary records of a read (bowtie -k, which knows no secondary ones).
    pub(crate) repeats_primary: bool,
    /// Names of its records may go on with `_` and words of the comment.
    pub(crate) names_take_comments: bool,
}

/// A name without numbers of mates at its end, which some programs keep and some drop.
pub(super) fn bare(mut name: &[u8]) -> &[u8] {
    while let [rest @ .., b'/', b'1' | b'2'] = name {
        name = rest;
    }
    name
}

/// The name with the number of the other mate at its end: 2 for 1, and 1 for 2.
pub(super) fn other_number(name: &[u8]) -> impl Iterator<Item = u8> {
    let last = name.len().wrapping_sub(1);
    name.iter().enumerate().map(move |(i, &byte)| match byte {
        b'1' if i == last => b'2',
        b'2' if i == last => b'1',
        byte => byte,
    })
}

/// The digest of the bases of a record's read, as they are in the input.
pub(super) fn digest_of_record(line: &[u8], flags: u16) -> u64 {
    let bases = line.split(|&byte| byte == b'\t').nth(9).unwrap_or_default();
    if flags & REVERSE == 0 {
        return xxh3_64(&bases.to_ascii_uppercase());
    }
    xxh3_64(&BASES.reversed(&bases.to_ascii_uppercase()).collect::<Vec<u8>>())
}
