//! The index is made block by block, from the end of the text to its start. It takes little more memory than the index
//! itself: that of what lies behind a block (half a byte a base of both strands), half as much again, into which the
//! block is merged, and 17 bytes for each base of a block.
//!
//! 1. Of each suffix of the block, find how many behind it are less (`ranks`).
//! 2. Sort the suffixes of the block among themselves (`sort`), for which the ranks are needed.
//! 3. Merge them with those behind (`merge`).
//!
//! All three are right for every text. One with long repeats takes more time: see `ranks`.

use super::bwt::{Bwt, Line, lines};
use super::merge::Bits;
use super::places::Anchor;
use super::ranks::Ranked;
use super::sort::{SortedBlock, Suffix};
use super::text::Strands;
use super::{Step, merge, ranks, sort};
use rayon::prelude::*;
use std::ops::Range;

/// Bases of the first block: what nothing stands behind takes longest to sort.
const FIRST: usize = 1 << 18;

/// What the work is cut into. The index does not depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Bases of a block, of both strands, at most.
    pub(super) block: usize,
    /// Bases from one start of a walk for ranks to the next.
    pub(super) spacing: usize,
    /// Bases from one anchor to the next.
    pub(super) anchors: usize,
}

impl Sizes {
    /// For a text of so many bases. Small blocks take little memory; of many, each is merged with all behind it.
    pub(super) fn of(bases: usize) -> Self {
        // Of a small text, what the program itself takes counts for more.
        let blocks = if bases >> 32 == 0 { 85 } else { 50 };
        let block = (bases / blocks).max(1 << 20).min(sort::longest(bases));
        Sizes { block, spacing: 8_000, anchors: (bases / 16_384).max(512) }
    }

    /// The blocks of so many bases, from the last one to the first. They grow with what lies behind: where little does,
    /// ranks say little of the order.
    fn blocks(self, bases: usize) -> Vec<Range<usize>> {
        let (mut blocks, mut start) = (Vec::new(), bases);
        while start > 0 {
            let length = ((bases - start) / 2).max(FIRST).min(self.block).min(start);
            blocks.push(start - length..start);
            start -= length;
        }
        blocks
    }

    /// Bytes of memory that [`build`] takes.
    pub(super) fn bytes(self, bases: usize) -> usize {
        let of_base = size_of::<Ranked>() + size_of::<Suffix>() + size_of::<u32>();
        (size_of::<Line>() + size_of::<Bits>()) * lines(bases + 1) + of_base * self.block.min(bases)
    }
}

/// The index of the text, and places in it whose rows are known.
pub(super) fn build(text: Strands<'_>, sizes: Sizes, told: &(dyn Fn(Step) + Sync)) -> (Bwt, Vec<Anchor>) {
    let bases = text.len();
    let blocks = sizes.blocks(bases);
    let largest = sizes.block.min(bases);
    let mut behind = Bwt::empty(bases + 1);
    let mut bits: Vec<Bits> = vec![[0; 4]; lines(bases + 1)];
    let mut anchors = Vec::new();
    let (mut ranks, mut suffixes) = (vec![[0; 5]; largest], vec![Suffix::default(); largest]);
    for (number, Range { start, end }) in (1..).zip(blocks.iter().cloned()) {
        told(Step::Block { number, count: blocks.len() });
        let (ranks, suffixes) = (&mut ranks[..end - start], &mut suffixes[..end - start]);
        ranks::find(text, &behind, start, sizes.spacing, ranks);
        let last = text.base(end - 1);
        let block = sort::sort(ranks, behind.rows, (behind.whole, last), suffixes);
        anchors = move_anchors(anchors, &block, start, sizes.anchors);
        let whole = anchors.first().map_or(0, |anchor| anchor.row);
        behind.precede(last);
        merge::merge(&mut behind, &block, whole, &mut bits);
    }
    (behind, anchors)
}

/// The rows of all anchors with those of the block, whose start is the first one.
fn move_anchors(behind: Vec<Anchor>, block: &SortedBlock<'_>, start: usize, spacing: usize) -> Vec<Anchor> {
    let of_block = block.places().enumerate().filter(|(_, place)| place.is_multiple_of(spacing));
    let of_block = of_block.map(|(number, place)| Anchor { place: start + place, row: block.row(number) });
    let moved = behind.into_par_iter().map(|Anchor { place, row }| {
        let before = block.count(|number| block.ranked(number).0 <= row);
        Anchor { place, row: row + before }
    });
    let mut anchors: Vec<Anchor> = of_block.chain(moved).collect();
    anchors.par_sort_unstable_by_key(|anchor| anchor.place);
    anchors
}
