//! From row to row: the row of the suffix that begins one base earlier, and so on.

use super::Places;
use crate::fm::OccurrenceBlock;
use rayon::prelude::*;
use std::ops::Range;

/// Walks that a thread follows at once: while the block of one comes from memory, those of the others do.
const AT_ONCE: usize = 32;
/// Rows whose walks one task follows, about.
const RUN: u64 = 1 << 17;

/// All walks through an index, from each row with a place in it to the next one.
pub(super) struct Walks<'a> {
    pub(super) blocks: &'a [OccurrenceBlock],
    pub(super) places: Places<'a>,
    /// For each base, and behind all: how many bases are less.
    pub(super) less: [u64; 5],
    /// The row of the whole text, where a walk ends, too.
    pub(super) whole: u64,
    pub(super) rows: u64,
    /// Of so many rows one has its place: a multiple of 8.
    pub(super) step: u64,
    /// Of one strand, packed.
    pub(super) bases: &'a [u8],
}

/// Where a walk is.
struct Walk {
    row: u64,
    /// Where its suffix begins.
    place: u64,
    /// That of the row.
    block: OccurrenceBlock,
}

/// A row that does not fit.
type UnfitRow = u64;

impl Walks<'_> {
    /// Sets all places.
    ///
    /// # Errors
    /// A row from which the walk goes astray. If there is none, each row was visited once: rows that walks do not come
    /// by would be a text of their own.
    pub(super) fn walk(&self) -> Result<(), UnfitRow> {
        let walks = self.rows.div_ceil(self.step);
        let run = (RUN / self.step).max(1);
        let visited = (0..walks.div_ceil(run)).into_par_iter().map(|number| {
            let first = number * run;
            self.follow(first..walks.min(first + run))
        });
        match visited.try_reduce(|| 0, |some, others| Ok(some + others))? {
            visited if visited == self.rows => Ok(()),
            _ => Err(self.whole),
        }
    }

    /// Follows some walks; gives how many rows they came by.
    fn follow(&self, walks: Range<u64>) -> Result<u64, UnfitRow> {
        let mut starts = walks.map(|number| {
            let row = number * self.step;
            Walk { row, place: self.places.get(row), block: [0; 8] }
        });
        let mut under_way: Vec<Walk> = starts.by_ref().take(AT_ONCE).collect();
        let mut visited = 0;
        while !under_way.is_empty() {
            under_way.iter_mut().for_each(|walk| walk.block = self.blocks[(walk.row / 64) as usize]);
            visited += under_way.len() as u64;
            let mut unfit = None;
            under_way.retain_mut(|walk| {
                self.go_on(walk).unwrap_or_else(|row| {
                    unfit = Some(row);
                    false
                })
            });
            if let Some(row) = unfit {
                return Err(row);
            }
            under_way.extend(starts.by_ref().take(AT_ONCE - under_way.len()));
        }
        Ok(visited)
    }

    /// One base to the left; false where the walk ends.
    fn go_on(&self, walk: &mut Walk) -> Result<bool, UnfitRow> {
        let Walk { row, place, block } = walk;
        if *row == self.whole {
            return if *place == 0 { Ok(false) } else { Err(*row) };
        }
        let before = place.checked_sub(1).ok_or(*row)?;
        let in_block = *row % 64;
        let is = |base: usize| block[4 + base] << in_block >> 63;
        let base = (is(1) + 2 * is(2) + 3 * is(3)) as usize;
        if base as u64 != self.base(before) {
            return Err(*row);
        }
        let earlier = (block[4 + base] & !(u64::MAX >> in_block)).count_ones();
        let next = 1 + self.less[base] + block[base] + u64::from(earlier);
        if next.is_multiple_of(self.step) {
            return if self.places.get(next) == before { Ok(false) } else { Err(next) };
        }
        if next.is_multiple_of(8) {
            self.places.set(next, before);
        }
        (walk.row, walk.place) = (next, before);
        Ok(true)
    }

    /// The base at a place of the text: of the bases, or of their reverse complement.
    fn base(&self, place: u64) -> u64 {
        let symbols = self.rows - 1;
        let (at, complement) = if place < symbols / 2 { (place, 0) } else { (symbols - 1 - place, 3) };
        u64::from(self.bases[(at / 4) as usize] >> (6 - 2 * (at % 4)) & 3) ^ complement
    }
}
