//! Statistics of reads before and after trimming, cycle by cycle (Stats of fastp).
//!
//! What is told of the reads after trimming is found as a difference: only what was cut off is looked at again, and
//! reads of which all stays cost nothing.

use crate::filter::count;
use crate::outcome::Outcome;
use crate::read::{Read, Span};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Kinds of letters: the last three bits of their bytes, which tell A, C, G, T and N from each other.
pub(crate) const KINDS: usize = 8;
/// Letters of a k-mer.
pub(crate) const K: usize = 5;
/// K-mers of the letters A, C, G and T.
const KMERS: usize = 1 << (2 * K);
/// The byte of quality 0.
const QUALITY_ZERO: u8 = 33;
/// Cycles that are told apart; the bases of later ones, of long reads, count for the last of them: that bounds the
/// memory.
const MOST_CYCLES: usize = if cfg!(test) { 50 } else { 1 << 16 };
/// From these qualities on bases are counted.
pub(crate) const QUALITIES: [u8; 3] = [20, 30, 40];

/// How many letters of one kind stand at one cycle, and the sum of their qualities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub bases: u64,
    pub qualities: u64,
}

impl Cell {
    /// Adds a base of this quality, or takes it away.
    #[inline]
    fn add<const PLUS: bool>(&mut self, quality: u8) {
        move_by::<PLUS>(&mut self.bases, 1);
        move_by::<PLUS>(&mut self.qualities, u64::from(quality.saturating_sub(QUALITY_ZERO)));
    }
}

/// Sums over reads. Where they are differences, they wrap around.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub reads: u64,
    pub bases: u64,
    /// Bases of at least the qualities in [`QUALITIES`].
    pub good: [u64; QUALITIES.len()],
    /// For each cycle, the kinds of letters.
    pub cycles: Vec<[Cell; KINDS]>,
    /// By the number of the k-mer: its first letter in the lowest two bits, as `letter >> 1 & 3`.
    pub kmers: Vec<u64>,
}

impl Default for Sums {
    fn default() -> Self {
        Sums { reads: 0, bases: 0, good: [0; QUALITIES.len()], cycles: Vec::new(), kmers: vec![0; KMERS] }
    }
}

impl Sums {
    /// Adds the bases of a read from this one on, or takes them away.
    fn add<const PLUS: bool>(&mut self, read: &Read<'_>, from: usize) {
        let from = from.min(read.len());
        let (bases, qualities) = (&read.bases()[from..], &read.qualities()[from..]);
        move_by::<PLUS>(&mut self.bases, bases.len() as u64);
        for (good, least) in self.good.iter_mut().zip(QUALITIES) {
            let is_good = |quality: u8| quality >= QUALITY_ZERO + least;
            move_by::<PLUS>(good, count(qualities, is_good) as u64);
        }
        let cycles = read.len().min(MOST_CYCLES);
        if self.cycles.len() < cycles {
            self.cycles.resize(cycles, Default::default());
        }
        let apart = self.cycles.get_mut(from..).unwrap_or_default();
        let known = apart.len().min(bases.len());
        for ((cells, &base), &quality) in apart.iter_mut().zip(bases).zip(qualities) {
            cells[usize::from(base) % KINDS].add::<PLUS>(quality);
        }
        if let Some(last) = self.cycles.last_mut() {
            for (&base, &quality) in bases[known..].iter().zip(&qualities[known..]) {
                last[usize::from(base) % KINDS].add::<PLUS>(quality);
            }
        }
        // Those k-mers that end at `from` or behind it.
        self.add_kmers::<PLUS>(&read.bases()[from.saturating_sub(K - 1)..]);
    }

    /// The k-mers of these letters.
    fn add_kmers<const PLUS: bool>(&mut self, letters: &[u8]) {
        match count(letters, |letter| !is_base(letter)) {
            0 => self.add_kmers_of_bases::<PLUS>(letters),
            _ => letters.split(|&letter| !is_base(letter)).for_each(|bases| self.add_kmers_of_bases::<PLUS>(bases)),
        }
    }

