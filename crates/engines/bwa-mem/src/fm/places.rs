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

/// Places of a piece. Pieces of 2 MiB lie where zerohop's allocator keeps addresses for what is small, a GiB of them,
/// in place of addresses of their own: `ulimit -v` counts both.
const PIECE: usize = 1 << 19;

/// The places of all sampled suffixes, in pieces: bits 32 to 39, none where all are 0, and bits 0 to 31.
pub(super) struct Places {
    pub(super) high: Vec<Vec<AtomicU8>>,
    pub(super) low: Vec<Vec<AtomicU32>>,
}

impl Places {
    fn put(&self, row: usize, place: usize) {
        if row.is_multiple_of(SAMPLED) {
            // Each is stored once, and read when all threads are done.
            let (piece, at) = (row / SAMPLED / PIECE, row / SAMPLED % PIECE);
            if let Some(high) = self.high.get(piece) {
                high[at].store((place >> 32) as u8, Ordering::Relaxed);
            }
            self.low[piece][at].store(place as u32, Ordering::Relaxed);
        }
    }
}

/// Finds them. The anchors have the order of their places; the first one is the start of the text.
pub(super) fn find(bwt: &Bwt, anchors: &[Anchor]) -> Places {
    let samples = bwt.rows / SAMPLED + 1;
    let places = Places { high: if bwt.rows >> 32 == 0 { Vec::new() } else { pieces(samples) }, low: pieces(samples) };
    // The empty suffix comes first: place and row of it are known.
    let end = Anchor { place: bwt.rows - 1, row: 0 };
    let walks = anchors.iter().zip(anchors.iter().skip(1).chain([&end]));
    let walks = walks.map(|(left, right)| PlaceWalk { bwt, places: &places, at: *right, stop: left.place });
    walk(walks.collect());
    places
}

/// So many zeros.
fn pieces<T: Default + Send>(count: usize) -> Vec<Vec<T>> {
    let piece = |start: usize| (start..count.min(start + PIECE)).into_par_iter().map(|_| T::default()).collect();
    (0..count).step_by(PIECE).map(piece).collect()
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
