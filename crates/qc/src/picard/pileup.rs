//! Bases of records that may count at their places, part by part. Which of them do depends on the records before them:
//! on mates that cover the same place, and on how many have been counted there.
//!
//! The bases of a part wait until it is known what reaches into it from the parts before ([`Pileup::reaching`]).

use super::PartBases;
use crate::codec::{put, put_ascending, take, take_ascending};
use crate::depth::{Place, place};
use crate::record::Record;
use std::collections::{BTreeMap, HashMap};
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
    /// Where it begins: its first block may begin later.
    start: Place,
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
    pub(super) fn begin(&mut self, contig: u32, record: &Record<'_>) {
        let start = place(contig, record.position.max(0) as u32);
        self.records.push(Piled { name: xxh3_64(record.name), start, blocks_end: self.blocks.len() });
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
                reaching.records.push(Piled { blocks_end: reaching.blocks.len(), ..*record });
            }
        }
    }

    /// Writes it, for [`Self::read`].
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put(out, self.records.len() as u64);
        for Piled { name, start, blocks_end } in &self.records {
            [*name, *start, *blocks_end as u64].into_iter().for_each(|number| put(out, number));
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
            let (name, start, blocks_end) = (take(from)?, take(from)?, take(from)? as usize);
            pileup.records.push(Piled { name, start, blocks_end });
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
        let Pileup { records, blocks, .. } = &pileup;
        let is_whole = records.is_sorted_by_key(|record| (record.start, record.blocks_end))
            && records.last().is_none_or(|record| record.blocks_end <= blocks.len())
            && blocks.is_sorted_by_key(|block| block.bases_end)
            && blocks.last().is_none_or(|block| block.bases_end <= bases.len())
            && blocks.iter().all(|block| block.start < Place::MAX / 2);
        // Nor does a block begin before its record.
        let begins = |at: usize| pileup.blocks_of(at).all(|block| block.start >= records[at].start);
        (is_whole && (0..records.len()).all(begins)).then_some(pileup)
    }
}

/// Blocks that begin so far behind their record, or farther, wait until the sweep comes there: it holds all places in
/// between.
const FAR: Place = 1 << 16;

/// Counts the bases at some places: of records that reach into them, then of those that begin there.
pub(super) fn count_bases<C: Counts>(part: &PartBases<'_>, counts: &mut C) {
    let PartBases { before, own, places } = part;
    let records = [*before, *own].into_iter().flat_map(|of| (0..of.records.len()).map(move |number| (of, number)));
    let records = Records::new(records.collect(), C::NAMES);
    let mut sweep =
        Sweep { places: places.clone(), first: 0, bases: Vec::new(), coverage: Vec::new(), done: 0, counts };
    let mut far: BTreeMap<Place, Vec<(usize, BlockBases<'_>)>> = BTreeMap::new();
    let add_far = |sweep: &mut Sweep<'_, C>, far: &mut BTreeMap<_, Vec<_>>, until: Place| {
        while let Some(blocks) = far.first_entry().filter(|blocks| *blocks.key() <= until) {
            sweep.go_to(*blocks.key());
            blocks.remove().into_iter().for_each(|(at, block)| sweep.add(block, &records.same_name(at, &block)));
        }
    };
    for at in 0..records.all.len() {
        let start = records.start(at);
        add_far(&mut sweep, &mut far, start);
        sweep.go_to(start);
        for block in records.blocks(at) {
            match block.start - start < FAR {
                true => sweep.add(block, &records.same_name(at, &block)),
                false => far.entry(block.start).or_default().push((at, block)),
            }
        }
    }
    add_far(&mut sweep, &mut far, Place::MAX);
    sweep.go_to(Place::MAX);
}

/// Records of several pileups, in their order.
struct Records<'p> {
    all: Vec<(&'p Pileup, usize)>,
    /// Of each record the one before it of the same name, if names matter.
    of_before: Vec<Option<usize>>,
}

