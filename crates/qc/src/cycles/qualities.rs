//! Qualities by cycle.

use super::as_sequenced;
use crate::counts::{add_all, count_at};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Qualities that most reads have are less.
const USUAL: usize = 64;
/// Qualities that are not usual.
const OTHERS: usize = 256 - USUAL;
/// So many cycles are counted at a time.
const AT_A_TIME: usize = 8;

/// Qualities of the reads of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QualityCycles {
    /// By cycle, then by quality, up to [`USUAL`].
    usual: Vec<u64>,
    /// What is not in `usual` yet, of so many reads: counts as small as these stay in the nearest cache.
    #[serde(skip)]
    held: (u8, Vec<[[u8; USUAL]; AT_A_TIME]>),
    /// The others, which reads without qualities have, too.
    others: Vec<u64>,
    /// The largest.
    pub(crate) largest: u8,
    /// The bases of the longest read that has qualities.
    pub(crate) longest: usize,
}

/// The sum of qualities, many at a time.
pub(crate) fn quality_sum(qualities: &[u8]) -> u64 {
    /// So many are less than 2^16 in all.
    const IN_16_BITS: usize = 256;
    let sum = |some: &[u8]| some.iter().fold(0u16, |sum, &quality| sum.wrapping_add(quality.into()));
    qualities.chunks(IN_16_BITS).map(|some| u64::from(sum(some))).sum()
}

impl QualityCycles {
    /// Adds those of a read, as they stand in its record.
    pub(super) fn add(&mut self, qualities: &[u8], is_reverse: bool) {
        let largest = qualities.iter().fold(0, |largest: u8, &quality| largest.max(quality));
        self.largest = self.largest.max(largest);
        if largest < u8::MAX {
            self.longest = self.longest.max(qualities.len());
        }
        if usize::from(largest) >= USUAL {
            return self.add_unusual(qualities, is_reverse);
        }
        match is_reverse {
            false => {
                let (many, rest) = qualities.as_chunks();
                self.hold(many.iter().map(|some| u64::from_le_bytes(*some)), rest.iter().copied());
            }
            true => {
                let (rest, many) = qualities.as_rchunks();
                self.hold(many.iter().rev().map(|some| u64::from_be_bytes(*some)), rest.iter().rev().copied());
            }
        }
    }

    /// Adds usual ones of one read: [`AT_A_TIME`] in each of `many`, the first one as its lowest byte.
    #[inline]
    fn hold(&mut self, many: impl ExactSizeIterator<Item = u64>, rest: impl Iterator<Item = u8>) {
        const USUAL_BITS: u64 = u64::from_le_bytes([USUAL as u8 - 1; AT_A_TIME]);
        let (reads, held) = &mut self.held;
        let whole = many.len();
        if held.len() < whole + 1 {
            held.resize(whole + 1, [[0; USUAL]; AT_A_TIME]);
        }
        for (cycles, qualities) in held.iter_mut().zip(many) {
            let qualities = qualities & USUAL_BITS;
            for (place, cycle) in cycles.iter_mut().enumerate() {
                cycle[usize::from((qualities >> (8 * place)) as u8)] += 1;
            }
        }
        for (cycle, quality) in held[whole].iter_mut().zip(rest) {
            cycle[usize::from(quality) % USUAL] += 1;
        }
        *reads += 1;
        if *reads == u8::MAX {
            self.settle();
        }
    }

    /// Counts all that is held.
    pub(super) fn settle(&mut self) {
        let (reads, held) = &mut self.held;
        let held = held.as_flattened_mut().as_flattened_mut();
        if self.usual.len() < held.len() {
            self.usual.resize(held.len(), 0);
        }
        self.usual.iter_mut().zip(held).for_each(|(all, held)| *all += u64::from(std::mem::take(held)));
        *reads = 0;
    }

    fn add_unusual(&mut self, qualities: &[u8], is_reverse: bool) {
        if self.usual.len() < USUAL * qualities.len() {
            self.usual.resize(USUAL * qualities.len(), 0);
        }
        for (cycle, quality) in as_sequenced(qualities, is_reverse).enumerate() {
            match usize::from(quality).checked_sub(USUAL) {
                None => self.usual[cycle * USUAL + usize::from(quality)] += 1,
                Some(other) => count_at(&mut self.others, cycle * OTHERS + other),
            }
        }
    }

    /// How many bases of a cycle, from 0, have this quality.
    pub(crate) fn at(&self, cycle: usize, quality: usize) -> u64 {
        let count = match quality.checked_sub(USUAL) {
            None => self.usual.get(cycle * USUAL + quality),
            Some(other) => self.others.get(cycle * OTHERS + other),
        };
        count.copied().unwrap_or_default()
    }

    /// The mean of a cycle, from 0, of those below `limit`.
    pub(crate) fn mean(&self, cycle: usize, limit: usize) -> f64 {
        let (mut bases, mut sum) = (0, 0);
        for quality in 0..limit {
            let count = self.at(cycle, quality);
            (bases, sum) = (bases + count, sum + count * quality as u64);
        }
        sum as f64 / bases as f64
    }
}

impl AddAssign<&QualityCycles> for QualityCycles {
    /// Both are settled.
    fn add_assign(&mut self, more: &QualityCycles) {
        add_all(&mut self.usual, &more.usual);
        add_all(&mut self.others, &more.others);
        self.largest = self.largest.max(more.largest);
        self.longest = self.longest.max(more.longest);
    }
}
