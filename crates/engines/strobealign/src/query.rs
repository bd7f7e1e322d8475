//! A read as it is compared with the reference: its letters, and its bases packed as those of the reference, in the
//! orientations that are asked for.

use crate::sequence::{BASES_PER_WORD, CODES, Sequence, unaligned};
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
            match is_reverse {
                // As there, letters are compared: only capital A, C, G and T are in the reference.
                false => packed.fill(letters.iter().map(|&letter| match letter {
                    b'A' | b'C' | b'G' | b'T' => CODES[usize::from(letter)],
                    _ => 4,
                })),
                true => packed.fill(letters.iter().rev().map(|&letter| match CODES[usize::from(letter)] {
                    4 => 4,
                    code => 3 - code,
                })),
            }
        }
        packed
    }
}

impl Packed {
    fn fill(&mut self, mut codes: impl ExactSizeIterator<Item = u8>) {
        self.words.clear();
        self.unequal.clear();
        while codes.len() > 0 {
            let (mut word, mut unequal) = (0, 0);
            for (i, code) in codes.by_ref().take(BASES_PER_WORD).enumerate() {
                word |= u64::from(code & 3) << (2 * i);
                unequal |= u64::from(code >> 2) << (2 * i);
            }
            self.words.push(word);
            self.unequal.push(unequal);
        }
    }
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
