//! What depends on the order of records: depth by place, windows of it, and GC-depth.
//!
//! Parts of the output are made in any order. When a part and all before it have been read, what reaches into it is
//! known ([`Chain`]). Whoever has read the last of them counts its places (crate::reports).

use crate::depth::{Edges, Of, Place, Reaching, place};
use crate::methyldackel::Calls;
use crate::mosdepth::Mates;
use crate::picard::Pileup;
use crate::stats::{BinBases, GcBins, PlacedRead};
use std::collections::BTreeMap;
use std::ops::Range;
use zerohop_model::record::Contig;

/// What was read of one part.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadPart {
    /// The places that it has: from the position of its first record up to that of the first one behind it.
    pub(crate) places: Range<Place>,
    pub(crate) edges: Edges,
    /// Mates that overlap others that are in other parts.
    pub(crate) mates: Mates,
    /// For GC-depth, of each record its place, and which share of its bases is G or C.
    pub(crate) gc: Vec<(Place, f32)>,
    /// The same with a reference.
    pub(crate) reads: Vec<PlacedRead>,
    /// Bases for Picard's coverage.
    pub(crate) pileup: Pileup,
    /// Bases on cytosines.
    pub(crate) calls: Calls,
}

/// A part that can be worked off.
#[derive(Debug)]
pub(crate) struct KnownPart {
    pub(crate) number: usize,
    pub(crate) read: ReadPart,
    pub(crate) reaching: Reaching,
    /// Bases of records of the parts before that reach into it.
    pub(crate) bases_before: Pileup,
    /// The same on cytosines.
    pub(crate) calls_before: Calls,
    /// Bins of GC-depth that begin in it, beside a reference.
    pub(crate) bins: Vec<BinBases>,
}

/// Parts that have been read, and what is known behind the last before which none is missing.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    next: usize,
    waiting: BTreeMap<usize, ReadPart>,
    reaching: Reaching,
    mates: Mates,
    bases: Pileup,
    calls: Calls,
    gc: GcBins,
}

impl Chain {
    /// Adds a part. Gives all parts that can be worked off now.
    pub(crate) fn put(&mut self, number: usize, read: ReadPart, contigs: &[Contig]) -> Vec<KnownPart> {
        self.waiting.insert(number, read);
        let mut known = Vec::new();
        while let Some(mut read) = self.waiting.remove(&self.next) {
            let mut overlaps = Vec::new();
            self.mates.append(std::mem::take(&mut read.mates), read.places.end, |both| overlaps.push(both));
            self.reaching.take_away(&overlaps, Of::Mosdepth);
            let behind = read.edges.reaching(&self.reaching, read.places.end);
            let reaching = std::mem::replace(&mut self.reaching, behind);
            read.gc.iter().for_each(|(place, gc)| self.gc.add(*place, *gc));
            let bins = read.reads.iter().filter_map(|read| self.gc.add_placed(*read, contigs)).collect();
            let mut bases = Pileup::default();
            [&self.bases, &read.pileup].into_iter().for_each(|before| before.reaching(read.places.end, &mut bases));
            let bases_before = std::mem::replace(&mut self.bases, bases);
            let mut calls = Calls::default();
            [&self.calls, &read.calls].into_iter().for_each(|before| before.reaching(read.places.end, &mut calls));
            let calls_before = std::mem::replace(&mut self.calls, calls);
            known.push(KnownPart { number: self.next, read, reaching, bases_before, calls_before, bins });
            self.next += 1;
        }
        known
    }

    /// The bins of GC-depth of all parts.
    pub(crate) fn into_gc_bins(self) -> GcBins {
        self.gc
    }
}

/// The place behind all contigs.
pub(crate) fn end(contigs: &[Contig]) -> Place {
    place(contigs.len() as u32, 0)
}