impl<'p> Records<'p> {
    fn new(all: Vec<(&'p Pileup, usize)>, names: bool) -> Self {
        let mut last = HashMap::new();
        let named = all.iter().enumerate().take(if names { all.len() } else { 0 });
        let of_before = named.map(|(at, (pileup, number))| last.insert(pileup.records[*number].name, at)).collect();
        Records { all, of_before }
    }

    fn start(&self, at: usize) -> Place {
        let (pileup, number) = self.all[at];
        pileup.records[number].start
    }

    fn blocks(&self, at: usize) -> impl Iterator<Item = BlockBases<'p>> + use<'p> {
        let (pileup, number) = self.all[at];
        pileup.blocks_of(number)
    }

    /// Blocks of earlier records of the same name that overlap this one.
    fn same_name(&self, at: usize, block: &BlockBases<'_>) -> Vec<BlockBases<'p>> {
        let before = |at: usize| self.of_before.get(at).copied().flatten();
        let others = std::iter::successors(before(at), |at| before(*at));
        others.flat_map(|other| self.blocks(other)).filter(|other| overlap(block, other)).collect()
    }
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
        let until = (place.saturating_sub(self.first) as usize).clamp(self.done, self.bases.len());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Places by their bases and coverage, bases that overlap, and qualities over the limit.
    #[derive(Debug, Default, PartialEq)]
    struct Seen(Vec<(u32, u32)>, usize, Vec<u8>);

    impl Counts for Seen {
        const LIMIT: u32 = 2;
        const NAMES: bool = true;

        fn places(&mut self, bases: u32, coverage: u32) {
            self.0.push((bases, coverage));
        }

        fn overlap(&mut self) {
            self.1 += 1;
        }

        fn over_limit(&mut self, quality: u8) {
            self.2.push(quality);
        }
    }

    /// A record of a name, with its place and its blocks: where each begins, and how many bases it has.
    type Made = (u64, Place, &'static [(Place, usize)]);

    fn pileup(records: &[Made]) -> Pileup {
        let mut pileup = Pileup::default();
        for (name, start, blocks) in records {
            for (start, bases) in *blocks {
                pileup.bases.extend(vec![30 + *name as u8; *bases]);
                pileup.blocks.push(Block { start: *start, bases_end: pileup.bases.len() });
            }
            pileup.records.push(Piled { name: *name, start: *start, blocks_end: pileup.blocks.len() });
        }
        pileup
    }

    fn counted(records: &[Made], bound: Place) -> Seen {
        let (first, second): (Vec<Made>, Vec<Made>) = records.iter().partition(|(_, start, _)| *start < bound);
        let (none, first, second) = (Pileup::default(), pileup(&first), pileup(&second));
        let mut bytes = Vec::new();
        first.write(&mut bytes);
        assert_eq!(Pileup::read(&mut &*bytes).as_ref(), Some(&first));
        bytes.truncate(bytes.len().saturating_sub(1));
        assert_eq!(Pileup::read(&mut &*bytes), None);
        let (mut seen, mut reaching) = (Seen::default(), Pileup::default());
        count_bases(&PartBases { before: &none, own: &first, places: 0..bound }, &mut seen);
        first.reaching(bound, &mut reaching);
        count_bases(&PartBases { before: &reaching, own: &second, places: bound..Place::MAX / 2 }, &mut seen);
        seen
    }

    #[test]
    fn blocks_may_begin_behind_those_of_later_records() {
        // The first begins with skipped bases, the third one has a block far behind, the last is a mate of it there.
        let records: [Made; 5] = [
            (1, 5, &[(40, 10)]),
            (2, 10, &[(10, 40)]),
            (3, 12, &[(12, 3), (200_000, 20)]),
            (4, 30, &[(30, 20)]),
            (3, 200_005, &[(200_005, 20)]),
        ];
        let whole = counted(&records, 0);
        assert_eq!((whole.0.len(), whole.1, &*whole.2), (40 + 25, 15, &[34; 10][..]));
        for bound in [1, 10, 11, 13, 35, 45, 100, 200_000, 200_006, 200_030] {
            assert_eq!(counted(&records, bound), whole, "{bound}");
        }
    }
}
