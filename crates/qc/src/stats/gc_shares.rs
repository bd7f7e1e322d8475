//! Reads by their share of G and C, of any length. (The table of `samtools stats` leaves out most reads of more than
//! 200 bases: [`OfMate::add_gc`](super::OfMate).)

use crate::counts::add_all;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// From 0 to 100 %.
const PERCENTS: u64 = 101;
/// Parts that each read is counted in.
const PARTS: u64 = 1000;

/// Parts of reads, by percent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GcShares(Vec<u64>);

impl GcShares {
    /// Adds a read of which so many bases are G or C. The shares that reads of a length can have lie side by side from
    /// 0 to 100 %, so a short read is spread over all percents that its share covers.
    pub(super) fn add(&mut self, gc: usize, bases: usize) {
        self.0.resize(PERCENTS as usize, 0);
        // in parts of a percent
        let edge = |gc: usize| gc as u64 * PERCENTS * PARTS / (bases as u64 + 1);
        let (start, end) = (edge(gc), edge(gc + 1).max(edge(gc) + 1));
        let mut counted = 0;
        for percent in start / PARTS..end.div_ceil(PARTS) {
            let covered = ((percent + 1) * PARTS).min(end) - start;
            let so_far = PARTS * covered / (end - start);
            self.0[percent as usize] += so_far - counted;
            counted = so_far;
        }
    }

    /// Reads, by percent: together as many as were added.
    pub(super) fn reads(&self) -> Vec<u64> {
        let (mut parts, mut counted) = (0, 0);
        let reads = |of_percent: &u64| {
            parts += of_percent;
            let so_far = (parts + PARTS / 2) / PARTS;
            so_far - std::mem::replace(&mut counted, so_far)
        };
        self.0.iter().map(reads).collect()
    }
}

impl AddAssign<&GcShares> for GcShares {
    fn add_assign(&mut self, more: &GcShares) {
        add_all(&mut self.0, &more.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_read_counts_once_whatever_its_length() {
        for bases in [0, 1, 7, 100, 150, 151, 5000, 3_000_000] {
            for gc in [0, bases / 3, bases / 2, bases] {
                let mut shares = GcShares::default();
                shares.add(gc, bases);
                assert_eq!(shares.0.iter().sum::<u64>(), PARTS, "{gc} of {bases}");
                assert_eq!(shares.reads().iter().sum::<u64>(), 1, "{gc} of {bases}");
                let place = shares.0.iter().zip(0..).map(|(parts, percent)| parts * percent).sum::<u64>() / PARTS;
                let wanted = 100 * gc as u64 / bases.max(1) as u64;
                assert!(bases < 100 || place.abs_diff(wanted) <= 1, "{gc} of {bases}: {place}");
            }
        }
    }

    #[test]
    fn no_percent_is_more_frequent_because_of_the_length_of_reads() {
        for bases in [30, 100, 150, 151, 250, 1000] {
            let mut shares = GcShares::default();
            (0..=bases).for_each(|gc| shares.add(gc, bases));
            let wanted = (bases as u64 + 1) * PARTS / PERCENTS;
            let is_flat = shares.0.iter().all(|parts| parts.abs_diff(wanted) * 20 < wanted);
            assert!(is_flat, "{bases}: {:?}", shares.0);
        }
    }
}
