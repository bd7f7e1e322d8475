//! How long reads are: what N50 and the longest read are told from.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Lengths from here on are counted with those that begin with the same bits.
const EXACT: u64 = 1 << BITS;
/// So many bits are told apart: a length is known to half a percent.
const BITS: u32 = 8;

/// Reads by their lengths, exact below 256 bases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct ReadLengths {
    /// By the shortest length of a class: reads, and their bases.
    classes: BTreeMap<u64, (u64, u64)>,
    longest: u64,
}

/// The same with N50, for those who read the JSON.
#[derive(Serialize, Deserialize)]
struct Written {
    n50: u64,
    longest: u64,
    classes: BTreeMap<u64, (u64, u64)>,
}

impl From<Written> for ReadLengths {
    fn from(Written { longest, classes, .. }: Written) -> Self {
        ReadLengths { classes, longest }
    }
}

impl From<ReadLengths> for Written {
    fn from(lengths: ReadLengths) -> Self {
        Written { n50: lengths.n50(), longest: lengths.longest, classes: lengths.classes }
    }
}

impl ReadLengths {
    /// Counts so many reads of this length, in bases.
    pub fn add(&mut self, length: u64, reads: u64) {
        if reads == 0 {
            return;
        }
        let class = self.classes.entry(shortest(length)).or_default();
        *class = (class.0 + reads, class.1 + reads * length);
        self.longest = self.longest.max(length);
    }

    /// Bases of the longest read.
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// N50: half of the bases are in reads of so many bases or more, to three digits; 0 without reads.
    ///
    /// ```
    /// use zerohop_model::read_lengths::ReadLengths;
    /// let mut lengths = ReadLengths::default();
    /// [(20, 1), (30, 1), (60, 1)].into_iter().for_each(|(length, reads)| lengths.add(length, reads));
    /// assert_eq!(lengths.n50(), 60);
    /// ```
    pub fn n50(&self) -> u64 {
        let all: u64 = self.classes.values().map(|(_, bases)| bases).sum();
        let mut sum = 0;
        let class = self.classes.values().rev().find(|(_, bases)| {
            sum += bases;
            2 * sum >= all
        });
        // The mean of its class, which is known to half a percent.
        let mean = class.map_or(0, |(reads, bases)| bases / (*reads).max(1));
        let unit = mean.checked_ilog10().map_or(1, |digits| 10_u64.pow(digits.saturating_sub(2)));
        (mean + unit / 2) / unit * unit
    }
}

impl AddAssign<&ReadLengths> for ReadLengths {
    fn add_assign(&mut self, more: &ReadLengths) {
        for (shortest, (reads, bases)) in &more.classes {
            let class = self.classes.entry(*shortest).or_default();
            *class = (class.0 + reads, class.1 + bases);
        }
        self.longest = self.longest.max(more.longest);
    }
}

/// The shortest length that is counted with this one.
fn shortest(length: u64) -> u64 {
    if length < EXACT { length } else { length & !0 << (u64::BITS - length.leading_zeros() - BITS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn half_of_the_bases_are_in_reads_as_long(
            reads in proptest::collection::vec((0u64..400_000).prop_map(|length| length >> (length % 17)), 1..200),
            parts in 1usize..5,
        ) {
            let mut lengths = ReadLengths::default();
            for part in reads.chunks(reads.len().div_ceil(parts)) {
                let mut of_part = ReadLengths::default();
                part.iter().for_each(|length| of_part.add(*length, 1));
                lengths += &of_part;
            }
            let mut sorted = reads.clone();
            sorted.sort_unstable();
            let (all, mut sum) = (sorted.iter().sum::<u64>(), 0);
            let n50 = sorted.iter().rev().find(|length| {
                sum += *length;
                2 * sum >= all
            });
            let n50 = *n50.unwrap() as f64;
            prop_assert!((lengths.n50() as f64 - n50).abs() <= n50 / 100.0 + 1.0, "{} and {n50}", lengths.n50());
            prop_assert_eq!(lengths.longest(), *sorted.last().unwrap());
        }
    }
}
