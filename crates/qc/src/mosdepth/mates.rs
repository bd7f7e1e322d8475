//! Mates that overlap, in mosdepth's exact mode: places that both cover count once.
//!
//! When the first of two mates lies in a part of the output before that of the second, they are brought together when
//! both parts are known (crate::order).

use crate::codec::{put, put_ascending, take, take_ascending};
use crate::depth::{Place, place};
use crate::record::Record;
use std::collections::HashMap;
use std::ops::Range;

/// Names of fragments, and their first mates, whose second ones have not come yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mates {
    seen: HashMap<Vec<u8>, PlacedMate>,
    /// Mates whose first ones must be in the parts before.
    sought: Vec<(Vec<u8>, PlacedMate)>,
}

/// Where a mate lies.
#[derive(Debug, Clone)]
struct PlacedMate {
    start: Place,
    stop: Place,
    mate: Place,
    /// Whether its CIGAR has one operation.
    is_plain: bool,
    blocks: Vec<Range<Place>>,
}

impl PlacedMate {
    fn new(contig: u32, record: &Record<'_>) -> Self {
        let at = |position: u32| place(contig, position);
        let span = record.span();
        PlacedMate {
            start: at(span.start),
            stop: at(span.end),
            mate: at(record.mate_position.max(0) as u32),
            is_plain: record.cigar().count() == 1,
            blocks: record.aligned().map(|(positions, _)| at(positions.start)..at(positions.end)).collect(),
        }
    }

    /// Gives to `each` what is counted once of this mate and the one before it. Where both have a CIGAR of one
    /// operation, that is from the start of this one to the end of the other, even if this one ends before it
    /// (mosdepth.nim, `coverage`).
    fn overlap(&self, first: &PlacedMate, mut each: impl FnMut(Range<Place>)) {
        if self.is_plain && first.is_plain {
            return each(self.start..first.stop);
        }
        for own in &self.blocks {
            for other in &first.blocks {
                let both = own.start.max(other.start)..own.end.min(other.end);
                if both.start < both.end {
                    each(both);
                }
            }
        }
    }

    fn write(&self, name: &[u8], out: &mut Vec<u8>) {
        let PlacedMate { start, stop, mate, is_plain, blocks } = self;
        put(out, name.len() as u64);
        out.extend_from_slice(name);
        [*start, *stop, *mate, u64::from(*is_plain)].into_iter().for_each(|number| put(out, number));
        let bounds: Vec<Place> = blocks.iter().flat_map(|block| [block.start, block.end]).collect();
        put_ascending(out, bounds.into_iter());
    }

    fn read(from: &mut &[u8]) -> Option<(Vec<u8>, Self)> {
        let length = take(from)? as usize;
        let (name, rest) = from.split_at_checked(length)?;
        *from = rest;
        let [start, stop, mate, is_plain] = [take(from)?, take(from)?, take(from)?, take(from)?];
        let bounds = take_ascending(from)?;
        let blocks = bounds.chunks_exact(2).map(|block| block[0]..block[1]).collect();
        Some((name.to_owned(), PlacedMate { start, stop, mate, is_plain: is_plain == 1, blocks }))
    }
}

impl Mates {
    /// Writes them, for [`Self::read`].
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put(out, self.seen.len() as u64);
        self.seen.iter().for_each(|(name, mate)| mate.write(name, out));
        put(out, self.sought.len() as u64);
        self.sought.iter().for_each(|(name, mate)| mate.write(name, out));
    }

    /// Reads them.
    pub(crate) fn read(from: &mut &[u8]) -> Option<Self> {
        let seen = (0..take(from)?).map(|_| PlacedMate::read(from)).collect::<Option<_>>()?;
        let sought = (0..take(from)?).map(|_| PlacedMate::read(from)).collect::<Option<_>>()?;
        Some(Mates { seen, sought })
    }

    /// Takes up a record that counts, of a part whose first place is `begin`; gives to `each` what it and its mate
    /// before it have both.
    #[inline]
    pub(crate) fn add(&mut self, contig: u32, record: &Record<'_>, begin: Place, each: impl FnMut(Range<Place>)) {
        if !record.flags.is_proper() || record.flags.is_supplementary() {
            return;
        }
        let (start, mate) = (record.position, record.mate_position);
        let overlaps = record.contig == record.mate_contig && i64::from(record.span().end) > i64::from(mate);
        if overlaps && (start < mate || start == mate && !self.seen.contains_key(record.name)) {
            self.seen.insert(record.name.to_owned(), PlacedMate::new(contig, record));
        } else if let Some(first) = self.seen.remove(record.name) {
            PlacedMate::new(contig, record).overlap(&first, each);
        } else if record.contig == record.mate_contig && place(contig, mate.max(0) as u32) <= begin {
            self.sought.push((record.name.to_owned(), PlacedMate::new(contig, record)));
        }
    }

    /// Takes up those of the next part, which ends before `end`; gives to `each` what mates of it have with mates of
    /// the parts before.
    pub(crate) fn append(&mut self, part: Mates, end: Place, mut each: impl FnMut(Range<Place>)) {
        for (name, mate) in part.sought {
            if let Some(first) = self.seen.remove(&name) {
                mate.overlap(&first, &mut each);
            }
        }
        for (name, mate) in part.seen {
            // Both begin at the same place, and the part begins there, too.
            let first = if mate.start == mate.mate { self.seen.remove(&name) } else { None };
            match first {
                Some(first) => mate.overlap(&first, &mut each),
                None => drop(self.seen.insert(name, mate)),
            }
        }
        // Mates that have not come where they were to come do not count.
        self.seen.retain(|_, mate| mate.mate >= end);
    }
}
