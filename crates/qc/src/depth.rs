//! Depth by place, out of parts of a sorted output.
//!
//! A record makes the depth rise by one where it begins, and fall where it ends. A part knows these places of its own
//! records. What reaches into it from the parts before it, it is [given](Reaching) when their records are known. That
//! is little: so parts may be made in any order, by whoever is free, and only this goes from one to the next.
//!
//! A place is one number: that of its contig, times 2^32, plus its position there.
//!
//! Several reports ask for depth, and most records count for all of them in the same way. So a place is known once,
//! with the reports for which something begins or ends there.

use crate::codec::{put_ascending, take_ascending};
use crate::record::Record;
use std::ops::{BitOr, Range};
use zerohop_model::record::Contig;

/// A place on the reference: contig, position.
pub(crate) type Place = u64;

/// The reports that ask for depth: each counts other records, or other places of them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of {
    Stats,
    Coverage,
    Mosdepth,
}

/// How many they are.
const REPORTS: usize = Of::Mosdepth as usize + 1;

/// One for each of [`Of`].
pub(crate) type ForEach<T> = [T; REPORTS];

/// Some of the reports: a bit for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OfSome(u64);

/// The place of a position, from 0.
pub(crate) fn place(contig: u32, position: u32) -> Place {
    u64::from(contig) << 32 | u64::from(position)
}

/// The contig of a place, and the position there.
pub(crate) fn split(place: Place) -> (u32, u32) {
    ((place >> 32) as u32, place as u32)
}

/// Gives all positions of some places to `each`, contig by contig.
pub(crate) fn by_contig(places: Range<Place>, contigs: &[Contig], mut each: impl FnMut(u32, Range<u32>)) {
    let ((first, from), (last, to)) = (split(places.start), split(places.end));
    for (number, contig) in contigs.iter().enumerate().take(last as usize + 1).skip(first as usize) {
        let length = contig.length as u32;
        let start = if number as u32 == first { from.min(length) } else { 0 };
        let end = if number as u32 == last { to.min(length) } else { length };
        if start < end {
            each(number as u32, start..end);
        }
    }
}

/// Where the records of one part begin and end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Edges {
    begins: Places,
    ends: Places,
}

/// Where something begins or ends, and for which reports: 2^[`REPORTS`] times the place, plus their bits. A header of
/// BAM has at most 2^31 bytes, which are less than the 2^29 contigs that there is room for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Edge(u64);

/// Edges, most of which come in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Places {
    ordered: Vec<Edge>,
    /// Those that came behind a later one, until all are [sorted](Self::sort).
    late: Vec<Edge>,
    /// How many there are, when they are sorted.
    counts: Depths,
}

/// How deep a place is.
type Depths = ForEach<i32>;

/// What reaches into a part: how deep it is before its first place, and where that changes, from there on, and by how
/// much.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reaching {
    depths: Depths,
    changes: Vec<(Place, Depths)>,
}

impl OfSome {
    /// This one, or none.
    pub(crate) fn only_if(of: Of, counts: bool) -> Self {
        OfSome(u64::from(counts) << of as u32)
    }
}

impl BitOr for OfSome {
    type Output = Self;

    fn bitor(self, more: Self) -> Self {
        OfSome(self.0 | more.0)
    }
}

impl Edge {
    fn new(place: Place, of: OfSome) -> Self {
        Edge(place << REPORTS | of.0)
    }

    fn place(self) -> Place {
        self.0 >> REPORTS
    }

    /// One for each report that it is for.
    #[inline]
    fn counts(self) -> Depths {
        std::array::from_fn(|report| (self.0 >> report & 1) as i32)
    }
}

impl Reaching {
    /// Makes these places count once less for a report, which lie behind the first place of the part, or there.
    pub(crate) fn take_away(&mut self, all: &[Range<Place>], of: Of) {
        let counts = Edge(OfSome::only_if(of, true).0).counts();
        self.changes.extend(all.iter().flat_map(|places| [(places.start, negative(counts)), (places.end, counts)]));
        self.sort();
    }

    fn sort(&mut self) {
        self.changes.sort_unstable_by_key(|(place, _)| *place);
        self.changes.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                add(&mut kept.1, next.1);
            }
            same
        });
    }
}