    fn add_kmers_of_bases<const PLUS: bool>(&mut self, bases: &[u8]) {
        /// Bases that are looked at together.
        const GROUP: usize = 8;
        let Some((begin, others)) = bases.split_at_checked(K - 1) else { return };
        let (groups, rest) = others.as_chunks::<GROUP>();
        let mut codes = begin.iter().rev().fold(0, |codes, &base| codes << 2 | code(base));
        for group in groups {
            codes |= packed(group) << (2 * (K - 1));
            for at in 0..GROUP {
                move_by::<PLUS>(&mut self.kmers[(codes >> (2 * at)) as usize % KMERS], 1);
            }
            codes >>= 2 * GROUP;
        }
        for &base in rest {
            codes |= code(base) << (2 * (K - 1));
            move_by::<PLUS>(&mut self.kmers[codes as usize % KMERS], 1);
            codes >>= 2;
        }
    }
}

/// Whether this is A, C, G or T.
#[inline]
fn is_base(letter: u8) -> bool {
    (letter == b'A') | (letter == b'C') | (letter == b'G') | (letter == b'T')
}

/// Two bits that tell bases from each other.
#[inline]
fn code(letter: u8) -> u64 {
    u64::from(letter >> 1 & 3)
}

/// Adds to a sum, or takes away from it.
#[inline]
fn move_by<const PLUS: bool>(sum: &mut u64, by: u64) {
    *sum = if PLUS { sum.wrapping_add(by) } else { sum.wrapping_sub(by) };
}

/// The codes of these letters, that of the first one lowest.
#[inline]
fn packed(letters: &[u8; 8]) -> u64 {
    let bits = u64::from_le_bytes(*letters) >> 1 & 0x0303_0303_0303_0303;
    let bits = (bits | bits >> 6) & 0x000F_000F_000F_000F;
    let bits = (bits | bits >> 12) & 0x0000_00FF_0000_00FF;
    (bits | bits >> 24) & 0xFFFF
}

impl AddAssign<&Sums> for Sums {
    fn add_assign(&mut self, other: &Sums) {
        self.reads = self.reads.wrapping_add(other.reads);
        self.bases = self.bases.wrapping_add(other.bases);
        self.good.iter_mut().zip(other.good).for_each(|(own, good)| *own = own.wrapping_add(good));
        if self.cycles.len() < other.cycles.len() {
            self.cycles.resize(other.cycles.len(), Default::default());
        }
        for (own, cell) in self.cycles.as_flattened_mut().iter_mut().zip(other.cycles.as_flattened()) {
            own.bases = own.bases.wrapping_add(cell.bases);
            own.qualities = own.qualities.wrapping_add(cell.qualities);
        }
        self.kmers.iter_mut().zip(&other.kmers).for_each(|(own, kmers)| *own = own.wrapping_add(*kmers));
    }
}

/// What is shown of the cycles of first reads or of second ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curves {
    /// The mean quality of each cycle, of reads as they came.
    pub quality_before: Vec<f64>,
    /// The same of what stayed.
    pub quality_after: Vec<f64>,
    /// The shares of A, C, G, T and N among the bases of each cycle, of reads as they came.
    pub bases_before: Vec<[f64; 5]>,
}

/// The mean quality of the bases of a cycle.
fn mean_quality(cells: &[Cell; KINDS]) -> f64 {
    let sum = |of: fn(&Cell) -> u64| cells.iter().map(of).sum::<u64>() as f64;
    sum(|cell| cell.qualities) / sum(|cell| cell.bases).max(1.0)
}

/// The shares of A, C, G, T and N.
fn shares(cells: &[Cell; KINDS]) -> [f64; 5] {
    let all = cells.iter().map(|cell| cell.bases).sum::<u64>().max(1) as f64;
    b"ACGTN".map(|letter| cells[usize::from(letter) % KINDS].bases as f64 / all)
}

/// Statistics of first reads or of second ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Mate {
    before: Sums,
    /// What has to be added to get those after trimming.
    change: Sums,
}

