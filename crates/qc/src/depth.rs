//! Depth by place, out of parts of a sorted output.
//!
//! A record makes the depth rise by one where it begins, and fall where it ends. A part knows these places of its own
//! records. What reaches into it from the parts before it, it is [given](Reaching) when their records are known. That
//! is little: so parts may be made in any order, by whoever is free, and only this goes from one to the next.
//!
//! A place is one number: that of its contig, times 2^32, plus its position there.

use std::ops::Range;
use zerohop_model::record::Contig;

/// A place on the reference: contig, position.
pub(crate) type Place = u64;

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

/// Places, most of which come in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Places {
    ordered: Vec<Place>,
    /// Those that came behind a later one, until all are [sorted](Self::sort).
    late: Vec<Place>,
}

/// What reaches into a part: how deep it is before its first place, and where that changes, from there on, and by how
/// much.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reaching {
    depth: i32,
    changes: Vec<(Place, i32)>,
}

impl Reaching {
    /// Makes these places count once less, which lie behind the first place of the part, or there.
    pub(crate) fn take_away(&mut self, all: &[Range<Place>]) {
        self.changes.extend(all.iter().flat_map(|places| [(places.start, -1), (places.end, 1)]));
        self.sort();
    }

    fn sort(&mut self) {
        self.changes.sort_unstable_by_key(|(place, _)| *place);
        self.changes.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
    }
}

impl Places {
    #[inline]
    fn push(&mut self, place: Place) {
        match self.ordered.last() {
            Some(last) if *last > place => self.late.push(place),
            _ => self.ordered.push(place),
        }
    }

    fn sort(&mut self) {
        self.late.sort_unstable();
        // From the end: what is moved makes room for what is put in.
        let mut from = self.ordered.len();
        self.ordered.resize(from + self.late.len(), 0);
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
    }
}

impl Edges {
    /// Adds what lies on these positions of a contig.
    #[inline]
    pub(crate) fn add(&mut self, contig: u32, positions: Range<u32>) {
        self.begins.push(place(contig, positions.start));
        self.ends.push(place(contig, positions.end));
    }

    /// Makes places count once less, on which something lies that was added.
    pub(crate) fn take_away(&mut self, places: Range<Place>) {
        self.begins.push(places.end);
        self.ends.push(places.start);
    }

    /// Where something begins, and where something ends.
    pub(crate) fn lists(&self) -> [&[Place]; 2] {
        [&self.begins.ordered, &self.ends.ordered]
    }

    /// Those with these lists, which are sorted.
    pub(crate) fn of_lists([begins, ends]: [Vec<Place>; 2]) -> Self {
        let [begins, ends] = [begins, ends].map(|ordered| Places { ordered, late: Vec::new() });
        Edges { begins, ends }
    }

    /// Sorts them: before anything else is asked of them.
    pub(crate) fn sort(&mut self) {
        self.begins.sort();
        self.ends.sort();
    }

    /// What reaches into the part behind this one, whose first place is `end`.
    pub(crate) fn reaching(&self, before: &Reaching, end: Place) -> Reaching {
        let behind = |places: &[Place]| places.partition_point(|place| *place < end);
        let passed = before.changes.partition_point(|(place, _)| *place < end);
        let [own_begins, own_ends] = self.lists();
        let (begins, ends) = (behind(own_begins), behind(own_ends));
        let fallen: i32 = before.changes[..passed].iter().map(|(_, by)| by).sum();
        let depth = before.depth + fallen + begins as i32 - ends as i32;
        let mut reaching = Reaching { depth, changes: before.changes[passed..].to_vec() };
        reaching.changes.extend(own_begins[begins..].iter().map(|place| (*place, 1)));
        reaching.changes.extend(own_ends[ends..].iter().map(|place| (*place, -1)));
        reaching.sort();
        reaching
    }

    /// Gives the depth of all places from `places.start` up to `places.end` to `each`, in runs of the same depth.
    pub(crate) fn runs(&self, before: &Reaching, places: Range<Place>, mut each: impl FnMut(Range<Place>, i32)) {
        /// What is behind all places.
        const NONE: Place = Place::MAX;
        let (mut at, mut depth) = (places.start, before.depth);
        let ([mut begins, mut ends], mut changes) = (self.lists(), &*before.changes);
        let first = |places: &[Place]| places.first().copied().unwrap_or(NONE);
        let first_change = |changes: &[(Place, i32)]| changes.first().map_or(NONE, |(place, _)| *place);
        let (mut begin, mut end, mut change) = (first(begins), first(ends), first_change(changes));
        while at < places.end {
            while change <= at {
                depth += changes[0].1;
                changes = &changes[1..];
                change = first_change(changes);
            }
            while begin <= at {
                depth += 1;
                begins = &begins[1..];
                begin = first(begins);
            }
            while end <= at {
                depth -= 1;
                ends = &ends[1..];
                end = first(ends);
            }
            let next = change.min(begin).min(end).min(places.end);
            each(at..next, depth);
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The depth of places `0..length` out of an array.
    fn naive(records: &[Range<u32>], length: u32) -> Vec<i32> {
        (0..length).map(|at| records.iter().filter(|record| record.contains(&at)).count() as i32).collect()
    }

    /// Records by parts that begin at `bounds`, and the depth of all places that the parts say. Where a part forgets
    /// what reaches into it, the depth is wrong.
    fn by_parts(records: &[Range<u32>], bounds: &[u32], length: u32, forgets: bool) -> Vec<i32> {
        let (mut reaching, mut depths) = (Reaching::default(), Vec::new());
        for (number, from) in bounds.iter().enumerate() {
            let to = bounds.get(number + 1).copied().unwrap_or(length);
            let mut edges = Edges::default();
            for record in records.iter().filter(|record| (*from..to).contains(&record.start)) {
                edges.add(0, record.clone());
            }
            edges.sort();
            edges.runs(&reaching, place(0, *from)..place(0, to), |places, depth| {
                depths.extend((places.start..places.end).map(|_| depth));
            });
            reaching = if forgets { Reaching::default() } else { edges.reaching(&reaching, place(0, to)) };
        }
        depths
    }

    proptest! {
        #[test]
        fn depth_by_parts_is_that_of_the_whole(
            records in prop::collection::vec((0u32..120, 1u32..60), 0..40),
            mut bounds in prop::collection::vec(1u32..140, 0..12),
        ) {
            const LENGTH: u32 = 200;
            let records: Vec<_> = records.into_iter().map(|(start, length)| start..start + length).collect();
            bounds.push(0);
            bounds.sort_unstable();
            bounds.dedup();
            prop_assert_eq!(by_parts(&records, &bounds, LENGTH, false), naive(&records, LENGTH));
        }
    }

    #[test]
    fn what_reaches_into_a_part_is_needed() {
        let records = [10..60, 20..90];
        assert_ne!(by_parts(&records, &[0, 50], 100, true), naive(&records, 100));
    }
}
