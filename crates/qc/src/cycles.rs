//! Bases and qualities by cycle: by place in the read as it was sequenced, clipped bases too.

use crate::counts::{add_all, count_at};
use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The bases that are told apart, as BAM codes them: A, C, G, T and N.
const CODES: [u8; 5] = [1, 2, 4, 8, 15];
const C: u8 = CODES[1];
const G: u8 = CODES[2];

/// Bases of primary records, as they stand in the records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BaseCycles {
    /// Of first and last reads, of each forward and reverse ones.
    strands: [[StrandBases; 2]; 2],
    /// The bases of a read, one in a byte.
    #[serde(skip)]
    unpacked: Vec<u8>,
}

/// Bases of the reads of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct StrandBases {
    /// By cycle, for each of [`CODES`].
    counts: Vec<[u64; CODES.len()]>,
    /// Reads by their bases.
    lengths: Vec<u64>,
    /// What is not in `counts` yet, of less than 256 reads: so many reads, for each of [`CODES`] by cycle. Bytes are
    /// counted many at a time.
    #[serde(skip)]
    held: (u8, [Vec<u8>; CODES.len()]),
}

/// Bases of one cycle: A, C, G, T, N and others.
pub(crate) type Bases = [u64; CODES.len() + 1];

impl BaseCycles {
    /// Adds a record of the first read of its fragment (0) or of the last (1); says how many bases are G or C.
    pub(crate) fn add(&mut self, record: &Record<'_>, mate: usize) -> u32 {
        let is_reverse = record.flags.is_reverse();
        self.unpacked.clear();
        self.unpacked.extend(record.sequence.iter().flat_map(|two| [two >> 4, two & 15]));
        self.unpacked.truncate(record.bases);
        if is_reverse {
            self.unpacked.reverse();
        }
        self.strands[mate][usize::from(is_reverse)].add(&self.unpacked);
        self.unpacked.iter().map(|&code| u32::from(code == C || code == G)).sum()
    }

    /// Bases by cycle of first reads (0) or last ones (1), as they stand in the records.
    pub(crate) fn in_records(&self, mate: usize) -> Vec<Bases> {
        let [forward, reverse] = &self.strands[mate];
        let mut all = Vec::new();
        add_bases(&mut all, forward.by_cycle(), |bases| bases);
        add_bases(&mut all, reverse.by_cycle(), |bases| bases);
        all
    }

    /// A, C, G and T by cycle of all reads, as they were sequenced.
    pub(crate) fn in_reads(&self) -> Vec<Bases> {
        let mut all = Vec::new();
        for [forward, reverse] in &self.strands {
            add_bases(&mut all, forward.by_cycle(), |bases| bases);
            add_bases(&mut all, reverse.by_cycle(), |[a, c, g, t, n, others]| [t, g, c, a, n, others]);
        }
        all
    }

    /// Counts all that is held.
    pub(crate) fn settle(&mut self) {
        self.strands.iter_mut().flatten().for_each(StrandBases::settle);
    }
}

