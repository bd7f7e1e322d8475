//! The text that is indexed: all bases of a reference and, behind them, their reverse complement.

/// Both strands of a reference, four bases a byte, the first in the highest bits.
#[derive(Debug, Clone, Copy)]
pub struct Strands<'p> {
    packed: &'p [u8],
    bases: usize,
}

impl<'p> Strands<'p> {
    /// Of the first so many of these bases.
    pub fn new(packed: &'p [u8], bases: usize) -> Self {
        Strands { packed, bases }
    }

    /// Bases of both strands.
    pub(super) fn len(self) -> usize {
        2 * self.bases
    }

    /// The base at this place, 0 to 3.
    #[inline(always)]
    pub(super) fn base(self, place: usize) -> u8 {
        let (at, flip) = if place < self.bases { (place, 0) } else { (2 * self.bases - 1 - place, 3) };
        ((self.packed[at / 4] >> (6 - 2 * (at % 4))) & 3) ^ flip
    }

    /// The base before this place; 0 at the start.
    #[inline(always)]
    pub(super) fn before(self, place: usize) -> u8 {
        if place == 0 { 0 } else { self.base(place - 1) }
    }
}
