//! Bases of records that may count at their places, part by part. Which of them do depends on the records before them:
//! on mates that cover the same place, and on how many have been counted there.
//!
//! The bases of a part wait until it is known what reaches into it from the parts before ([`Pileup::reaching`]).

use super::PartBases;
use crate::codec::{put, put_ascending, take, take_ascending};
use crate::depth::{Place, place};
use crate::record::Record;
use std::collections::HashMap;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// What a base is good for: nothing (0), counting (its quality), or counting but as coverage (its quality and this).
pub(super) const NO_COVERAGE: u8 = 0x80;

/// Bases of the records of one part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pileup {
    records: Vec<Piled>,
    blocks: Vec<Block>,
    bases: Vec<u8>,
}

/// A record, and where its blocks end in [`Pileup::blocks`]. Of its name there is a hash: that two names at one place
/// have the same one is as good as impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piled {
    name: u64,
    blocks_end: usize,
}

/// Bases that lie side by side on the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    start: Place,
    /// Where they end in [`Pileup::bases`].
    bases_end: usize,
}

/// A block with its bases.
#[derive(Debug, Clone, Copy)]
struct BlockBases<'p> {
    start: Place,
    bases: &'p [u8],
}

impl BlockBases<'_> {
    fn end(&self) -> Place {
        self.start + self.bases.len() as Place
    }
}

/// What is counted at places.
pub(super) trait Counts {
    /// Places that have so many bases, and so many of coverage; not all of them are 0.
    fn places(&mut self, bases: u32, coverage: u32);
    /// A base that covers a place that a base of the same name covers.
    fn overlap(&mut self);
    /// A base of this quality at a place where [`Self::limit`] bases are.
    fn over_limit(&mut self, quality: u8);
    /// Up to so many bases are counted at a place.
    const LIMIT: u32;
    /// Whether bases of the same name at a place count as one.
    const NAMES: bool;
}

impl Pileup {
    /// Adds a record: of each block its positions, and what its bases are good for.
    pub(super) fn begin(&mut self, record: &Record<'_>) {
        self.records.push(Piled { name: xxh3_64(record.name), blocks_end: self.blocks.len() });
    }

    /// Adds a block of the last record.
    pub(super) fn block(&mut self, contig: u32, start: u32, bases: impl Iterator<Item = u8>) {
        self.bases.extend(bases);
        self.blocks.push(Block { start: place(contig, start), bases_end: self.bases.len() });
        if let Some(record) = self.records.last_mut() {
            record.blocks_end = self.blocks.len();
        }
    }

    fn blocks_of(&self, record: usize) -> impl Iterator<Item = BlockBases<'_>> + Clone {
        let from = record.checked_sub(1).map_or(0, |before| self.records[before].blocks_end);
        (from..self.records[record].blocks_end).map(|number| {
            let from = number.checked_sub(1).map_or(0, |before| self.blocks[before].bases_end);
            let Block { start, bases_end } = self.blocks[number];
            BlockBases { start, bases: &self.bases[from..bases_end] }
        })
    }

    /// Adds to `reaching` those of its records that reach behind `end`.
    pub(crate) fn reaching(&self, end: Place, reaching: &mut Pileup) {
        for (number, record) in self.records.iter().enumerate() {
            if self.blocks_of(number).any(|block| block.end() > end) {
                for BlockBases { start, bases } in self.blocks_of(number) {
                    reaching.bases.extend_from_slice(bases);
                    reaching.blocks.push(Block { start, bases_end: reaching.bases.len() });
                }
                reaching.records.push(Piled { name: record.name, blocks_end: reaching.blocks.len() });
            }
        }
    }

    /// Writes it, for [`Self::read`].
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put(out, self.records.len() as u64);
        for Piled { name, blocks_end } in &self.records {
            put(out, *name);
            put(out, *blocks_end as u64);
        }
        put_ascending(out, self.blocks.iter().map(|block| block.bases_end as u64));
        self.blocks.iter().for_each(|block| put(out, block.start));
        put(out, self.bases.len() as u64);
        out.extend_from_slice(&self.bases);
    }

    /// Reads one; none if it is damaged.
    pub(crate) fn read(from: &mut &[u8]) -> Option<Self> {
        let mut pileup = Pileup::default();
        for _ in 0..take(from)? {
            pileup.records.push(Piled { name: take(from)?, blocks_end: take(from)? as usize });
        }
        for bases_end in take_ascending(from)? {
            pileup.blocks.push(Block { start: 0, bases_end: bases_end as usize });
        }
        for block in &mut pileup.blocks {
            block.start = take(from)?;
        }
        let length = take(from)? as usize;
        let (bases, rest) = from.split_at_checked(length)?;
        pileup.bases = bases.to_vec();
        *from = rest;
        let is_whole = pileup.records.is_sorted_by_key(|record| record.blocks_end)
            && pileup.records.last().is_none_or(|record| record.blocks_end <= pileup.blocks.len())
            && pileup.blocks.last().is_none_or(|block| block.bases_end <= bases.len());
        is_whole.then_some(pileup)
    }
}

