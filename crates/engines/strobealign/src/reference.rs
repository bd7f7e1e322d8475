//! The reference: its bases, and where its contigs lie in them.

use crate::pieces::share;
use crate::sequence::{Sequence, SequencePart};
use std::path::Path;
use strobealign::packed_seq::PackedSeq;
use strobealign::refseq::{ContigStarts, MAXIMUM_REFERENCE_LENGTH, RefSequence, RefSequenceError};
use zerohop_input::reference::{Counted, Piece, ReferenceLayout, STRETCH, Stretches};
use zerohop_model::error::{Error, InputError};
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

/// A reference: its packed bases, and its contigs.
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

    /// Reads FASTA: plain, gzip or BGZF, by content. What is plain is read by so many threads.
    ///
    /// # Errors
    /// When it cannot be read, is wrong, or is longer than strobealign can hold; too little memory.
    pub fn read(path: &Path, threads: usize) -> Result<Self, Error> {
        let by_all = match Stretches::open(path, STRETCH) {
            Some(stretches) => read_stretches(&stretches, threads)?,
            None => None,
        };
        let (sequence, contigs) = match by_all {
            Some(read) => read,
            None => read_in_order(path)?,
        };
        Ok(Reference::new(sequence, contigs).map_err(|error| InputError::new(path, error.to_string()))?)
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

fn read_in_order(path: &Path) -> Result<(Sequence, Vec<Contig>), InputError> {
    let mut builder = ReferenceBuilder::default();
    let contigs = zerohop_input::reference::read(path, |piece| builder.take(piece))?;
    Ok((builder.sequence, contigs))
}

/// What these stretches hold; `None` if that must be read in order.
fn read_stretches(stretches: &Stretches, threads: usize) -> Result<Option<(Sequence, Vec<Contig>)>, Error> {
    let mut counted: Vec<Option<Counted>> = (0..stretches.len()).map(|_| None).collect();
    share(counted.iter_mut().enumerate().collect(), threads, |(i, counted): (usize, &mut Option<Counted>)| {
        *counted = stretches.count(i)?;
        Ok::<_, Error>(())
    })?;
    let counted: Option<Vec<Counted>> = counted.into_iter().collect();
    let Some(ReferenceLayout { contigs, bases }) = counted.and_then(|counted| stretches.layout(counted)) else {
        return Ok(None);
    };
    let length = bases.last().map_or(0, |last| last.end as usize);
    if length > MAXIMUM_REFERENCE_LENGTH {
        return Ok(None);
    }
    let mut sequence = Sequence::unfilled(length)?;
    let mut heads = vec![(0, 0); bases.len()];
    let parts = sequence.parts(bases.into_iter().map(|bases| bases.start as usize..bases.end as usize));
    let work = parts.into_iter().zip(&mut heads).enumerate().collect();
    share(work, threads, |(i, (mut part, head)): (usize, (SequencePart<'_>, &mut (usize, u64)))| {
        stretches.take(i, |bases| part.push(bases))?;
        *head = part.complete().ok_or_else(|| stretches.changed())?;
        Ok::<_, Error>(())
    })?;
    heads.into_iter().for_each(|head| sequence.add(head));
    Ok(Some((sequence, contigs)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_read_what_is_read_in_order() {
        let mut random = fastrand::Rng::with_seed(8);
        let file = tempfile::NamedTempFile::new().unwrap();
        for round in 0..200 {
            let mut text = String::new();
            for contig in 0..random.usize(1..5) {
                text.push_str(&format!(">c{contig} comment\n"));
                for _ in 0..random.usize(..40) {
                    text.extend((0..random.usize(..150)).map(|_| char::from(b"ACGTacgtNR-"[random.usize(..11)])));
                    text.push('\n');
                }
            }
            std::fs::write(file.path(), text + "A").unwrap();
            let stretches = Stretches::open(file.path(), random.u64(40..300)).unwrap();
            let Some((sequence, contigs)) = read_stretches(&stretches, 1 + round % 4).unwrap() else {
                panic!("round {round}: left to the twin");
            };
            let in_order = read_in_order(file.path()).unwrap();
            assert!((sequence, contigs) == in_order, "round {round}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_by_who_reads_in_order() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), ">a\nAC1\n").unwrap();
        let error = Reference::read(file.path(), 2).err().unwrap().to_string();
        assert!(error.ends_with("record 1 (byte 3): sequence 'a' holds '1', which is not a base"), "{error}");
    }
}
