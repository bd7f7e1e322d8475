//! Finds where a block begins in data of which nothing is known.

use crate::bits::{self, Bits};
use crate::block::{self, BlockKind, DeflateBlock, Lengths};
use crate::code::Codes;
use crate::place::Compressed;

/// Steps of a block that are tried: so many must make sense.
const STEPS: usize = 64;
/// Bytes in which they end: each has 48 bits at most.
const STEP_BYTES: usize = STEPS * 6;

/// Finds the first block from bit `from` of the file on, and before bit `before`, that is not the last one of its
/// member, has codes of its own, and begins with text. Data can look like one by chance, if rarely: whoever uses this
/// checks it against the chain of blocks.
pub fn find_block(compressed: &Compressed<'_>, from: u64, before: u64) -> Option<u64> {
    let (mut at, end) = (compressed.relative(from), compressed.relative(before).min(compressed.bytes.len() * 8));
    while at < end {
        let byte = at / 8;
        let word = bits::word_at(compressed.bytes, byte);
        // Of the places of one word, those that fit in all their 13 bits are looked at at once.
        let mut places = header_places(word) & (u32::MAX << (at % 8));
        while places != 0 {
            let place = places.trailing_zeros();
            places &= places - 1;
            let bit = byte * 8 + place as usize;
            if bit < end && has_precode(compressed.bytes, bit, word >> place) && is_block(compressed, bit) {
                return Some(compressed.absolute(bit));
            }
        }
        at = (byte + 4) * 8;
    }
    None
}

/// Whether [`find_block`] takes this bit of the file for the start of a block.
pub(crate) fn is_start(compressed: &Compressed<'_>, bit: u64) -> bool {
    find_block(compressed, bit, bit + 1).is_some()
}

/// The lowest 32 bits of `word` at which three bits say that a block is not the last one and has codes of its own, and
/// ten bits behind them name numbers of codes that can be: at most 286 and 30, so the highest four bits of neither are
/// ones.
fn header_places(word: u64) -> u32 {
    let ones = |from: u32| (from..from + 4).fold(u64::MAX, |ones, at| ones & word >> at);
    (!word & !(word >> 1) & word >> 2 & !ones(4) & !ones(9)) as u32
}

/// For four lengths of three bits: the part of all codes that they take, in units of the longest one (7 bits).
static TAKEN: [u8; 1 << 12] = taken();

const fn taken() -> [u8; 1 << 12] {
    let mut table = [0; 1 << 12];
    let mut lengths = 0;
    while lengths < 1 << 12 {
        let (mut sum, mut i) = (0u16, 0);
        while i < 4 {
            let length = lengths >> (3 * i) & 7;
            if length > 0 {
                sum += 128 >> length;
            }
            i += 1;
        }
        // 128 are all: of more than that no code can come.
        table[lengths] = if sum > 255 { 255 } else { sum as u8 };
        lengths += 1;
    }
    table
}

/// Whether the code of the lengths of the other codes is complete: for a place of [`header_places`], where the bits of
/// `header` stand.
fn has_precode(bytes: &[u8], bit: usize, header: u64) -> bool {
    let count = 4 + (header >> 13 & 15);
    // 57 bits at most.
    let lengths = bits::word_at(bytes, (bit + 17) / 8) >> ((bit + 17) % 8) & ((1 << (3 * count)) - 1);
    let sum: u32 = (0..5).map(|i| u32::from(TAKEN[(lengths >> (12 * i) & 0xfff) as usize])).sum();
    sum == 128
}

/// Whether a block begins at `bit` of the data, for a place of [`header_places`].
fn is_block(compressed: &Compressed<'_>, bit: usize) -> bool {
    let needed = block::LONGEST_HEADER + STEP_BYTES;
    if !compressed.is_end && bit / 8 + needed > compressed.bytes.len() {
        return false;
    }
    let mut bits = Bits::new(compressed.bytes, bit + 3);
    let Ok(lengths) = Lengths::read(&mut bits) else { return false };
    let block = DeflateBlock { is_final: false, kind: BlockKind::Dynamic(Box::new(lengths)) };
    let mut codes = Box::new(Codes::new());
    block.build(&mut codes).is_ok() && begins_with_text(&mut bits, &codes) && !bits.is_behind_end()
}

/// Whether the next steps make sense, and their literals are text.
fn begins_with_text(bits: &mut Bits<'_>, codes: &Codes) -> bool {
    let is_text = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    for _ in 0..STEPS {
        bits.refill();
        let entry = codes.literals.take(bits);
        if entry.is_literal() {
            let (count, literals) = entry.literals();
            if !literals[..count].iter().all(|&byte| is_text(byte)) {
                return false;
            }
        } else if entry.is_special() {
            return entry.is_end();
        } else {
            bits.consume(entry.number_parts().0);
            let distance = codes.distances.take(bits);
            if distance.is_special() {
                return false;
            }
            bits.consume(distance.number_parts().0);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_headers_are_those_that_a_walk_finds() {
        let mut x = 1u64;
        for _ in 0..10_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let walked = (0..32).filter(|&at| {
                let bits = x >> at;
                bits & 7 == 4 && bits >> 3 & 31 < 30 && bits >> 8 & 31 < 30
            });
            assert_eq!(header_places(x), walked.map(|at| 1 << at).sum::<u32>());
        }
    }
}
