//! The reference as strobealign holds it. Its contigs are named by their numbers, so that a record's contig is a number
//! again when it comes back; the real names are in the header.

use std::path::Path;
use strobealign::packed_seq::PackedSeq;
use strobealign::refseq::{RefSequence, RefSequenceError};
use zerohop_input::reference::Piece;
use zerohop_model::error::InputError;
use zerohop_model::record::Contig;

/// Collects the bases of a reference.
#[derive(Default)]
pub struct ReferenceBuilder {
    sequence: PackedSeq,
}

impl ReferenceBuilder {
    /// Adds a piece at the end: see [`ReferenceBuilder::push`].
    pub fn take(&mut self, piece: Piece<'_>) {
        piece.bases().into_iter().for_each(|bases| self.push(bases));
    }

    /// Adds bases at the end. Letters other than A, C, G, T and U become pseudo-random bases, as in strobealign.
    pub fn push(&mut self, bases: &[u8]) {
        let (fours, rest) = bases.as_chunks();
        fours.iter().for_each(|four| self.push_four(four));
        self.sequence.extend(rest.iter().copied());
    }

    /// Adds the first bases, at most so many, of some that are packed, four to a byte, the first in the lowest bits.
    /// Gives how many.
    pub(crate) fn push_packed(&mut self, packed: &[u8], most: usize) -> usize {
        let count = most.min(4 * packed.len());
        let (whole, rest) = packed.split_at(count / 4);
        whole.iter().for_each(|&byte| self.push_four(&LETTERS[usize::from(byte)]));
        let rest = rest.iter().flat_map(|&byte| LETTERS[usize::from(byte)]).take(count % 4);
        self.sequence.extend(rest);
        count
    }

    /// The sequence takes one base after the other, and has no other way. By four, the compiler keeps its length in a
    /// register: half the time of a base at a time.
    #[inline(always)]
    fn push_four(&mut self, bases: &[u8; 4]) {
        self.sequence.extend(*bases);
    }

    /// The reference, whose contigs follow one another in what was pushed.
    ///
    /// # Errors
    /// When it is longer than strobealign can hold.
    pub fn build(self, contigs: Vec<Contig>) -> Result<Reference, RefSequenceError> {
        let starts = contigs.iter().scan(0, |at, contig| {
            let start = *at;
            *at += contig.length as usize;
            Some(start)
        });
        let (starts, names) = (starts.collect(), (0..contigs.len()).map(|i| i.to_string()).collect());
        Ok(Reference { sequence: RefSequence::new(self.sequence, starts, names)?, contigs })
    }
}

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

/// A reference.
#[derive(Clone)]
pub struct Reference {
    pub(crate) sequence: RefSequence,
    pub(crate) contigs: Vec<Contig>,
}

impl Reference {
    /// Reads FASTA: plain, gzip or BGZF, by content.
    ///
    /// # Errors
    /// When it cannot be read, is wrong, or is longer than strobealign can hold.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        let mut builder = ReferenceBuilder::default();
        let contigs = zerohop_input::reference::read(path, |piece| builder.take(piece))?;
        builder.build(contigs).map_err(|error| InputError::new(path, error.to_string()))
    }

    /// Its sequences, with their real names.
    pub fn contigs(&self) -> &[Contig] {
        &self.contigs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways give the sequence that strobealign makes of a base at a time.
    #[test]
    fn bases_are_those_of_one_at_a_time() {
        let mut random = fastrand::Rng::with_seed(1);
        for length in (0..70).chain([1000, 4099]) {
            let bases: Vec<u8> = (0..length).map(|_| b"ACGTacguNR"[random.usize(..10)]).collect();
            let whole = PackedSeq::from_slice(&bases);
            let (mut text, mut packed) = (ReferenceBuilder::default(), ReferenceBuilder::default());
            let cut = random.usize(..=length);
            text.push(&bases[..cut]);
            text.push(&bases[cut..]);
            assert_eq!(text.sequence.decode_all(), whole.decode_all());
            // What follows the last base in its byte does not matter.
            let bits = |at: usize| if at < length { whole.nucleotide_bits(at) } else { 3 };
            let byte = |first: usize| (0..4).fold(0, |byte, i| byte | bits(first + i) << (2 * i));
            let bytes: Vec<u8> = (0..length).step_by(4).map(byte).collect();
            let (first, second) = bytes.split_at(cut / 4);
            let left = length - packed.push_packed(first, length);
            assert_eq!(packed.push_packed(second, left), left);
            assert_eq!(packed.sequence.decode_all(), whole.decode_all());
        }
    }
}
