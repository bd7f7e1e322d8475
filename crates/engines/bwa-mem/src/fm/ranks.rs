//! Of each suffix that begins in a block: its rank, which is how many of the suffixes behind the block are less.
//!
//! A walk through the index of what lies behind the block (backward search) goes from a place of known rank to the left
//! and finds a rank with each step. The end of the block is such a place. Others are found by searching for the bases
//! that begin there: where they stand nowhere behind the block, what follows them is of no matter.
//!
//! In a block that stands behind itself once more (a genome twice) there are no such places: one thread walks, all
//! through the block, and waits for memory at each step.

use super::bwt::Bwt;
use super::lanes::{Walk, walk};
use super::text::Strands;
use rayon::prelude::*;

/// How many bases are searched for, where fewer do not do.
const DEPTHS: [usize; 3] = [48, 400, 5_000];

/// The rank of a suffix and, in the lowest two bits, the base before it.
pub(super) type Ranked = [u8; 5];
/// Ranks are less.
pub(super) const RANKS: usize = 1 << 38;

#[inline(always)]
fn pack(rank: usize, before: u8) -> Ranked {
    let [a, b, c, d, e, ..] = ((rank as u64) << 2 | u64::from(before)).to_le_bytes();
    [a, b, c, d, e]
}

/// The rank, and the base before.
#[inline(always)]
pub(super) fn unpack([a, b, c, d, e]: Ranked) -> (usize, u8) {
    let packed = u64::from(u32::from_le_bytes([a, b, c, d])) | u64::from(e) << 32;
    ((packed >> 2) as usize, (packed & 3) as u8)
}

/// The ranks of all suffixes that begin in the block from `start` on, `behind` being the index of what follows it. A
/// walk begins every `spacing` bases where its rank can be found.
pub(super) fn find(text: Strands<'_>, behind: &Bwt, start: usize, spacing: usize, ranks: &mut [Ranked]) {
    let end = start + ranks.len();
    let places = (start..end).into_par_iter().step_by(spacing).skip(1);
    let mut known: Vec<(usize, usize)> = places.filter_map(|place| search(text, behind, place, end)).collect();
    known.push((end, behind.whole));
    known.sort_unstable();
    known.dedup_by_key(|(place, _)| *place);
    let (mut walks, mut rest, mut at) = (Vec::new(), &mut *ranks, start);
    for (place, rank) in known {
        let (ranks, others) = rest.split_at_mut(place - at);
        walks.push(RankWalk { text, behind, ranks, place, rank, before: text.before(place) });
        (rest, at) = (others, place);
    }
    walk(walks);
    if let Some([first, ..]) = ranks.first_mut() {
        // What stands before it belongs to the next block, until which the text begins here: see `Bwt::whole`.
        *first &= !3;
    }
}

/// The next place from `place` on, and before `end`, whose rank does not depend on what follows the bases searched for.
fn search(text: Strands<'_>, behind: &Bwt, place: usize, end: usize) -> Option<(usize, usize)> {
    DEPTHS.into_iter().find_map(|depth| {
        // All suffixes that begin with the bases so far.
        let mut rows = 0..behind.rows;
        (place..end.min(place + depth)).rev().find_map(|at| {
            let base = text.base(at);
            rows = behind.step(base, rows.start)..behind.step(base, rows.end);
            rows.is_empty().then_some((at, rows.start))
        })
    })
}

/// From a place of known rank to the left, as far as there is room for ranks.
struct RankWalk<'w> {
    text: Strands<'w>,
    behind: &'w Bwt,
    ranks: &'w mut [Ranked],
    place: usize,
    rank: usize,
    before: u8,
}

impl Walk for RankWalk<'_> {
    fn left(&self) -> usize {
        self.ranks.len()
    }

    #[inline(always)]
    fn look(&self) {
        self.behind.look(self.rank)
    }

    #[inline(always)]
    fn step(&mut self) {
        self.rank = self.behind.step(self.before, self.rank);
        self.place -= 1;
        self.before = self.text.before(self.place);
        if let Some((last, rest)) = std::mem::take(&mut self.ranks).split_last_mut() {
            *last = pack(self.rank, self.before);
            self.ranks = rest;
        }
    }
}
