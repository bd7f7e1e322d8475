//! From chains to alignments. Without gaps, read and reference are compared 32 bases at a time; with gaps, the aligners
//! of the crate do the work. Which one is taken, scores and ends are those of strobealign's `extend_seed` and
//! `rescue_align`.

use crate::chains::{Chain, Chains};
use crate::confine::{Confiner, Segment};
use crate::query::ReadQuery;
use crate::reference::Reference;
use crate::ungapped::best_segment;
use std::fmt::Write;
use strobealign::aligner::{Aligner, AlignmentInfo};
use strobealign::chainer::Anchor;
use strobealign::piecewisealigner::remove_spurious_anchors;
use zerohop_model::record::CigarOp;

/// A read that differs from the reference in less than this part of its bases is aligned without gaps.
const UNGAPPED: f32 = 0.05;

/// In a longer segment, in bases, `Aligner::align` looks for nothing.
const LONGEST_SEGMENT: usize = 2000;

/// An alignment of a read.
#[derive(Debug, Clone)]
pub(crate) struct PlacedRead {
    /// Number of the contig, and the first base on it.
    pub(crate) contig: usize,
    pub(crate) start: usize,
    /// Without clips; with = and X, never M.
    pub(crate) cigar: Vec<CigarOp>,
    /// Bases that are clipped at its start and at its end.
    pub(crate) clips: [usize; 2],
    pub(crate) edit_distance: usize,
    pub(crate) score: u32,
    /// Bases of the reference.
    pub(crate) length: usize,
    pub(crate) is_reverse: bool,
    /// Whether one with gaps was looked for.
    pub(crate) gapped: bool,
}

/// Aligns reads; the vectors are scratch.
pub(crate) struct Extender<'e> {
    reference: &'e Reference,
    aligner: Aligner,
    use_ssw: bool,
    k: usize,
    confiner: Confiner,
    mismatches: Vec<usize>,
    segment: Vec<u8>,
    anchors: Vec<Anchor>,
    cigar_text: String,
}

/// Where a chain lies on its contig.
struct ChainPlace {
    start: usize,
    end: usize,
    contig_length: usize,
}

impl<'e> Extender<'e> {
    pub(crate) fn new(reference: &'e Reference, aligner: Aligner, use_ssw: bool, k: usize) -> Self {
        Extender {
            reference,
            aligner,
            use_ssw,
            k,
            confiner: Confiner::default(),
            mismatches: Vec::new(),
            segment: Vec::new(),
            anchors: Vec::new(),
            cigar_text: String::new(),
        }
    }

    /// The alignment of a read along the chain of this position. Spurious anchors are no longer counted then, if
    /// `counts`.
    pub(crate) fn extend(
        &mut self,
        query: &mut ReadQuery,
        chains: &mut Chains,
        position: usize,
        counts: bool,
    ) -> Option<PlacedRead> {
        let chain = &chains.chains[position];
        let (place, length) = (self.place(chain), query.len());
        let start = place.start.saturating_sub(chain.query.start);
        let end = (place.end + length - chain.query.end).min(place.contig_length);
        if start + length == end {
            let flat = chain.contig_start + start;
            let (sequence, mismatches) = (&self.reference.sequence, &mut self.mismatches);
            if length > 0 && query.mismatches(chain.is_reverse, sequence, flat, UNGAPPED, mismatches) {
                return Some(self.ungapped(length, chain, start));
            }
        }
        let padding = length / 10;
        if self.use_ssw {
            let (start, end) = (start.saturating_sub(padding), (end + padding).min(place.contig_length));
            self.decode(chain, start, end);
            let info = self.aligner.align(query.letters(chain.is_reverse), &self.segment)?;
            return Some(self.placed(&info, chain, start, length, chain.is_reverse));
        }
        let start = place.start.saturating_sub(length + padding);
        let end = (place.end + length + padding).min(place.contig_length);
        self.decode(chain, start, end);
        self.anchors.clear();
        self.anchors.extend_from_slice(chains.anchors(chain));
        remove_spurious_anchors(&mut self.anchors);
        let info = self.piecewise(query, chain, start, padding);
        let placed = info.map(|info| self.placed(&info, chain, start, length, chain.is_reverse));
        if counts {
            chains.chains[position].anchor_count = self.anchors.len();
        }
        placed
    }

