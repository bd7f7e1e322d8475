//! Bases that may count, place by place: which of them do, and how many there are.

use super::depths::Depths;
use super::pileup::{BlockBases, Pileup};
use super::records::Records;
use super::worth::covers;
use crate::counts::count_of_pairs;
use crate::depth::Place;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bases that may count at the places of a part: of records that reach into it, and of its own.
pub(crate) struct PartBases<'p> {
    pub(crate) before: &'p Pileup,
    pub(crate) own: &'p Pileup,
    pub(crate) places: Range<Place>,
}

/// What is counted at places.
pub(super) trait Counts {
    /// A place that has so many bases, and so many of coverage; not all of them are 0.
    fn place(&mut self, bases: u32, coverage: u32);
    /// So many bases cover places that bases of the same name cover.
    fn overlap(&mut self, bases: u64);
    /// A base of this quality at a place where [`Self::LIMIT`] bases are.
    fn over_limit(&mut self, quality: u8);
    /// Up to so many bases are counted at a place.
    const LIMIT: u8;
    /// Whether bases of the same name at a place count as one.
    const NAMES: bool;
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
        Sweep { places: places.clone(), first: 0, depths: Depths::default(), done: 0, own: Vec::new(), counts };
    let mut far: BTreeMap<Place, Vec<(usize, BlockBases<'_>)>> = BTreeMap::new();
    let add_far = |sweep: &mut Sweep<'_, C>, far: &mut BTreeMap<_, Vec<_>>, until: Place| {
        while let Some(blocks) = far.first_entry().filter(|blocks| *blocks.key() <= until) {
            sweep.go_to(*blocks.key());
            blocks.remove().into_iter().for_each(|(at, block)| sweep.add(block, records.same_name(at, block)));
        }
    };
    for at in 0..records.all.len() {
        let start = records.start(at);
        add_far(&mut sweep, &mut far, start);
        sweep.go_to(start);
        for block in records.blocks(at) {
            match block.start - start < FAR {
                true => sweep.add(block, records.same_name(at, block)),
                false => far.entry(block.start).or_default().push((at, block)),
            }
        }
    }
    add_far(&mut sweep, &mut far, Place::MAX);
    sweep.go_to(Place::MAX);
}

/// What is counted at places from the begin of the last record on.
struct Sweep<'c, C> {
    places: Range<Place>,
    first: Place,
    depths: Depths,
    /// How many from the first one on are counted.
    done: usize,
    /// Of each base of a block, whether it is coverage that no other record of its name has: 1, or 0.
    own: Vec<u8>,
    counts: &'c mut C,
}

/// So many places that are counted are kept, rather than moved away at once.
const KEPT: usize = 1 << 14;