impl Places {
    #[inline]
    fn push(&mut self, edge: Edge) {
        match self.ordered.last() {
            Some(last) if *last > edge => self.late.push(edge),
            _ => self.ordered.push(edge),
        }
    }

    fn sort(&mut self) {
        self.late.sort_unstable();
        // From the end: what is moved makes room for what is put in.
        let mut from = self.ordered.len();
        self.ordered.resize(from + self.late.len(), Edge::default());
        let mut to = self.ordered.len();
        while let Some(late) = self.late.last() {
            to -= 1;
            if from > 0 && self.ordered[from - 1] > *late {
                from -= 1;
                self.ordered[to] = self.ordered[from];
            } else {
                self.ordered[to] = *late;
                self.late.pop();
            }
        }
        self.counts = count(&self.ordered);
    }

    /// Those from a place on.
    fn from(&self, place: Place) -> &[Edge] {
        &self.ordered[self.ordered.partition_point(|edge| edge.place() < place)..]
    }
}

impl Edges {
    /// Adds the bases of a record that lie on the reference, for some reports; for others, all places from its first
    /// one to its last.
    #[inline]
    pub(crate) fn add_record(&mut self, contig: u32, record: &Record<'_>, of_bases: OfSome, of_span: OfSome) {
        let (span, mut blocks) = (record.span(), record.aligned().map(|(positions, _)| positions));
        let first = blocks.next();
        // Most records have all of their bases side by side.
        if first.as_ref() == Some(&span) && blocks.next().is_none() {
            return self.add(contig, span, of_bases | of_span);
        }
        record.aligned().for_each(|(positions, _)| self.add(contig, positions, of_bases));
        self.add(contig, span, of_span);
    }

    /// Adds what lies on these positions of a contig.
    #[inline]
    fn add(&mut self, contig: u32, positions: Range<u32>, of: OfSome) {
        if of != OfSome::default() {
            self.begins.push(Edge::new(place(contig, positions.start), of));
            self.ends.push(Edge::new(place(contig, positions.end), of));
        }
    }

    /// Makes places count once less for a report, on which something lies that was added.
    pub(crate) fn take_away(&mut self, places: Range<Place>, of: Of) {
        let of = OfSome::only_if(of, true);
        self.begins.push(Edge::new(places.end, of));
        self.ends.push(Edge::new(places.start, of));
    }

    /// Sorts them: before anything else is asked of them.
    pub(crate) fn sort(&mut self) {
        self.begins.sort();
        self.ends.sort();
    }

    /// Writes them, for [`Self::read`].
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for places in [&self.begins, &self.ends] {
            put_ascending(out, places.ordered.iter().map(|edge| edge.0));
        }
    }

    /// Reads them, sorted.
    pub(crate) fn read(from: &mut &[u8]) -> Option<Self> {
        let mut places = || {
            let ordered: Vec<Edge> = take_ascending(from)?.into_iter().map(Edge).collect();
            Some(Places { counts: count(&ordered), ordered, late: Vec::new() })
        };
        Some(Edges { begins: places()?, ends: places()? })
    }

    /// What reaches into the part behind this one, whose first place is `end`.
    pub(crate) fn reaching(&self, before: &Reaching, end: Place) -> Reaching {
        let passed = before.changes.partition_point(|(place, _)| *place < end);
        let (passed, still) = before.changes.split_at(passed);
        let (begins, ends) = (self.begins.from(end), self.ends.from(end));
        let mut depths = before.depths;
        passed.iter().for_each(|(_, by)| add(&mut depths, *by));
        // Of all that begins and ends here, what lies behind the end is only to come.
        [self.begins.counts, negative(count(begins)), negative(self.ends.counts), count(ends)]
            .into_iter()
            .for_each(|by| add(&mut depths, by));
        let mut reaching = Reaching { depths, changes: still.to_vec() };
        reaching.changes.extend(begins.iter().map(|edge| (edge.place(), edge.counts())));
        reaching.changes.extend(ends.iter().map(|edge| (edge.place(), negative(edge.counts()))));
        reaching.sort();
        reaching
    }

    /// Gives the depths of all places from `places.start` up to `places.end` to `each`, in runs of the same ones.
    pub(crate) fn runs(&self, before: &Reaching, places: Range<Place>, mut each: impl FnMut(Range<Place>, Depths)) {
        let (mut begins, mut ends, mut changes) = (&*self.begins.ordered, &*self.ends.ordered, &*before.changes);
        let first = |edges: &[Edge]| edges.first().map_or(Place::MAX, |edge| edge.place());
        let (mut at, mut run, mut depths, mut told) = (places.start, places.start, before.depths, before.depths);
        while at < places.end {
            while let Some(((place, by), rest)) = changes.split_first()
                && *place <= at
            {
                add(&mut depths, *by);
                changes = rest;
            }
            while let Some((edge, rest)) = begins.split_first()
                && edge.place() <= at
            {
                add(&mut depths, edge.counts());
                begins = rest;
            }
            while let Some((edge, rest)) = ends.split_first()
                && edge.place() <= at
            {
                add(&mut depths, negative(edge.counts()));
                ends = rest;
            }
            if depths != told {
                if run < at {
                    each(run..at, told);
                }
                (run, told) = (at, depths);
            }
            let change = changes.first().map_or(Place::MAX, |(place, _)| *place);
            at = change.min(first(begins)).min(first(ends)).min(places.end);
        }
        if run < places.end {
            each(run..places.end, told);
        }
    }
}