    /// The alignment of a read near the chain of its mate, if they share some bases there.
    pub(crate) fn rescue(
        &mut self,
        query: &mut ReadQuery,
        mate_chain: &Chain,
        mu: f32,
        sigma: f32,
    ) -> Option<PlacedRead> {
        let (place, length) = (self.place(mate_chain), query.len());
        let furthest = (mu + 5.0 * sigma) as usize;
        // At most half of the read overlaps its mate.
        let (start, end) = if mate_chain.is_reverse {
            let start = place.start.saturating_sub(mate_chain.query.start);
            (start.saturating_sub(furthest), start + length / 2)
        } else {
            let end = (place.end + length).checked_sub(mate_chain.query.end)?;
            (end.saturating_sub(length / 2), end + furthest)
        };
        let (start, end) = (start.min(place.contig_length), end.min(place.contig_length));
        if end < start + self.k || end - start > LONGEST_SEGMENT {
            return None;
        }
        let (is_reverse, contig_start) = (!mate_chain.is_reverse, mate_chain.contig_start);
        let bases = contig_start + start..contig_start + end;
        let mut segment = Segment { query, is_reverse, sequence: &self.reference.sequence, bases };
        let confined = self.confiner.confine(&mut segment, self.k, self.aligner.scores)?;
        self.reference.sequence.decode(confined.clone(), &mut self.segment);
        let info = self.aligner.align(query.letters(is_reverse), &self.segment)?;
        Some(self.placed(&info, mate_chain, confined.start - contig_start, length, is_reverse))
    }

    fn place(&self, chain: &Chain) -> ChainPlace {
        let start = chain.reference.start - chain.contig_start;
        let contig_length = self.reference.starts().0[chain.contig + 1] - chain.contig_start;
        ChainPlace { start, end: start + chain.reference.len(), contig_length }
    }

    /// Decodes bases of the contig of a chain.
    fn decode(&mut self, chain: &Chain, start: usize, end: usize) {
        let flat = chain.contig_start + start..chain.contig_start + end;
        self.reference.sequence.decode(flat, &mut self.segment);
    }

    fn ungapped(&self, length: usize, chain: &Chain, start: usize) -> PlacedRead {
        let (first, end, score) = best_segment(&self.mismatches, length, self.aligner.scores);
        let inside = self.mismatches.iter().copied().filter(|at| (first..end).contains(at));
        let (mut cigar, mut from, mut edit_distance) = (Vec::with_capacity(4), first, 0);
        for at in inside {
            push_op(&mut cigar, at - from, b'=');
            push_op(&mut cigar, 1, b'X');
            from = at + 1;
            edit_distance += 1;
        }
        push_op(&mut cigar, end - from, b'=');
        PlacedRead {
            contig: chain.contig,
            start: start + first,
            cigar,
            clips: [first, length - end],
            edit_distance,
            score,
            length: end - first,
            is_reverse: chain.is_reverse,
            gapped: false,
        }
    }

    /// Aligns from anchor to anchor, on the segment of the contig that is decoded, which begins at `start`.
    fn piecewise(&self, query: &mut ReadQuery, chain: &Chain, start: usize, padding: usize) -> Option<AlignmentInfo> {
        let (letters, segment, k) = (query.letters(chain.is_reverse), &self.segment, self.k);
        let on_segment = |anchor: &Anchor| {
            let at = anchor.ref_start() - start - chain.contig_start;
            // Where bases differ, hashes were equal by chance.
            let is_equal = letters[anchor.query_start()..anchor.query_start() + k] == segment[at..at + k];
            is_equal.then(|| Anchor::new(at, anchor.query_start()))
        };
        let anchors: Vec<Anchor> = self.anchors.iter().filter_map(on_segment).collect();
        self.aligner.align_piecewise(letters, segment, &anchors, padding)
    }

    fn placed(
        &mut self,
        info: &AlignmentInfo,
        chain: &Chain,
        start: usize,
        length: usize,
        is_reverse: bool,
    ) -> PlacedRead {
        PlacedRead {
            contig: chain.contig,
            start: start + info.ref_start,
            clips: [info.query_start, length - info.query_end],
            edit_distance: info.edit_distance,
            score: info.score,
            length: info.ref_span(),
            cigar: self.operations(info),
            is_reverse,
            gapped: true,
        }
    }

    /// strobealign's CIGAR can be had as text alone, and is well-formed.
    fn operations(&mut self, info: &AlignmentInfo) -> Vec<CigarOp> {
        self.cigar_text.clear();
        // Writing to a string does not fail.
        let _ = write!(self.cigar_text, "{}", info.cigar);
        let (mut cigar, mut length) = (Vec::new(), 0);
        for byte in self.cigar_text.bytes() {
            if byte.is_ascii_digit() {
                length = 10 * length + usize::from(byte - b'0');
            } else {
                push_op(&mut cigar, length, byte);
                length = 0;
            }
        }
        cigar
    }
}

/// Adds an operation; it is one with the last if they are of one kind.
pub(crate) fn push_op(cigar: &mut Vec<CigarOp>, length: usize, letter: u8) {
    let before = cigar.pop_if(|last| last.letter() == letter).map_or(0, CigarOp::length);
    if length + before as usize > 0 {
        cigar.extend(CigarOp::new(length as u32 + before, letter));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_a_kind_become_one() {
        let mut cigar = Vec::new();
        for (length, letter) in [(0, b'S'), (3, b'M'), (4, b'M'), (0, b'I'), (1, b'D'), (2, b'M')] {
            push_op(&mut cigar, length, letter);
        }
        assert_eq!(
            cigar.iter().map(|op| (op.length(), op.letter())).collect::<Vec<_>>(),
            [(7, b'M'), (1, b'D'), (2, b'M')]
        );
    }
}
