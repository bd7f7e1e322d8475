//! The reference: its bases, and where its contigs lie in them.

use crate::sequence::Sequence;
use std::path::Path;
use strobealign::packed_seq::PackedSeq;
use strobealign::refseq::{ContigStarts, MAXIMUM_REFERENCE_LENGTH, RefSequence, RefSequenceError};
use zerohop_input::reference::Piece;
use zerohop_model::error::InputError;
use zerohop_model::record::Contig;

/// Collects the bases of a reference.
#[derive(Default)]
pub struct ReferenceBuilder {
    sequence: Sequence,
}

impl ReferenceBuilder {
    /// Adds a piece at the end: see [`ReferenceBuilder::push`].
    pub fn take(&mut self, piece: Piece<'_>) {
        piece.bases().into_iter().for_each(|bases| self.push(bases));
    }

    /// Adds bases at the end. Letters other than A, C, G, T and U become pseudo-random bases, as in strobealign.
    pub fn push(&mut self, bases: &[u8]) {
        self.sequence.push(bases);
    }

    /// The reference, whose contigs follow one another in what was pushed.
    ///
    /// # Errors
    /// When it is longer than strobealign can hold.
    pub fn build(self, contigs: Vec<Contig>) -> Result<Reference, RefSequenceError> {
        Reference::new(self.sequence, contigs)
    }
}

/// A reference.
#[derive(Clone)]
pub struct Reference {
    pub(crate) sequence: Sequence,
    pub(crate) contigs: Vec<Contig>,
    /// Names and places of the contigs, without bases, as strobealign's functions take them. A contig is named by its
    /// number, so that it is a number again when it comes back; the real names are in the header.
    pub(crate) outline: RefSequence,
}

impl Reference {
    pub(crate) fn new(sequence: Sequence, contigs: Vec<Contig>) -> Result<Self, RefSequenceError> {
        if sequence.len() > MAXIMUM_REFERENCE_LENGTH {
            return Err(RefSequenceError::SequenceTooLong);
        }
        let starts = contigs.iter().scan(0, |at, contig| {
            let start = *at;
            *at += contig.length as usize;
            Some(start)
        });
        let starts: Vec<usize> = starts.collect();
        let names = (0..contigs.len()).map(|i| i.to_string()).collect();
        let mut outline = RefSequence::new(PackedSeq::new(), starts.clone(), names)?;
        outline.starts = ContigStarts::new(starts, sequence.len());
        Ok(Reference { sequence, contigs, outline })
    }

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

    /// Where the contigs start, and where the last one ends.
    pub(crate) fn starts(&self) -> &ContigStarts {
        &self.outline.starts
    }
}

#[cfg(test)]
impl Reference {
    /// The same as strobealign holds it.
    pub(crate) fn as_theirs(&self) -> RefSequence {
        let mut letters = Vec::new();
        self.sequence.decode(0..self.sequence.len(), &mut letters);
        let (mut starts, names) = (self.starts().0.clone(), self.outline.names.clone());
        starts.pop();
        RefSequence::new(PackedSeq::from_slice(&letters), starts, names).unwrap()
    }
}
