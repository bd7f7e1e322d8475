//! How many bases places have, small numbers first: many of them are counted up at a time.

use super::worth::NO_COVERAGE;
use std::ops::Range;

/// Of each of some places, how many bases and how much coverage it has.
#[derive(Debug, Default)]
pub(super) struct Depths {
    bases: Vec<u8>,
    coverage: Vec<u8>,
    /// Coverage that did not fit.
    more: Vec<u32>,
}

impl Depths {
    pub(super) fn len(&self) -> usize {
        self.bases.len()
    }

    pub(super) fn clear(&mut self) {
        self.bases.clear();
        self.coverage.clear();
        self.more.clear();
    }

    /// Removes so many places at the begin.
    pub(super) fn remove(&mut self, places: usize) {
        self.bases.drain(..places);
        self.coverage.drain(..places);
        self.more.drain(..places);
    }

    /// Gives the bases and the coverage of those of these places that have bases to `each`.
    pub(super) fn each(&self, places: Range<usize>, mut each: impl FnMut(u32, u32)) {
        let (coverage, more) = (&self.coverage[places.clone()], &self.more[places.clone()]);
        for ((bases, coverage), more) in self.bases[places].iter().zip(coverage).zip(more) {
            if *bases > 0 {
                each((*bases).into(), u32::from(*coverage) + more);
            }
        }
    }

    /// Adds bases that are good for something, from a place on, up to a limit; gives the quality of those over it to
    /// `over_limit`.
    pub(super) fn add(&mut self, from: usize, worth: &[u8], limit: u8, mut over_limit: impl FnMut(u8)) {
        let to = from + worth.len();
        if self.bases.len() < to {
            self.bases.resize(to, 0);
            self.coverage.resize(to, 0);
            self.more.resize(to, 0);
        }
        let bases = &mut self.bases[from..to];
        let is_full = largest(bases) >= limit;
        bases.iter_mut().zip(worth).for_each(|(bases, worth)| *bases += u8::from(*worth > 0));
        if is_full {
            for (bases, worth) in bases.iter_mut().zip(worth).filter(|(bases, _)| **bases > limit) {
                *bases = limit;
                over_limit(*worth & !NO_COVERAGE);
            }
        }
    }

    /// Adds coverage, 1 or 0, from a place on that has bases there.
    pub(super) fn cover(&mut self, from: usize, covers: &[u8]) {
        let coverage = &mut self.coverage[from..from + covers.len()];
        if largest(coverage) == u8::MAX {
            let more = self.more[from..].iter_mut().zip(coverage.iter_mut());
            more.for_each(|(more, coverage)| *more += u32::from(std::mem::take(coverage)));
        }
        coverage.iter_mut().zip(covers).for_each(|(coverage, covers)| *coverage += covers);
    }
}

fn largest(depths: &[u8]) -> u8 {
    depths.iter().fold(0, |largest, depth| largest.max(*depth))
}
