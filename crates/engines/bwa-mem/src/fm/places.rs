//! Where every eighth suffix begins: found by walks through the finished index, from anchors to the left.

use super::SAMPLED;
use super::bwt::Bwt;
use super::lanes::{Walk, walk};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// A place of the text, and the row of the suffix that begins there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    pub(super) place: usize,
    pub(super) row: usize,
}

/// The places of all sampled suffixes: bits 32 to 39, none where all are 0, and bits 0 to 31.
pub(super) struct Places {
    pub(super) high: Vec<AtomicU8>,
    pub(super) low: Vec<AtomicU32>,
}

impl Places {
    fn put(&self, row: usize, place: usize) {
        if row.is_multiple_of(SAMPLED) {
            // Each is stored once, and read when all threads are done.
            if let Some(high) = self.high.get(row / SAMPLED) {
                high.store((place >> 32) as u8, Ordering::Relaxed);
            }
            self.low[row / SAMPLED].store(place as u32, Ordering::Relaxed);
        }
    }
}

/// Finds them. The anchors have the order of their places; the first one is the start of the text.
pub(super) fn find(bwt: &Bwt, anchors: &[Anchor]) -> Places {
    let samples = bwt.rows / SAMPLED + 1;
    let places = Places {
        high: (0..if bwt.rows >> 32 == 0 { 0 } else { samples }).into_par_iter().map(|_| AtomicU8::new(0)).collect(),
        low: (0..samples).into_par_iter().map(|_| AtomicU32::new(0)).collect(),
    };
    // The empty suffix comes first: place and row of it are known.
    let end = Anchor { place: bwt.rows - 1, row: 0 };
    let walks = anchors.iter().zip(anchors.iter().skip(1).chain([&end]));
    let walks = walks.map(|(left, right)| PlaceWalk { bwt, places: &places, at: *right, stop: left.place });
    walk(walks.collect());
    places
}

/// From an anchor to the left, as far as the next one.
struct PlaceWalk<'w> {
    bwt: &'w Bwt,
    places: &'w Places,
    at: Anchor,
    stop: usize,
}

impl Walk for PlaceWalk<'_> {
    fn left(&self) -> usize {
        self.at.place - self.stop
    }

    #[inline(always)]
    fn look(&self) {
        self.bwt.look(self.at.row)
    }

    #[inline(always)]
    fn step(&mut self) {
        self.places.put(self.at.row, self.at.place);
        self.at.row = self.bwt.step(self.bwt.base(self.at.row), self.at.row);
        self.at.place -= 1;
    }
}
