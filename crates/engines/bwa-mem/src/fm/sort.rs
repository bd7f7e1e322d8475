//! The order of the suffixes that begin in a block, among themselves.
//!
//! A suffix is less than another one if its rank is: nearly all are in order when they are sorted by their ranks.
//! Between suffixes of one rank nothing behind the block stands. They are compared base by base, and after each base by
//! the ranks of what follows. Some are equal as far as [`COMPARED`] goes, in repeats that lie in the block alone. They
//! get the number of the first among them, and are sorted by the numbers of the suffixes so many bases on; equal ones
//! share four times as many bases then, and so on (doubling: Manber and Myers 1993; Larsson and Sadakane 2007).
//!
//! A comparison may come to the end of the block, where what lies behind begins, R. It ends there: of R and a suffix
//! that begins in the block, the latter is greater if its rank is above that of R, and otherwise less.

use super::ranks::{RANKS, Ranked, unpack};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::mem::take;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use zerohop_model::buckets::{self, Counts};

/// Bases that suffixes of one rank are compared by, before they get numbers.
const COMPARED: usize = 8;
/// Of so many times as many bases are those equal that a round of doubling leaves.
const GROWTH: usize = 4;
/// Suffixes of a bucket, about: they are sorted within the cache.
const BUCKET: usize = 1024;
/// So many are sorted by more than one thread.
const MANY: usize = 16 * BUCKET;
/// Buckets at most. Of more, the processor does not keep the addresses of all pages that are written to (its TLB).
const BUCKETS: usize = 2048;

/// A suffix of the block: its rank, its place in the block, and the base before it, from the highest bits to the
/// lowest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Suffix(u64);

/// How many bits a place takes.
#[derive(Debug, Clone, Copy)]
struct PlaceBits(u32);

impl PlaceBits {
    /// For a block of so many bases.
    fn of(length: usize) -> Self {
        PlaceBits(usize::BITS - length.leading_zeros())
    }

    #[inline(always)]
    fn pack(self, place: usize, ranked: Ranked) -> Suffix {
        let (rank, before) = unpack(ranked);
        Suffix(((rank << self.0 | place) << 2) as u64 | u64::from(before))
    }

    #[inline(always)]
    fn place(self, suffix: Suffix) -> usize {
        (suffix.0 >> 2) as usize & ((1 << self.0) - 1)
    }

    #[inline(always)]
    fn rank(self, suffix: Suffix) -> usize {
        (suffix.0 >> 2 >> self.0) as usize
    }
}

/// Bases of a block at most, of a text of so many: rank and place have room in 64 bits.
pub(super) fn longest(bases: usize) -> usize {
    1 << (60 - (bases.min(RANKS) + 1).ilog2()).min(30)
}

/// The suffixes that begin in a block, in their order.
pub(super) struct SortedBlock<'b> {
    suffixes: &'b [Suffix],
    bits: PlaceBits,
}

impl SortedBlock<'_> {
    pub(super) fn len(&self) -> usize {
        self.suffixes.len()
    }

    /// Where the suffixes begin, from the start of the block on, in their order.
    pub(super) fn places(&self) -> impl IndexedParallelIterator<Item = usize> {
        self.suffixes.par_iter().map(|suffix| self.bits.place(*suffix))
    }

    /// The rank of a suffix of the block, and the base before it.
    #[inline(always)]
    pub(super) fn ranked(&self, number: usize) -> (usize, u8) {
        let suffix = self.suffixes[number];
        (self.bits.rank(suffix), (suffix.0 & 3) as u8)
    }

    /// The row of a suffix of the block among those of the block and of what lies behind it.
    pub(super) fn row(&self, number: usize) -> usize {
        self.ranked(number).0 + number
    }

    /// How many of the first suffixes of the block are as `is_before` says of their number.
    pub(super) fn count(&self, is_before: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// Sorts the suffixes of a block with these ranks, of which none is above `greatest`. `rank` is that of what lies
/// behind the block, and `last` its last base. `suffixes` are as many; what they hold makes no difference.
pub(super) fn sort<'b>(
    ranks: &[Ranked],
    greatest: usize,
    (rank, last): (usize, u8),
    suffixes: &'b mut [Suffix],
) -> SortedBlock<'b> {
    let bits = PlaceBits::of(ranks.len());
    let block = Block { ranks, bits, rank, last };
    let mut equal: Vec<Range<usize>> = block
        .buckets(greatest, suffixes)
        .into_par_iter()
        .flat_map_iter(|(start, bucket)| {
            sort_by(bucket, Suffix::cmp);
            block.sort_equal_ranks(start, bucket)
        })
        .collect();
    if !equal.is_empty() {
        let numbers: Vec<AtomicU32> = ranks.par_iter().map(|_| AtomicU32::new(0)).collect();
        put_numbers(bits, &numbers, suffixes, std::slice::from_ref(&(0..suffixes.len())), &equal);
        let mut shared = COMPARED;
        while !equal.is_empty() {
            equal = double(bits, &numbers, shared, suffixes, &equal);
            shared *= GROWTH;
        }
    }
    SortedBlock { suffixes, bits }
}

/// A block that is to be sorted.
struct Block<'b> {
    ranks: &'b [Ranked],
    bits: PlaceBits,
    /// Of what lies behind.
    rank: usize,
    last: u8,
}

