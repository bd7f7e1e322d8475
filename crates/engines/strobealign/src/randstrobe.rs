//! The seeds of the reference, as the index holds them: 12 bytes each.
#![allow(unsafe_code)]

use bytemuck::{Pod, Zeroable};
use strobealign::index::STROBE2_OFFSET_MASK;

/// Bits of a hash that a [`Randstrobe`] has. The top 8 bits are the same for all that are in one bucket, and the lowest
/// 8 bits are that of the distance.
pub(crate) const HELD: u64 = 0x00ff_ffff_ffff_ff00;
/// All bits of a hash but the top ones, which the bucket tells.
pub(crate) const BELOW_TOP: u64 = u64::MAX >> TOP_BITS;
/// Positions are below this.
pub(crate) const POSITIONS: usize = 1 << POSITION_BITS;

/// Top bits of a hash that are not held.
pub(crate) const TOP_BITS: u32 = 8;
const POSITION_BITS: u32 = 40;
/// Bits of a position that are in the key.
const HIGH_BITS: u32 = POSITION_BITS - u32::BITS;

/// A randstrobe of the reference: strobealign's `RefRandstrobe`, without the top bits of its hash, which its bucket
/// tells. They are in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(4))]
pub(crate) struct Randstrobe {
    /// From the top bit on: 48 bits of the hash, the distance of the second strobe (8), bits 39 to 32 of the position.
    key: u64,
    /// Bits 31 to 0 of the position.
    position: u32,
}

// SAFETY: without padding (the alignment of both fields is 4); all bits are valid.
unsafe impl Zeroable for Randstrobe {}
// SAFETY: as above.
unsafe impl Pod for Randstrobe {}

impl Randstrobe {
    /// Of this hash, at a position below [`POSITIONS`].
    pub(crate) fn new(hash: u64, position: usize, distance: u8) -> Self {
        let held = hash & HELD | u64::from(distance);
        Randstrobe { key: held << HIGH_BITS | position as u64 >> u32::BITS, position: position as u32 }
    }

    /// The hash of both strobes with their orientations, as far as it is [`HELD`].
    #[inline(always)]
    pub(crate) fn hash(&self) -> u64 {
        self.hash_and_distance() & HELD
    }

    /// The same with the distance of the second strobe in the lowest bits.
    #[inline(always)]
    pub(crate) fn hash_and_distance(&self) -> u64 {
        self.key >> HIGH_BITS
    }

    /// Whether its hash is below this one, of which only what is [`HELD`] is looked at.
    #[inline(always)]
    pub(crate) fn is_below(&self, hash: u64) -> bool {
        self.key < (hash & HELD) << HIGH_BITS
    }

    /// Where the first strobe starts in the reference.
    #[inline(always)]
    pub(crate) fn position(&self) -> usize {
        ((self.key & ((1 << HIGH_BITS) - 1)) << u32::BITS | u64::from(self.position)) as usize
    }

    /// Where the second one starts.
    #[inline(always)]
    pub(crate) fn second_position(&self) -> usize {
        self.position() + (self.hash_and_distance() & STROBE2_OFFSET_MASK) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_holds_what_it_was_made_of(
            hash: u64, other: u64, distance: u8, position in 0..POSITIONS, further in 0..POSITIONS
        ) {
            let made = Randstrobe::new(hash, position, distance);
            prop_assert_eq!(made.hash(), hash & HELD);
            prop_assert_eq!(made.hash_and_distance(), hash & HELD | u64::from(distance));
            prop_assert_eq!((made.position(), made.second_position()), (position, position + usize::from(distance)));
            for other in [other, hash, hash ^ 0xffff, hash.wrapping_add(0x100)] {
                prop_assert_eq!(made.is_below(other), hash & HELD < other & HELD);
                let second = Randstrobe::new(other, further, distance);
                let plain = |hash: u64, position: usize| (hash & HELD, position);
                prop_assert_eq!(made.cmp(&second), plain(hash, position).cmp(&plain(other, further)));
            }
        }
    }
}
