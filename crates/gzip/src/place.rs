//! Places in a gzip file at which inflating can begin or go on.

use crate::block::DeflateBlock;

/// Some bytes of a compressed file.
#[derive(Debug, Clone, Copy)]
pub struct Compressed<'d> {
    /// The compressed bytes.
    pub bytes: &'d [u8],
    /// The offset of the first one in the file.
    pub offset: u64,
    /// Whether the last one is the last one of the file.
    pub is_end: bool,
}

impl Compressed<'_> {
    /// The offset among these bits of a bit of the file.
    pub(crate) fn relative(&self, bit: u64) -> usize {
        bit.saturating_sub(self.offset * 8).try_into().unwrap_or(usize::MAX)
    }

    /// The offset in the file of one of these bits.
    pub(crate) fn absolute(&self, bit: usize) -> u64 {
        self.offset * 8 + bit as u64
    }
}

/// A place in a file, and what stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Bits of the file before it.
    pub(crate) bit: u64,
    pub(crate) what: What,
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// A member, or what follows the last one.
    Member,
    /// The beginning of a block.
    Block,
    /// The rest of a block.
    Inside(DeflateBlock),
    /// The trailer of a member.
    Trailer,
}

impl Place {
    /// The start of a file.
    pub fn start() -> Self {
        Place { bit: 0, what: What::Member }
    }

    /// A block that begins at this bit of the file.
    pub fn block(bit: u64) -> Self {
        Place { bit, what: What::Block }
    }

    /// Bits of the file before it.
    pub fn bit(&self) -> u64 {
        self.bit
    }

    /// The first byte of the file that is needed to go on from here.
    pub fn byte(&self) -> u64 {
        self.bit / 8
    }

    /// Whether a block begins at this bit.
    pub fn is_block_at(&self, bit: u64) -> bool {
        self.bit == bit && self.what == What::Block
    }
}
