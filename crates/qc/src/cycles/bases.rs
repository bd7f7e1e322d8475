//! Bases by cycle.

use crate::counts::{add_all, count_at, count_where};
use crate::record::{BASE_C, BASE_G, NO_CALL};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The bases that are told apart, as BAM codes them: A, C, G, T and N.
const CODES: [u8; 5] = [1, BASE_C, BASE_G, 8, NO_CALL];

/// Bases of one cycle: A, C, G, T, N and others.
pub(crate) type Bases = [u64; CODES.len() + 1];

/// Bases of the reads of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StrandBases {
    /// By cycle, for each of [`CODES`].
    counts: Vec<[u64; CODES.len()]>,
    /// Reads by their bases.
    lengths: Vec<u64>,
    #[serde(skip)]
    held: Held,
}

/// What is not counted yet, of less than 256 reads: for each of [`CODES`] by cycle, in bytes, which are counted many at
/// a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Held {
    reads: u8,
    counts: [Vec<u8>; CODES.len()],
}

impl Held {
    #[inline]
    fn add(&mut self, codes: &[u8]) {
        for (code, counts) in CODES.iter().zip(&mut self.counts) {
            if counts.len() < codes.len() {
                counts.resize(codes.len(), 0);
            }
            counts.iter_mut().zip(codes).for_each(|(count, base)| *count += u8::from(base == code));
        }
        self.reads += 1;
    }
}

impl StrandBases {
    /// Adds those of a read.
    #[inline]
    pub(super) fn add(&mut self, codes: &[u8]) {
        count_at(&mut self.lengths, codes.len());
        self.held.add(codes);
        if self.held.reads == u8::MAX {
            self.settle();
        }
    }

    /// Counts all that is held.
    pub(super) fn settle(&mut self) {
        let Held { reads, counts: held } = &mut self.held;
        let most = held[0].len();
        if self.counts.len() < most {
            self.counts.resize(most, [0; CODES.len()]);
        }
        for (code, held) in held.iter_mut().enumerate() {
            for (counts, held) in self.counts.iter_mut().zip(held) {
                counts[code] += u64::from(std::mem::take(held));
            }
        }
        *reads = 0;
    }

    /// They by cycle, up to the last one of the longest read.
    pub(super) fn by_cycle(&self) -> impl IntoIterator<Item = Bases> {
        let mut reads: u64 = self.lengths.iter().sum();
        // Of reads of `length` bases, the last cycle is `length - 1`.
        self.counts.iter().zip(&self.lengths).take(self.lengths.len().saturating_sub(1)).map(move |(counts, ended)| {
            reads -= ended;
            let [a, c, g, t, n] = *counts;
            [a, c, g, t, n, reads - counts.iter().sum::<u64>()]
        })
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

/// How many bases are G or C.
pub(super) fn gc(codes: &[u8]) -> u32 {
    count_where(codes, |code| code == BASE_C || code == BASE_G) as u32
}

/// Adds bases to those of the same cycles.
pub(super) fn add(all: &mut Vec<Bases>, more: impl IntoIterator<Item = Bases>) {
    for (cycle, more) in more.into_iter().enumerate() {
        if cycle == all.len() {
            all.push(Bases::default());
        }
        all[cycle].iter_mut().zip(more).for_each(|(all, more)| *all += more);
    }
}

/// Those of the other strand.
pub(super) fn complement([a, c, g, t, n, others]: Bases) -> Bases {
    [t, g, c, a, n, others]
}
