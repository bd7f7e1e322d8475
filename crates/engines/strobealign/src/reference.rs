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
        self.sequence.extend(bases.iter().copied());
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