impl Mate {
    fn add(&mut self, read: &Read<'_>, kept: Option<Span>) {
        self.before.reads += 1;
        self.before.add::<true>(read, 0);
        match kept {
            Some(span) if span.start == 0 => self.change.add::<false>(read, span.len()),
            kept => {
                self.change.add::<false>(read, 0);
                match kept {
                    // What was cut off at the front moves all cycles.
                    Some(span) => self.change.add::<true>(&read.within(span), 0),
                    None => self.change.reads = self.change.reads.wrapping_sub(1),
                }
            }
        }
    }

    fn after(&self) -> Sums {
        let mut after = self.before.clone();
        after += &self.change;
        let is_used = |cells: &[Cell; KINDS]| cells.iter().any(|cell| cell.bases > 0);
        after.cycles.truncate(after.cycles.iter().take_while(|cells| is_used(cells)).count());
        after
    }
}

/// Statistics of reads before and after trimming. Those of parts of the input add up, in any order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    mates: [Mate; 2],
}

impl Statistics {
    /// Adds a pair, and what was kept of it.
    pub fn add_pair(&mut self, reads: [Read<'_>; 2], outcome: &Outcome<[Span; 2]>) {
        for (number, (mate, read)) in self.mates.iter_mut().zip(&reads).enumerate() {
            let kept = match outcome {
                Outcome::Kept(spans) => Some(spans[number]),
                Outcome::Dropped(_) => None,
            };
            mate.add(read, kept);
        }
    }

    /// Adds a read without a mate.
    pub fn add_single(&mut self, read: Read<'_>, outcome: &Outcome<Span>) {
        let kept = match outcome {
            Outcome::Kept(span) => Some(*span),
            Outcome::Dropped(_) => None,
        };
        self.mates[0].add(&read, kept);
    }

    /// By cycle, of first reads and of second ones: the mean quality before, and after; the shares of A, C, G, T and N
    /// before.
    pub fn curves(&self) -> [Curves; 2] {
        self.mates.each_ref().map(|mate| {
            let qualities = |sums: &Sums| sums.cycles.iter().map(mean_quality).collect();
            Curves {
                quality_before: qualities(&mate.before),
                quality_after: qualities(&mate.after()),
                bases_before: mate.before.cycles.iter().map(shares).collect(),
            }
        })
    }

    /// Of first reads and of second ones, before.
    pub(crate) fn before(&self) -> [&Sums; 2] {
        self.mates.each_ref().map(|mate| &mate.before)
    }

    /// The same after.
    pub(crate) fn after(&self) -> [Sums; 2] {
        self.mates.each_ref().map(Mate::after)
    }
}

impl AddAssign<&Statistics> for Statistics {
    fn add_assign(&mut self, other: &Statistics) {
        for (own, mate) in self.mates.iter_mut().zip(&other.mates) {
            own.before += &mate.before;
            own.change += &mate.change;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_of_long_reads_are_bounded() {
        let (bases, qualities) = ([b'A'; 120], [b'5'; 120]);
        let read = Read::new(&bases, &qualities);
        let mut statistics = Statistics::default();
        statistics.add_single(read, &Outcome::Kept(Span { start: 0, end: 90 }));
        statistics.add_single(read, &Outcome::Kept(Span { start: 10, end: 120 }));
        statistics.add_single(read.within(Span { start: 0, end: 3 }), &Outcome::Kept(Span { start: 0, end: 2 }));
        let bases = |sums: &Sums| sums.cycles.iter().map(|cells| cells[kind()].bases).collect::<Vec<_>>();
        let (before, after) = (bases(statistics.before()[0]), bases(&statistics.after()[0]));
        assert_eq!((before.len(), before[0], before[3], before[48], before[49]), (50, 3, 2, 2, 2 * 71));
        assert_eq!((after.len(), after[2], after[48], after[49]), (50, 2, 2, 41 + 61));
        assert_eq!((statistics.before()[0].bases, statistics.after()[0].bases), (243, 202));
        let curves = &statistics.curves()[0];
        assert_eq!((curves.quality_before[49], curves.bases_before[0]), (20.0, [1.0, 0.0, 0.0, 0.0, 0.0]));
    }

    fn kind() -> usize {
        usize::from(b'A') % KINDS
    }
}