impl Block<'_> {
    /// The suffixes in buckets by their ranks, each with the number of its first one.
    fn buckets<'s>(&self, greatest: usize, suffixes: &'s mut [Suffix]) -> Vec<(usize, &'s mut [Suffix])> {
        let wanted = (self.ranks.len() / BUCKET).clamp(1, BUCKETS);
        let width = greatest / wanted + 1;
        let shift = usize::BITS - (width - 1).leading_zeros();
        let bucket = |ranked: &Ranked| unpack(*ranked).0 >> shift;
        let count = (greatest >> shift) + 1;
        let share = self.ranks.len().div_ceil(4 * rayon::current_num_threads()).max(BUCKET);
        let counts = self.ranks.par_chunks(share).map(|ranks| {
            let mut counts = vec![0; count];
            ranks.iter().for_each(|ranked| counts[bucket(ranked)] += 1);
            counts
        });
        let counts: Counts = counts.collect();
        let pieces = buckets::pieces(suffixes, &counts);
        self.ranks.par_chunks(share).zip(pieces).enumerate().for_each(|(number, (ranks, mut pieces))| {
            for (place, ranked) in (number * share..).zip(ranks) {
                if let Some(suffix) = pieces[bucket(ranked)].next() {
                    *suffix = self.bits.pack(place, *ranked);
                }
            }
        });
        let mut start = 0;
        let buckets = buckets::cut(suffixes, &counts).into_iter().map(|bucket| {
            start += bucket.len();
            (start - bucket.len(), bucket)
        });
        buckets.collect()
    }

    /// Puts those of equal ranks in order; gives the numbers of those that are equal still.
    fn sort_equal_ranks(&self, start: usize, bucket: &mut [Suffix]) -> Vec<Range<usize>> {
        let mut equal = Vec::new();
        let mut at = start;
        for suffixes in bucket.chunk_by_mut(|one, other| self.bits.rank(*one) == self.bits.rank(*other)) {
            if suffixes.len() > 1 {
                let compare =
                    |one: &Suffix, other: &Suffix| self.compare(self.bits.place(*one), self.bits.place(*other));
                sort_by(suffixes, compare);
                equal.extend(runs(at, suffixes, |one, other| compare(one, other).is_eq()));
            }
            at += suffixes.len();
        }
        equal
    }

    /// The order of the suffixes at these places, which have one rank.
    #[inline]
    fn compare(&self, one: usize, other: usize) -> Ordering {
        first_difference((0..COMPARED).map(|at| self.compare_step(one + at, other + at)))
    }

    /// By the bases at these places, and the ranks of what follows them.
    #[inline(always)]
    fn compare_step(&self, one: usize, other: usize) -> Ordering {
        let next = |place: usize| self.ranks.get(place + 1).map(|next| unpack(*next));
        // Of a suffix of the block, and what lies behind it.
        let beside_end = |(rank, base): (usize, u8)| {
            base.cmp(&self.last).then(if rank > self.rank { Ordering::Greater } else { Ordering::Less })
        };
        match (next(one), next(other)) {
            (Some((one, base)), Some((other, other_base))) => base.cmp(&other_base).then(one.cmp(&other)),
            (Some(one), None) => beside_end(one),
            (None, Some(other)) => beside_end(other).reverse(),
            (None, None) => Ordering::Equal,
        }
    }
}

/// The numbers of those that are equal to their neighbours, `start` being the number of the first one.
fn runs(start: usize, suffixes: &[Suffix], is_equal: impl Fn(&Suffix, &Suffix) -> bool) -> Vec<Range<usize>> {
    let mut at = start;
    let runs = suffixes.chunk_by(is_equal).map(|run| {
        at += run.len();
        at - run.len()..at
    });
    runs.filter(|run| run.len() > 1).collect()
}

/// Gives the suffixes of these runs their numbers, and equal ones that of the first among them.
fn put_numbers(
    bits: PlaceBits,
    numbers: &[AtomicU32],
    suffixes: &[Suffix],
    changed: &[Range<usize>],
    equal: &[Range<usize>],
) {
    let put = |suffix: &Suffix, number: usize| numbers[bits.place(*suffix)].store(number as u32, Relaxed);
    let each = |run: &Range<usize>| suffixes[run.clone()].par_iter().with_min_len(BUCKET);
    changed.par_iter().for_each(|run| each(run).enumerate().for_each(|(at, suffix)| put(suffix, run.start + at)));
    equal.par_iter().for_each(|run| each(run).for_each(|suffix| put(suffix, run.start)));
}

/// Sorts those that share so many bases; gives those that share [`GROWTH`] times as many.
///
/// None of them ends within these bases: a comparison that comes to the end of the block is decided there.
fn double(
    bits: PlaceBits,
    numbers: &[AtomicU32],
    shared: usize,
    suffixes: &mut [Suffix],
    equal: &[Range<usize>],
) -> Vec<Range<usize>> {
    let compare = |one: &Suffix, other: &Suffix| {
        let number = |suffix: &Suffix, times: usize| numbers[bits.place(*suffix) + times * shared].load(Relaxed);
        let orders = (1..GROWTH).map(|times| number(one, times).cmp(&number(other, times)));
        first_difference(orders)
    };
    let (mut rest, mut at, mut parts) = (&mut *suffixes, 0, Vec::with_capacity(equal.len()));
    for run in equal {
        let (_, from) = take(&mut rest).split_at_mut(run.start - at);
        let (part, others) = from.split_at_mut(run.len());
        parts.push((run.start, part));
        (rest, at) = (others, run.end);
    }
    let left = parts.into_par_iter().flat_map_iter(|(start, part)| {
        sort_by(part, compare);
        runs(start, part, |one, other| compare(one, other).is_eq())
    });
    let left: Vec<Range<usize>> = left.collect();
    put_numbers(bits, numbers, suffixes, equal, &left);
    left
}

/// Where there are many, in all threads; the sort for one is the faster one.
fn sort_by(suffixes: &mut [Suffix], compare: impl Fn(&Suffix, &Suffix) -> Ordering + Sync) {
    if suffixes.len() < MANY { suffixes.sort_unstable_by(compare) } else { suffixes.par_sort_unstable_by(compare) }
}

fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