/// Counts the bases at some places: of records that reach into them, then of those that begin there.
pub(super) fn count_bases<C: Counts>(part: &PartBases<'_>, counts: &mut C) {
    let PartBases { before, own, places } = part;
    let mut sweep =
        Sweep { places: places.clone(), first: 0, bases: Vec::new(), coverage: Vec::new(), done: 0, counts };
    let records = || [*before, *own].into_iter().flat_map(|of| (0..of.records.len()).map(move |number| (of, number)));
    // The last record of each name, and of each record the one before it of the same name.
    let (mut last, mut of_before) = (HashMap::new(), Vec::new());
    let all: Vec<(&Pileup, usize)> = records().collect();
    for (at, (pileup, number)) in all.iter().enumerate() {
        if C::NAMES {
            of_before.push(last.insert(pileup.records[*number].name, at));
        }
        let Some(begin) = pileup.blocks_of(*number).next() else { continue };
        sweep.go_to(begin.start);
        for block in pileup.blocks_of(*number) {
            let mut same_name = Vec::new();
            let mut next = of_before.get(at).copied().flatten();
            while let Some(other) = next {
                let (pileup, number) = all[other];
                same_name.extend(pileup.blocks_of(number).filter(|other| overlap(&block, other)));
                next = of_before[other];
            }
            sweep.add(block, &same_name);
        }
    }
    sweep.go_to(Place::MAX);
}

fn overlap(one: &BlockBases<'_>, other: &BlockBases<'_>) -> bool {
    one.start < other.end() && other.start < one.end()
}

/// What is counted at places from the begin of the last record on.
struct Sweep<'c, C> {
    places: Range<Place>,
    first: Place,
    bases: Vec<u32>,
    coverage: Vec<u32>,
    /// How many from the first one on are counted.
    done: usize,
    counts: &'c mut C,
}

/// So many places that are counted are kept, rather than moved away at once.
const KEPT: usize = 1 << 14;

impl<C: Counts> Sweep<'_, C> {
    /// Counts what is before a place: no record that follows begins there.
    fn go_to(&mut self, place: Place) {
        let place = place.max(self.places.start);
        let until = (place.saturating_sub(self.first) as usize).min(self.bases.len());
        for (bases, coverage) in self.bases[self.done..until].iter().zip(&self.coverage[self.done..until]) {
            if *bases > 0 {
                self.counts.places(*bases, *coverage);
            }
        }
        self.done = until;
        if self.done == self.bases.len() {
            self.bases.clear();
            self.coverage.clear();
            (self.first, self.done) = (place, 0);
        } else if self.done > KEPT {
            self.bases.drain(..self.done);
            self.coverage.drain(..self.done);
            (self.first, self.done) = (self.first + self.done as Place, 0);
        }
    }

    /// Adds a block; `same_name` are blocks of earlier records of its name that it overlaps.
    fn add(&mut self, block: BlockBases<'_>, same_name: &[BlockBases<'_>]) {
        let (start, end) = (block.start.max(self.places.start), block.end().min(self.places.end));
        if start >= end {
            return;
        }
        let of_block = &block.bases[(start - block.start) as usize..(end - block.start) as usize];
        let (from, to) = ((start - self.first) as usize, (end - self.first) as usize);
        if self.bases.len() < to {
            self.bases.resize(to, 0);
            self.coverage.resize(to, 0);
        }
        let (bases, coverage) = (&mut self.bases[from..to], &mut self.coverage[from..to]);
        let is_full = bases.iter().any(|bases| *bases >= C::LIMIT);
        for (bases, base) in bases.iter_mut().zip(of_block) {
            *bases += u32::from(*base > 0);
        }
        if is_full {
            for (bases, base) in bases.iter_mut().zip(of_block) {
                if *bases > C::LIMIT {
                    *bases = C::LIMIT;
                    self.counts.over_limit(*base & !NO_COVERAGE);
                }
            }
        }
        if same_name.is_empty() {
            for (coverage, base) in coverage.iter_mut().zip(of_block) {
                *coverage += u32::from(covers(*base));
            }
            return;
        }
        for (at, (coverage, base)) in (start..).zip(coverage.iter_mut().zip(of_block)) {
            let is_covered = |other: &BlockBases<'_>| {
                let place = at.checked_sub(other.start).and_then(|place| other.bases.get(place as usize));
                place.is_some_and(|base| covers(*base))
            };
            match covers(*base) {
                true if same_name.iter().any(is_covered) => self.counts.overlap(),
                covers => *coverage += u32::from(covers),
            }
        }
    }
}

fn covers(base: u8) -> bool {
    base.wrapping_sub(1) < NO_COVERAGE - 1
}
