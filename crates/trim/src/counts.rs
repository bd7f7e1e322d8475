//! What was trimmed and dropped, in numbers.

use crate::adapter_counts::AdapterCounts;
use crate::filter::Reason;
use crate::outcome::Outcome;
use crate::read::{Read, Span};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The insert size that stands for all longer ones, and for those not known (Options::insertSizeMax of fastp).
pub(crate) const INSERT_UNKNOWN: usize = 512;

/// Reads and bases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Reads.
    pub reads: u64,
    /// Bases.
    pub bases: u64,
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.reads += other.reads;
        self.bases += other.bases;
    }
}

/// What was trimmed and dropped. Counts of parts of the input add up; see [`AdapterCounts`] for the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// First reads, and second ones, as they came.
    pub before: [Amount; 2],
    /// What was left of them.
    pub after: [Amount; 2],
    /// Reads that were dropped, by [`Reason`].
    pub dropped: [u64; 6],
    /// Reads from which an adapter was cut.
    pub adapter_reads: u64,
    /// Bases of adapters.
    pub adapter_bases: u64,
    /// The adapters that were cut from first reads, and from second ones.
    pub adapters: [AdapterCounts; 2],
    /// Tails of G. fastp does not count them.
    pub poly_g: Amount,
    /// Tails of A, T, C and G, where tails of all letters are cut off.
    pub poly_x: [Amount; 4],
    /// Pairs by the size of their insert; the last one stands for those not known.
    pub inserts: Vec<u64>,
}

impl Default for Counts {
    fn default() -> Self {
        Counts {
            before: Default::default(),
            after: Default::default(),
            dropped: Default::default(),
            adapter_reads: 0,
            adapter_bases: 0,
            adapters: Default::default(),
            poly_g: Amount::default(),
            poly_x: Default::default(),
            inserts: vec![0; INSERT_UNKNOWN + 1],
        }
    }
}

impl Counts {
    /// Reads that were dropped for this reason.
    pub fn dropped_for(&self, reason: Reason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Reads that stayed.
    pub fn passed(&self) -> u64 {
        self.after.iter().map(|amount| amount.reads).sum()
    }

    /// The insert size that most pairs have, of those known; 0 if none is.
    pub fn insert_peak(&self) -> usize {
        let known = self.inserts.iter().take(INSERT_UNKNOWN).enumerate();
        // Of equal ones the first.
        known.rev().max_by_key(|(_, pairs)| **pairs).map_or(0, |(size, _)| size)
    }

    /// Counts the outcome of a pair or of a read.
    pub(crate) fn judge<const N: usize>(
        &mut self,
        reads: &[Read<'_>; N],
        outcome: Outcome<[Span; N]>,
    ) -> Outcome<[Span; N]> {
        let amount = |bases: usize| Amount { reads: 1, bases: bases as u64 };
        self.before.iter_mut().zip(reads).for_each(|(before, read)| *before += amount(read.len()));
        match &outcome {
            Outcome::Kept(spans) => {
                self.after.iter_mut().zip(spans).for_each(|(after, span)| *after += amount(span.len()));
            }
            Outcome::Dropped(failed) => self.dropped[failed.reason() as usize] += N as u64,
        }
        outcome
    }

    pub(crate) fn add_insert(&mut self, size: usize) {
        if let Some(pairs) = self.inserts.get_mut(size) {
            *pairs += 1;
        }
    }

    /// Counts an adapter that was cut off.
    pub(crate) fn add_adapter(&mut self, mate: usize, letters: &[u8]) {
        self.adapter_bases += letters.len() as u64;
        self.adapters[mate].add(letters);
    }

    /// Counts the adapters of a pair that its overlap told. As with fastp, that of the second read is left out if there
    /// is no more room for that of the first.
    pub(crate) fn add_adapters_of_pair(&mut self, letters: [&[u8]; 2]) {
        self.adapter_bases += letters.iter().map(|letters| letters.len() as u64).sum::<u64>();
        if self.adapters[0].add(letters[0]) {
            self.adapters[1].add(letters[1]);
        }
    }
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        for mate in 0..2 {
            self.before[mate] += other.before[mate];
            self.after[mate] += other.after[mate];
            self.adapters[mate] += &other.adapters[mate];
        }
        self.dropped.iter_mut().zip(&other.dropped).for_each(|(own, reads)| *own += reads);
        self.adapter_reads += other.adapter_reads;
        self.adapter_bases += other.adapter_bases;
        self.poly_g += other.poly_g;
        self.poly_x.iter_mut().zip(other.poly_x).for_each(|(own, amount)| *own += amount);
        self.inserts.iter_mut().zip(&other.inserts).for_each(|(own, pairs)| *own += pairs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_room_for_the_first_adapter_the_second_is_left_out() {
        let mut counts = Counts::default();
        let adapter = |number: u32| -> Vec<u8> {
            let own = (0..8).map(|at| b"ACGT"[(number >> (2 * at)) as usize & 3]);
            // Neighbours differ, so that the adapter is not simple.
            b"ACGTACGTACGT".iter().copied().chain(own).collect()
        };
        let times = |counts: &Counts| counts.adapters[1].frequent().0.first().map(|(_, count)| *count);
        // One more than there is room for.
        for number in 0..20_002 {
            counts.add_adapters_of_pair([&adapter(number), b"ACGT"]);
        }
        assert_eq!(counts.adapter_bases, 24 * 20_002);
        assert_eq!(times(&counts), Some(20_001));
        counts.add_adapters_of_pair([b"", b"ACGT"]);
        assert_eq!(times(&counts), Some(20_002));
    }

    #[test]
    fn of_equal_insert_sizes_the_smaller_one_is_the_peak() {
        let mut counts = Counts::default();
        assert_eq!(counts.insert_peak(), 0);
        [INSERT_UNKNOWN, INSERT_UNKNOWN, 300, 200].into_iter().for_each(|size| counts.add_insert(size));
        assert_eq!(counts.insert_peak(), 200);
    }
}
