//! The headers of deflate blocks (RFC 1951, section 3.2.3).

use crate::bits::Bits;
use crate::code::{self, Codes};
use crate::fault::GzipFault;

/// The order in which the lengths of the code of code lengths stand.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The end of a block, as a symbol.
const END_OF_BLOCK: usize = 256;

/// Bytes of the longest header: 14 bits and 19 lengths of three bits, then 316 of seven bits with seven more.
pub(crate) const LONGEST_HEADER: usize = (3 + 14 + 19 * 3 + 316 * 14) / 8 + 1;

/// How the rest of a block is compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// It is not: so many bytes are left.
    Stored(usize),
    /// With the codes that the standard fixes.
    Fixed,
    /// With codes of its own.
    Dynamic(Box<Lengths>),
}

/// A block, or the rest of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeflateBlock {
    /// Whether it is the last one of its member.
    pub(crate) is_final: bool,
    pub(crate) kind: BlockKind,
}

/// The lengths of the codes of a block: those of literals and lengths first, and behind them those of distances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lengths {
    all: [u8; 286 + 30],
    literals: usize,
    end: usize,
}

impl DeflateBlock {
    /// Reads the header, up to the first bit of the data.
    ///
    /// # Errors
    /// Bits that are no header. Those behind the end of the data count as zeros.
    pub(crate) fn read(bits: &mut Bits<'_>) -> Result<Self, GzipFault> {
        let (is_final, kind) = (bits.take(1) == 1, bits.take(2));
        let kind = match kind {
            0 => {
                bits.take((8 - bits.position() as u32 % 8) % 8);
                let (length, inverse) = (bits.take(16), bits.take(16));
                if length ^ inverse != 0xffff {
                    return Err(GzipFault::Deflate);
                }
                BlockKind::Stored(length as usize)
            }
            1 => BlockKind::Fixed,
            2 => BlockKind::Dynamic(Box::new(Lengths::read(bits)?)),
            _ => return Err(GzipFault::Deflate),
        };
        Ok(DeflateBlock { is_final, kind })
    }

    /// Makes `codes` those of this block, if it has any.
    ///
    /// # Errors
    /// Lengths that are no code.
    pub(crate) fn build(&self, codes: &mut Codes) -> Result<(), GzipFault> {
        match &self.kind {
            BlockKind::Stored(_) => Ok(()),
            BlockKind::Fixed => {
                let length = |symbol| match symbol {
                    0..144 => 8,
                    144..256 => 9,
                    256..280 => 7,
                    _ => 8,
                };
                codes.build(&std::array::from_fn::<u8, 288, _>(length), &[5; 32])
            }
            BlockKind::Dynamic(lengths) => {
                let (literals, distances) = lengths.all[..lengths.end].split_at(lengths.literals);
                codes.build(literals, distances)
            }
        }
    }
}

impl Lengths {
    /// Reads the lengths of both codes, which follow the kind of a block.
    pub(crate) fn read(bits: &mut Bits<'_>) -> Result<Self, GzipFault> {
        let literals = 257 + bits.take(5) as usize;
        let distances = 1 + bits.take(5) as usize;
        if literals > 286 || distances > 30 {
            return Err(GzipFault::Deflate);
        }
        let mut of_lengths = [0; 19];
        let lengths = 4 + bits.take(4) as usize;
        ORDER.iter().take(lengths).for_each(|&symbol| of_lengths[symbol] = bits.take(3) as u8);
        let precode = code::precode(&of_lengths)?;
        let (mut all, mut at, end) = ([0; 286 + 30], 0, literals + distances);
        while at < end {
            bits.refill();
            let entry = precode.take(bits);
            if entry.is_special() {
                return Err(GzipFault::Deflate);
            }
            let (length, times) = match entry.literals().1[0] {
                16 if at == 0 => return Err(GzipFault::Deflate),
                16 => (all[at - 1], 3 + bits.take(2)),
                17 => (0, 3 + bits.take(3)),
                18 => (0, 11 + bits.take(7)),
                length => (length, 1),
            };
            all.get_mut(at..at + times as usize)
                .filter(|_| at + times as usize <= end)
                .ok_or(GzipFault::Deflate)?
                .fill(length);
            at += times as usize;
        }
        if all[END_OF_BLOCK] == 0 {
            return Err(GzipFault::Deflate);
        }
        Ok(Lengths { all, literals, end })
    }
}