#[inline]
fn add(depths: &mut Depths, by: Depths) {
    depths.iter_mut().zip(by).for_each(|(depth, by)| *depth += by);
}

fn negative(depths: Depths) -> Depths {
    depths.map(|depth| -depth)
}

/// For how many edges a report is.
fn count(edges: &[Edge]) -> Depths {
    let mut counts = Depths::default();
    edges.iter().for_each(|edge| add(&mut counts, edge.counts()));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Placed = (Range<u32>, OfSome);

    /// The depth of places `0..length` out of an array.
    fn naive(records: &[Placed], length: u32) -> Vec<Depths> {
        let counts = |of: OfSome, report: usize| of.0 >> report & 1 == 1;
        let depth = |at: u32, report: usize| {
            records.iter().filter(|(places, of)| places.contains(&at) && counts(*of, report)).count() as i32
        };
        (0..length).map(|at| std::array::from_fn(|report| depth(at, report))).collect()
    }

    /// The same out of parts that begin at `bounds`: `records` come in the order of their starts. If a part `forgets`
    /// what reaches into it, the depth is wrong.
    fn by_parts(records: &[Placed], bounds: &[u32], length: u32, forgets: bool) -> Vec<Depths> {
        let (mut reaching, mut depths) = (Reaching::default(), Vec::new());
        for (number, from) in bounds.iter().enumerate() {
            let to = bounds.get(number + 1).copied().unwrap_or(length);
            let mut edges = Edges::default();
            for (places, of) in records.iter().filter(|(places, _)| (*from..to).contains(&places.start)) {
                edges.add(0, places.clone(), *of);
            }
            edges.sort();
            let mut bytes = Vec::new();
            edges.write(&mut bytes);
            assert_eq!(Edges::read(&mut &*bytes).as_ref(), Some(&edges));
            edges.runs(&reaching, place(0, *from)..place(0, to), |places, of_all| {
                depths.extend((places.start..places.end).map(|_| of_all));
            });
            reaching = if forgets { Reaching::default() } else { edges.reaching(&reaching, place(0, to)) };
        }
        depths
    }

    proptest! {
        #[test]
        fn depth_by_parts_is_that_of_the_whole(
            records in prop::collection::vec((0u32..120, 1u32..60, 0u64..8), 0..40),
            mut bounds in prop::collection::vec(1u32..140, 0..12),
        ) {
            const LENGTH: u32 = 200;
            let placed = |(start, length, of)| (start..start + length, OfSome(of));
            let records: Vec<Placed> = records.into_iter().map(placed).collect();
            bounds.push(0);
            bounds.sort_unstable();
            bounds.dedup();
            prop_assert_eq!(by_parts(&records, &bounds, LENGTH, false), naive(&records, LENGTH));
        }
    }

    #[test]
    fn what_reaches_into_a_part_is_needed() {
        let records = [(10..60, OfSome(1)), (20..90, OfSome(7))];
        assert_ne!(by_parts(&records, &[0, 50], 100, true), naive(&records, 100));
    }
}
