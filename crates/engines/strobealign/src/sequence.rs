//! The bases of a reference, two bits each, 32 to a word, the first in the lowest bits. Letters and their order are
//! those of strobealign's `PackedSeq`, its naive twin in the tests, which takes and gives one base at a time.

use crate::tables::zeroed;
use std::ops::Range;
use strobealign::seeding::syncmers::SeqAccess;
use zerohop_model::error::Error;

pub(crate) const BASES_PER_WORD: usize = 32;

/// Packed bases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sequence {
    words: Vec<u64>,
    length: usize,
}

/// A, C, G and T (or U), in either case, as 0 to 3; anything else as 4.
pub(crate) static CODES: [u8; 256] = {
    let mut table = [4; 256];
    let letters = *b"AaCcGgTtUu";
    let mut i = 0;
    while i < letters.len() {
        table[letters[i] as usize] = if i < 8 { i as u8 / 2 } else { 3 };
        i += 1;
    }
    table
};

/// The four bases of each byte.
static LETTERS: [[u8; 4]; 256] = {
    let (mut table, mut byte) = ([[0; 4]; 256], 0);
    while byte < 256 {
        let mut i = 0;
        while i < 4 {
            table[byte][i] = b"ACGT"[byte >> (2 * i) & 3];
            i += 1;
        }
        byte += 1;
    }
    table
};

/// The base that stands for an ambiguous one at `position`: pseudo-random, and always the same (strobealign's
/// `encode_wildcard`).
fn ambiguous(position: usize) -> u64 {
    let mixed = (position as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 30) & 3
}

impl Sequence {
    /// The first `length` bases of these words. What follows the last of them in its word is cleared.
    pub(crate) fn from_words(mut words: Vec<u64>, length: usize) -> Self {
        words.truncate(length.div_ceil(BASES_PER_WORD));
        if let (Some(last), rest @ 1..) = (words.last_mut(), length % BASES_PER_WORD) {
            let kept = *last & ((1 << (2 * rest)) - 1);
            // Words that are mapped cannot be written, and need not.
            if *last != kept {
                *last = kept;
            }
        }
        Sequence { words, length }
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Its length in bases.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Adds bases at the end. Letters other than A, C, G, T and U become pseudo-random bases.
    pub(crate) fn push(&mut self, bases: &[u8]) {
        let word = match self.length % BASES_PER_WORD {
            0 => 0,
            _ => self.words.pop().unwrap_or(0),
        };
        let mut packer = BasePacker { at: self.length, word };
        packer.pack(bases, |word| self.words.push(word));
        self.length = packer.at;
        if !self.length.is_multiple_of(BASES_PER_WORD) {
            self.words.push(packer.word);
        }
    }

    /// So many bases, which are put there by [`Sequence::parts`].
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn unfilled(length: usize) -> Result<Self, Error> {
        Ok(Sequence { words: zeroed(length.div_ceil(BASES_PER_WORD))?, length })
    }

    /// The parts of a sequence that is not filled, one for each of these ranges of bases, which follow one another.
    pub(crate) fn parts(&mut self, ranges: impl Iterator<Item = Range<usize>>) -> Vec<SequencePart<'_>> {
        let (mut rest, mut first) = (&mut self.words[..], 0);
        let parts = ranges.map(|bases| {
            let end = bases.end.div_ceil(BASES_PER_WORD);
            let (words, behind) = std::mem::take(&mut rest).split_at_mut(end - first);
            (rest, first) = (behind, end);
            let begins_inside = !bases.start.is_multiple_of(BASES_PER_WORD);
            let words = PartWords { begins_inside, head: 0, own: words.iter_mut() };
            SequencePart { packer: BasePacker { at: bases.start, word: 0 }, bases, words }
        });
        parts.collect()
    }

    /// Adds to word `at` what belongs to the bases of another part.
    pub(crate) fn add(&mut self, (at, head): (usize, u64)) {
        if let Some(word) = self.words.get_mut(at) {
            *word |= head;
        }
    }

    /// The 32 bases from `at` on. Those behind the end mean nothing.
    #[inline(always)]
    pub(crate) fn word_at(&self, at: usize) -> u64 {
        unaligned(&self.words, at)
    }

    /// Puts the letters of these bases into `letters`, in place of what it holds.
    pub(crate) fn decode(&self, bases: Range<usize>, letters: &mut Vec<u8>) {
        letters.resize(bases.len().next_multiple_of(BASES_PER_WORD), 0);
        let (words, _) = letters.as_chunks_mut::<BASES_PER_WORD>();
        for (word, at) in words.iter_mut().zip(bases.clone().step_by(BASES_PER_WORD)) {
            let (fours, _) = word.as_chunks_mut::<4>();
            for (four, byte) in fours.iter_mut().zip(self.word_at(at).to_le_bytes()) {
                *four = LETTERS[usize::from(byte)];
            }
        }
        letters.truncate(bases.len());
    }
}