impl StrandBases {
    fn add(&mut self, bases: &[u8]) {
        count_at(&mut self.lengths, bases.len());
        let (reads, held) = &mut self.held;
        for (code, held) in CODES.iter().zip(held) {
            if held.len() < bases.len() {
                held.resize(bases.len(), 0);
            }
            held.iter_mut().zip(bases).for_each(|(held, base)| *held += u8::from(base == code));
        }
        *reads += 1;
        if *reads == u8::MAX {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let (reads, held) = &mut self.held;
        let cycles = held[0].len();
        if self.counts.len() < cycles {
            self.counts.resize(cycles, [0; CODES.len()]);
        }
        for (code, held) in held.iter_mut().enumerate() {
            for (counts, held) in self.counts.iter_mut().zip(held) {
                counts[code] += u64::from(std::mem::take(held));
            }
        }
        *reads = 0;
    }

    fn by_cycle(&self) -> Vec<Bases> {
        let mut reads: u64 = self.lengths.iter().sum();
        let of_cycle = |(counts, ended): (&[u64; CODES.len()], &u64)| {
            reads -= ended;
            let [a, c, g, t, n] = *counts;
            [a, c, g, t, n, reads - counts.iter().sum::<u64>()]
        };
        self.counts.iter().zip(&self.lengths).map(of_cycle).collect()
    }
}

pub(crate) fn add_bases(all: &mut Vec<Bases>, more: Vec<Bases>, turned: fn(Bases) -> Bases) {
    all.resize(all.len().max(more.len()), Bases::default());
    for (all, more) in all.iter_mut().zip(more) {
        all.iter_mut().zip(turned(more)).for_each(|(all, more)| *all += more);
    }
}

/// Qualities that most reads have are less.
const USUAL: usize = 64;

/// Qualities of primary records, of the first reads of fragments or of the last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QualityCycles {
    /// By cycle, then by quality, up to [`USUAL`].
    usual: Vec<u64>,
    /// What is not in `usual` yet, of so many reads: small counts stay in the nearest cache.
    #[serde(skip)]
    held: (u16, Vec<u16>),
    /// The others, which reads without qualities have, too.
    others: Vec<u64>,
    /// The largest.
    pub(crate) largest: u8,
}

/// The sum of qualities, many at a time.
pub(crate) fn quality_sum(qualities: &[u8]) -> u64 {
    /// So many are less than 2^16 in all.
    const AT_A_TIME: usize = 256;
    let sum = |some: &[u8]| some.iter().fold(0u16, |sum, &quality| sum.wrapping_add(quality.into()));
    qualities.chunks(AT_A_TIME).map(|some| u64::from(sum(some))).sum()
}

/// Qualities that are not usual.
const OTHERS: usize = 256 - USUAL;

impl QualityCycles {
    /// Adds those of a record; says what their sum is.
    pub(crate) fn add(&mut self, qualities: &[u8], is_reverse: bool) -> u64 {
        let largest = qualities.iter().fold(0, |largest: u8, &quality| largest.max(quality));
        self.largest = self.largest.max(largest);
        let sum = quality_sum(qualities);
        if usize::from(largest) >= USUAL {
            self.add_unusual(qualities, is_reverse);
            return sum;
        }
        let (reads, held) = &mut self.held;
        if held.len() < USUAL * qualities.len() {
            held.resize(USUAL * qualities.len(), 0);
        }
        let cycles = held.as_chunks_mut::<USUAL>().0.iter_mut();
        let count = |(cycle, &quality): (&mut [u16; USUAL], &u8)| cycle[usize::from(quality) % USUAL] += 1;
        match is_reverse {
            false => cycles.zip(qualities).for_each(count),
            true => cycles.zip(qualities.iter().rev()).for_each(count),
        }
        *reads += 1;
        if *reads == u16::MAX {
            self.settle();
        }
        sum
    }

    /// Counts all that is held.
    pub(crate) fn settle(&mut self) {
        let (reads, held) = &mut self.held;
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
        for (at, &quality) in qualities.iter().enumerate() {
            let cycle = if is_reverse { qualities.len() - 1 - at } else { at };
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
}

impl AddAssign<&BaseCycles> for BaseCycles {
    /// Both are settled.
    fn add_assign(&mut self, more: &BaseCycles) {
        let strands = self.strands.iter_mut().flatten();
        strands.zip(more.strands.iter().flatten()).for_each(|(all, more)| *all += more);
    }
}

impl AddAssign<&StrandBases> for StrandBases {
    fn add_assign(&mut self, more: &StrandBases) {
        self.counts.resize(self.counts.len().max(more.counts.len()), [0; CODES.len()]);
        let counts = self.counts.iter_mut().flatten().zip(more.counts.iter().flatten());
        counts.for_each(|(all, more)| *all += more);
        add_all(&mut self.lengths, &more.lengths);
    }
}

impl AddAssign<&QualityCycles> for QualityCycles {
    fn add_assign(&mut self, more: &QualityCycles) {
        add_all(&mut self.usual, &more.usual);
        add_all(&mut self.others, &more.others);
        self.largest = self.largest.max(more.largest);
    }
}