impl<C: Counts> Sweep<'_, C> {
    /// Counts what is before a place: no record that follows begins there.
    fn go_to(&mut self, place: Place) {
        let place = place.max(self.places.start);
        let until = (place.saturating_sub(self.first) as usize).clamp(self.done, self.depths.len());
        self.depths.each(self.done..until, |bases, coverage| self.counts.place(bases, coverage));
        self.done = until;
        if self.done == self.depths.len() {
            self.depths.clear();
            (self.first, self.done) = (place, 0);
        } else if self.done > KEPT {
            self.depths.remove(self.done);
            (self.first, self.done) = (self.first + self.done as Place, 0);
        }
    }

    /// Adds a block; `same_name` are blocks of earlier records of its name that it overlaps.
    fn add<'p>(&mut self, block: BlockBases<'_>, same_name: impl Iterator<Item = BlockBases<'p>>) {
        let (start, end) = (block.start.max(self.places.start), block.end().min(self.places.end));
        if start >= end {
            return;
        }
        let within = |of: &BlockBases<'_>, places: &Range<Place>| {
            (places.start - of.start) as usize..(places.end - of.start) as usize
        };
        let of_block = &block.bases[within(&block, &(start..end))];
        self.own.clear();
        self.own.extend(of_block.iter().map(|base| u8::from(covers(*base))));
        for other in same_name {
            let both = start.max(other.start)..end.min(other.end());
            if both.is_empty() {
                continue;
            }
            let own = &mut self.own[(both.start - start) as usize..(both.end - start) as usize];
            let other = &other.bases[within(&other, &both)];
            self.counts.overlap(count_of_pairs(own, other, |own, other| (own > 0) & covers(other)));
            own.iter_mut().zip(other).for_each(|(own, other)| *own &= u8::from(!covers(*other)));
        }
        let from = (start - self.first) as usize;
        self.depths.add(from, of_block, C::LIMIT, |quality| self.counts.over_limit(quality));
        self.depths.cover(from, &self.own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picard::pileup::{Block, Piled};
    use crate::picard::worth::NO_COVERAGE;
    use proptest::prelude::*;

    /// Places by their bases and coverage, bases that overlap, and qualities over the limit.
    #[derive(Debug, Default, PartialEq)]
    struct Seen(Vec<(u32, u32)>, usize, Vec<u8>);

    impl Counts for Seen {
        const LIMIT: u8 = 2;
        const NAMES: bool = true;

        fn place(&mut self, bases: u32, coverage: u32) {
            self.0.push((bases, coverage));
        }

        fn overlap(&mut self, bases: u64) {
            self.1 += bases as usize;
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

    /// A record of a name with one block, or two: places, and what its bases are good for.
    type Random = (u64, Vec<(Place, Vec<u8>)>);

    fn random_pileup(records: &[Random]) -> Pileup {
        let mut pileup = Pileup::default();
        for (name, blocks) in records {
            for (start, bases) in blocks {
                pileup.bases.extend(bases);
                pileup.blocks.push(Block { start: *start, bases_end: pileup.bases.len() });
            }
            pileup.records.push(Piled { name: *name, start: blocks[0].0, blocks_end: pileup.blocks.len() });
        }
        pileup
    }

    /// Place by place, and base by base.
    fn naive(records: &[Random], places: Range<Place>) -> Seen {
        let mut seen = Seen::default();
        for place in places {
            let (mut bases, mut coverage, mut names) = (0, 0, Vec::new());
            let at = |(start, bases): &(Place, Vec<u8>)| {
                place.checked_sub(*start).and_then(|at| bases.get(at as usize)).copied()
            };
            for (name, base) in
                records.iter().flat_map(|(name, blocks)| blocks.iter().filter_map(at).map(move |base| (*name, base)))
            {
                if base > 0 && bases == u32::from(Seen::LIMIT) {
                    seen.2.push(base & !NO_COVERAGE);
                } else if base > 0 {
                    bases += 1;
                }
                match covers(base) {
                    true if names.contains(&name) => seen.1 += 1,
                    true => coverage += 1,
                    false => {}
                }
                if covers(base) {
                    names.push(name);
                }
            }
            if bases > 0 {
                seen.0.push((bases, coverage));
            }
        }
        seen.2.sort_unstable();
        seen
    }

    /// Names, places and bases. Many are of few places, so that some are deeper than a byte tells.
    fn random_records() -> impl Strategy<Value = Vec<Random>> {
        let worth = || prop_oneof![1 => Just(0), 4 => 3..NO_COVERAGE - 1, 2 => NO_COVERAGE + 3..u8::MAX];
        let bases = move || prop::collection::vec(worth(), 1..30);
        let record = (0..400u64, 0..40u64, bases(), prop::option::of((0..9u64, bases()))).prop_map(
            |(name, start, first, second)| {
                let behind = start + first.len() as Place;
                let second = second.map(|(away, bases)| (behind + away, bases));
                (name, [Some((start, first)), second].into_iter().flatten().collect())
            },
        );
        prop::collection::vec(record, 0..700).prop_map(|mut records: Vec<Random>| {
            records.sort_by_key(|(_, blocks)| blocks[0].0);
            records
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn places_are_those_that_are_looked_at_alone(records in random_records(), bound in 0..80u64) {
            let (none, end) = (Pileup::default(), 200);
            let before = records.iter().take_while(|(_, blocks)| blocks[0].0 < bound).count();
            let (first, second) = (random_pileup(&records[..before]), random_pileup(&records[before..]));
            let (mut seen, mut reaching) = (Seen::default(), Pileup::default());
            first.reaching(bound, &mut reaching);
            count_bases(&PartBases { before: &none, own: &first, places: 0..bound }, &mut seen);
            count_bases(&PartBases { before: &reaching, own: &second, places: bound..end }, &mut seen);
            seen.2.sort_unstable();
            prop_assert_eq!(seen, naive(&records, 0..end));
        }
    }
}
