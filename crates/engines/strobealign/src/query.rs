//! A read as it is compared with the reference: its letters, and its bases packed as those of the reference, in the
//! orientations that are asked for.

use crate::sequence::{BASES_PER_WORD, Sequence, unaligned};
use zerohop_model::complement;

/// The lower bit of each base.
const LOWER_BITS: u64 = 0x5555_5555_5555_5555;

/// A read. Its memory is kept from read to read.
#[derive(Debug, Default)]
pub(crate) struct ReadQuery {
    /// The letters as they were read, and those of the reverse complement.
    letters: [Vec<u8>; 2],
    packed: [Packed; 2],
    has_reverse: bool,
}

#[derive(Debug, Default)]
struct Packed {
    is_made: bool,
    words: Vec<u64>,
    /// The lower bit of each base that no base of the reference is equal to.
    unequal: Vec<u64>,
}

impl ReadQuery {
    /// Puts another read in its place.
    pub(crate) fn set(&mut self, letters: &[u8]) {
        self.letters[0].clear();
        self.letters[0].extend_from_slice(letters);
        self.packed.iter_mut().for_each(|packed| packed.is_made = false);
        self.has_reverse = false;
    }

    pub(crate) fn len(&self) -> usize {
        self.letters[0].len()
    }

    /// The letters of the read or of its reverse complement.
    pub(crate) fn letters(&mut self, is_reverse: bool) -> &[u8] {
        let [forward, reverse] = &mut self.letters;
        if is_reverse && !std::mem::replace(&mut self.has_reverse, true) {
            reverse.clear();
            reverse.extend(complement::CAPITALS.reversed(forward));
        }
        if is_reverse { reverse } else { forward }
    }

    /// Puts the positions at which the read or its reverse complement differs from the reference from `start` on into
    /// `positions`, if these are less than `most` of the read. Says whether they are.
    pub(crate) fn mismatches(
        &mut self,
        is_reverse: bool,
        sequence: &Sequence,
        start: usize,
        most: f32,
        positions: &mut Vec<usize>,
    ) -> bool {
        let length = self.len();
        let packed = self.packed(is_reverse);
        let different = |word: usize| {
            let bits = packed.words[word] ^ sequence.word_at(start + word * BASES_PER_WORD);
            let different = (bits | bits >> 1) & LOWER_BITS | packed.unequal[word];
            match length - word * BASES_PER_WORD {
                rest @ 1..BASES_PER_WORD => different & ((1 << (2 * rest)) - 1),
                _ => different,
            }
        };
        let words = packed.words.len();
        let count: u32 = (0..words).map(|word| different(word).count_ones()).sum();
        if count as f32 / length as f32 >= most {
            return false;
        }
        positions.clear();
        for word in (0..words).take_while(|_| count > 0) {
            let mut left = different(word);
            while left != 0 {
                positions.push(word * BASES_PER_WORD + left.trailing_zeros() as usize / 2);
                left &= left - 1;
            }
        }
        true
    }

    /// The `count` bases of the read or of its reverse complement from `at` on, at most 32, packed as those of the
    /// reference, if the reference can have all of them.
    pub(crate) fn word_at(&mut self, is_reverse: bool, at: usize, count: usize) -> Option<u64> {
        let packed = self.packed(is_reverse);
        let wanted = u64::MAX >> (2 * (BASES_PER_WORD - count));
        (unaligned(&packed.unequal, at) & wanted == 0).then(|| unaligned(&packed.words, at) & wanted)
    }

    fn packed(&mut self, is_reverse: bool) -> &Packed {
        let [forward, reverse] = &mut self.packed;
        let (packed, letters) = (if is_reverse { reverse } else { forward }, &self.letters[0]);
        if !std::mem::replace(&mut packed.is_made, true) {
            packed.words.clear();
            packed.unequal.clear();
            match is_reverse {
                // As there, letters are compared: only capital A, C, G and T are in the reference.
                false => letters.chunks(BASES_PER_WORD).for_each(|chunk| {
                    let (word, unequal) = pack(chunk, |letter| matches!(letter, b'A' | b'C' | b'G' | b'T'));
                    packed.words.push(word);
                    packed.unequal.push(unequal);
                }),
                true => letters.rchunks(BASES_PER_WORD).for_each(|chunk| {
                    let (word, unequal) =
                        pack(chunk, |letter| matches!(letter & !0x20, b'A' | b'C' | b'G' | b'T' | b'U'));
                    let behind = 2 * (BASES_PER_WORD - chunk.len());
                    packed.words.push(reversed(!word) >> behind);
                    packed.unequal.push(reversed(unequal) >> behind);
                }),
            }
        }
        packed
    }
}