/// The 32 bases of these words from `at` on. Those behind the last word are A.
#[inline(always)]
pub(crate) fn unaligned(words: &[u64], at: usize) -> u64 {
    let (index, shift) = (at / BASES_PER_WORD, 2 * (at % BASES_PER_WORD));
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    let low = word(index) >> shift;
    if shift == 0 { low } else { low | word(index + 1) << (64 - shift) }
}

/// Packs bases into words.
struct BasePacker {
    /// The position of the base that comes next.
    at: usize,
    /// The bases of the word that is not full.
    word: u64,
}

impl BasePacker {
    fn pack(&mut self, bases: &[u8], mut full: impl FnMut(u64)) {
        for &base in bases {
            let code = match CODES[usize::from(base)] {
                4 => ambiguous(self.at),
                code => u64::from(code),
            };
            self.word |= code << (2 * (self.at % BASES_PER_WORD));
            self.at += 1;
            if self.at.is_multiple_of(BASES_PER_WORD) {
                full(std::mem::take(&mut self.word));
            }
        }
    }
}

/// Some bases of a sequence, which a thread can fill while others fill theirs.
pub(crate) struct SequencePart<'w> {
    bases: Range<usize>,
    packer: BasePacker,
    words: PartWords<'w>,
}

/// The words of a part.
struct PartWords<'w> {
    /// Whether bases of parts before it begin its first word, which is theirs then.
    begins_inside: bool,
    /// What this part adds to that word.
    head: u64,
    own: std::slice::IterMut<'w, u64>,
}

impl PartWords<'_> {
    fn put(&mut self, word: u64) {
        match std::mem::take(&mut self.begins_inside) {
            true => self.head = word,
            false => self.own.by_ref().take(1).for_each(|place| *place = word),
        }
    }
}

impl SequencePart<'_> {
    /// Adds bases.
    pub(crate) fn push(&mut self, bases: &[u8]) {
        self.packer.pack(bases, |word| self.words.put(word));
    }

    /// What is to be added to which word of the sequence, when all its bases are there; `None` if there were more or
    /// fewer of them.
    pub(crate) fn complete(mut self) -> Option<(usize, u64)> {
        if self.packer.at != self.bases.end {
            return None;
        }
        if !self.packer.at.is_multiple_of(BASES_PER_WORD) {
            self.words.put(self.packer.word);
        }
        Some((self.bases.start / BASES_PER_WORD, self.words.head))
    }
}

/// A stretch of a sequence, for strobealign's syncmers.
pub(crate) struct SequenceStretch<'s> {
    pub(crate) sequence: &'s Sequence,
    pub(crate) start: usize,
    pub(crate) length: usize,
}

impl SeqAccess for SequenceStretch<'_> {
    #[inline(always)]
    fn nucleotide_bits(&self, i: usize) -> u8 {
        let at = self.start + i;
        (self.sequence.words[at / BASES_PER_WORD] >> (2 * (at % BASES_PER_WORD)) & 3) as u8
    }

    fn len(&self) -> usize {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strobealign::packed_seq::PackedSeq;

    #[test]
    fn bases_are_those_of_strobealign() {
        let mut random = fastrand::Rng::with_seed(1);
        for length in (0..70).chain([1000, 4099]) {
            let bases: Vec<u8> = (0..length).map(|_| b"ACGTacgtUuNR*"[random.usize(..13)]).collect();
            let theirs = PackedSeq::from_slice(&bases);
            let (mut ours, cut) = (Sequence::default(), random.usize(..=length));
            ours.push(&bases[..cut]);
            ours.push(&bases[cut..]);
            assert_eq!(ours.len(), length);
            let mut letters = vec![b'?'; 5];
            ours.decode(0..length, &mut letters);
            assert_eq!(letters, theirs.decode_all());
            let (start, end) = (random.usize(..=cut), random.usize(cut..=length));
            ours.decode(start..end, &mut letters);
            assert_eq!(letters, theirs.decode(start, end));
            let stretch = SequenceStretch { sequence: &ours, start, length: end - start };
            assert!((0..stretch.len()).all(|i| stretch.nucleotide_bits(i) == theirs.nucleotide_bits(start + i)));
            // What follows the last base does not matter.
            let mut words = ours.words().to_vec();
            words.iter_mut().skip(length / BASES_PER_WORD).for_each(|word| *word |= u64::MAX << (2 * (length % 32)));
            words.push(7);
            assert_eq!(Sequence::from_words(words, length), ours);
        }
    }
}