/// The codes of up to 32 letters, and the lower bit of each that is no base. Those behind the last letter are A.
#[inline(always)]
fn pack(letters: &[u8], is_base: impl Fn(u8) -> bool) -> (u64, u64) {
    let mut block = [b'A'; BASES_PER_WORD];
    block[..letters.len()].copy_from_slice(letters);
    // Loops of a known length become wide instructions.
    let (mut codes, mut unequal) = ([0; BASES_PER_WORD], [0; BASES_PER_WORD]);
    for i in 0..BASES_PER_WORD {
        // These bits of A, C, G and T (or U) are 0, 1, 3 and 2.
        let bits = block[i] >> 1 & 3;
        codes[i] = bits ^ bits >> 1;
        unequal[i] = u8::from(!is_base(block[i]));
    }
    (squeezed(&codes), squeezed(&unequal))
}

/// The two lowest bits of each byte, the first in the lowest bits.
fn squeezed(bytes: &[u8; BASES_PER_WORD]) -> u64 {
    let (eights, _) = bytes.as_chunks::<8>();
    let squeeze = |eight: &[u8; 8]| {
        let all = u64::from_le_bytes(*eight);
        let twos = (all | all >> 6) & 0x000f_000f_000f_000f;
        let fours = (twos | twos >> 12) & 0x0000_00ff_0000_00ff;
        (fours | fours >> 24) & 0xffff
    };
    eights.iter().rev().fold(0, |word, eight| word << 16 | squeeze(eight))
}

/// The 32 codes of a word in reverse order.
fn reversed(word: u64) -> u64 {
    let fours = word.swap_bytes();
    let twos = (fours >> 4 & 0x0f0f_0f0f_0f0f_0f0f) | (fours & 0x0f0f_0f0f_0f0f_0f0f) << 4;
    (twos >> 2 & 0x3333_3333_3333_3333) | (twos & 0x3333_3333_3333_3333) << 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use strobealign::revcomp::reverse_complement;

    fn letter() -> impl Strategy<Value = u8> {
        proptest::sample::select(b"ACGTNacgtUu*".to_vec())
    }

    #[test]
    fn the_other_strand_has_the_letters_of_strobealign() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let mut query = ReadQuery::default();
        query.set(&all);
        assert_eq!(query.letters(true), reverse_complement(&all));
    }

    proptest! {
        #[test]
        fn letters_and_mismatches_are_those_of_letters(
            reference in "[ACGT]{200,300}",
            changes in proptest::collection::vec((0usize..200, letter()), 0..12),
            start in 0usize..100,
            length in 0usize..130,
            is_reverse: bool,
        ) {
            let (length, reference) = (length.min(reference.len() - start), reference.as_bytes());
            let segment = &reference[start..start + length];
            let mut letters = if is_reverse { reverse_complement(segment) } else { segment.to_vec() };
            for (at, letter) in changes.into_iter().filter(|&(at, _)| at < length) {
                letters[at] = letter;
            }
            let (mut query, mut sequence) = (ReadQuery::default(), Sequence::default());
            query.set(b"GATTACA");
            query.letters(true);
            query.set(&letters);
            sequence.push(reference);
            let theirs = if is_reverse { reverse_complement(&letters) } else { letters.clone() };
            prop_assert_eq!(query.letters(is_reverse), &theirs[..]);
            let expected: Vec<usize> = (0..length).filter(|&i| theirs[i] != segment[i]).collect();
            let mut positions = vec![7];
            for most in [0.0, 0.05, 2.0] {
                let is_below = (expected.len() as f32 / length as f32) < most;
                let is_taken = query.mismatches(is_reverse, &sequence, start, most, &mut positions);
                prop_assert_eq!(is_taken, is_below || length == 0);
                prop_assert!(!is_taken || positions == expected);
            }
        }
    }
}
