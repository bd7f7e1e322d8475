//! From anchors to chains: runs of anchors that lie alike in the read and in the reference. Rules and scores, to the
//! bit, are those of strobealign's `Chainer`, its naive twin in the tests.

use crate::hits::Finder;
use crate::seeds::Seeds;
use fastrand::Rng;
use std::ops::Range;
use strobealign::chainer::{Anchor, ChainingParameters};
use strobealign::refseq::ContigStarts;
use strobealign::shuffle::shuffle_best;

/// Anchors on one diagonal that are so many bases apart have their scores in a table.
const TABLED: usize = 1024;
/// No anchor.
const NONE: usize = usize::MAX;

/// A chain. Positions of the reference are counted over all contigs.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    /// Its number among the chains of the read, as they were found.
    pub(crate) id: usize,
    /// Number of the contig, and where it starts.
    pub(crate) contig: usize,
    pub(crate) contig_start: usize,
    pub(crate) reference: Range<usize>,
    /// Bases of the read, or of its reverse complement.
    pub(crate) query: Range<usize>,
    pub(crate) matching_bases: usize,
    pub(crate) score: f32,
    pub(crate) is_reverse: bool,
    /// Its anchors, the last one first, among those of all chains.
    anchors: Range<usize>,
    /// How many anchors it counts as: aligning it may find that some are spurious.
    pub(crate) anchor_count: usize,
}

impl Chain {
    /// Where the read starts on the reference if nothing is inserted or deleted before the chain.
    pub(crate) fn projected_start(&self) -> usize {
        self.reference.start.saturating_sub(self.query.start).max(self.contig_start)
    }
}

/// The chains of a read.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    pub(crate) chains: Vec<Chain>,
    anchors: Vec<Anchor>,
}

impl Chains {
    pub(crate) fn anchors(&self, chain: &Chain) -> &[Anchor] {
        &self.anchors[chain.anchors.clone()]
    }

    /// Puts the best chains, which are first, into random order.
    pub(crate) fn shuffle_best(&mut self, rng: &mut Rng) {
        shuffle_best(&mut self.chains, |chain| chain.score, rng);
    }
}

/// Makes chains. The vectors are scratch.
pub(crate) struct Chainer<'e> {
    finder: Finder<'e>,
    k: usize,
    parameters: &'e ChainingParameters,
    starts: &'e ContigStarts,
    /// Scores of anchors on one diagonal, by their distance.
    scores: Vec<f32>,
    anchors: Vec<Anchor>,
    best: Vec<f32>,
    predecessors: Vec<usize>,
    ends: Vec<(usize, f32)>,
    is_used: Vec<bool>,
}

impl<'e> Chainer<'e> {
    pub(crate) fn new(
        finder: Finder<'e>,
        k: usize,
        parameters: &'e ChainingParameters,
        starts: &'e ContigStarts,
    ) -> Self {
        let scores = (0..TABLED).map(|distance| score(distance, distance, k, parameters)).collect();
        Chainer {
            finder,
            k,
            parameters,
            starts,
            scores,
            anchors: Vec::new(),
            best: Vec::new(),
            predecessors: Vec::new(),
            ends: Vec::new(),
            is_used: Vec::new(),
        }
    }

    /// Puts the chains of the read with these seeds into `chains`, the best first.
    pub(crate) fn chain(&mut self, seeds: &Seeds, read_length: usize, chains: &mut Chains) {
        chains.chains.clear();
        chains.anchors.clear();
        for orientation in self.finder.look_up(seeds) {
            self.anchors.clear();
            self.finder.add_anchors(orientation, seeds, &mut self.anchors);
            self.anchors.sort_unstable();
            self.anchors.dedup();
            if !self.anchors.is_empty() {
                let best = self.connect(read_length);
                self.extract(best, orientation == 1, chains);
            }
        }
        chains.chains.sort_by(|a, b| b.score.total_cmp(&a.score));
    }

    /// Finds the best predecessor of each anchor. Gives the best score of all.
    fn connect(&mut self, read_length: usize) -> f32 {
        let most_back = self.parameters.max_lookback.max(read_length / 200);
        let furthest = self.parameters.max_ref_gap.unwrap_or(read_length);
        let count = self.anchors.len();
        self.best.clear();
        self.best.resize(count, self.k as f32);
        self.predecessors.clear();
        self.predecessors.resize(count, NONE);
        let (mut best_score, mut best_anchor) = (0.0, NONE);
        let (mut contig_start, mut contig_end) = (0, 0);
        for i in 0..count {
            let position = self.anchors[i].ref_start();
            if position >= contig_end {
                let contig = self.starts.index(position);
                (contig_start, contig_end) = (self.starts.0[contig], self.starts.0[contig + 1]);
            }
            let nearest = contig_start.max((position + 1).saturating_sub(furthest));
            self.connect_one(i, i.saturating_sub(most_back), nearest);
            if best_anchor != NONE {
                self.try_best(i, best_anchor, nearest);
            }
            if self.best[i] > best_score {
                (best_score, best_anchor) = (self.best[i], i);
            }
        }
        best_score
    }

    /// Looks for the best predecessor of anchor `i` among those from `first` on that are not before `nearest`, from the
    /// last one back; one on the same diagonal ends the search.
    fn connect_one(&mut self, i: usize, first: usize, nearest: usize) {
        let (own, steepest) = (self.anchors[i], self.parameters.max_diagonal_ratio);
        let (mut best, mut predecessor) = (self.best[i], NONE);
        for j in (first..i).rev() {
            let other = self.anchors[j];
            if other.ref_start() < nearest {
                break;
            }
            let Some(in_read) = own.query_start().checked_sub(other.query_start()) else { continue };
            let in_reference = own.ref_start() - other.ref_start();
            let is_straight = in_read == in_reference;
            if is_straight {
                if in_read > 0 && steepest < 1.0 {
                    continue;
                }
            } else if ratio(in_read, in_reference) > steepest {
                continue;
            }
            let new = self.best[j] + self.score(in_read, in_reference);
            if new >= best {
                (best, predecessor) = (new, j);
                if is_straight {
                    break;
                }
            }
        }
        (self.best[i], self.predecessors[i]) = (best, predecessor);
    }

    /// That search may end before the best anchor so far, which is tried, too.
    fn try_best(&mut self, i: usize, other: usize, nearest: usize) {
        let (own, anchor) = (self.anchors[i], self.anchors[other]);
        if anchor.ref_start() < nearest || own.query_start() <= anchor.query_start() {
            return;
        }
        let in_read = own.query_start() - anchor.query_start();
        let in_reference = own.ref_start() - anchor.ref_start();
        if in_reference > 0 && ratio(in_read, in_reference) <= self.parameters.max_diagonal_ratio {
            let new = self.best[other] + self.score(in_read, in_reference);
            if new > self.best[i] {
                (self.best[i], self.predecessors[i]) = (new, other);
            }
        }
    }

    #[inline(always)]
    fn score(&self, in_read: usize, in_reference: usize) -> f32 {
        match self.scores.get(in_read) {
            Some(&tabled) if in_read == in_reference => tabled,
            _ => score(in_read, in_reference, self.k, self.parameters),
        }
    }

    /// Adds the chains that end at anchors with good scores. One that runs into another is left out.
    fn extract(&mut self, best_score: f32, is_reverse: bool, chains: &mut Chains) {
        let least = best_score * self.parameters.valid_score_threshold;
        let good = self.best.iter().copied().enumerate().filter(|&(_, score)| score >= least);
        self.ends.clear();
        self.ends.extend(good);
        self.ends.sort_by(|a, b| b.1.total_cmp(&a.1));
        self.is_used.clear();
        self.is_used.resize(self.anchors.len(), false);
        for &(end, score) in &self.ends {
            if self.is_used[end] {
                continue;
            }
            let start_of_anchors = chains.anchors.len();
            chains.anchors.push(self.anchors[end]);
            let (mut at, mut matching_bases, mut overlaps) = (end, self.k, false);
            while self.predecessors[at] != NONE && !overlaps {
                let before = self.predecessors[at];
                overlaps = std::mem::replace(&mut self.is_used[before], true);
                let step = self.anchors[at].ref_start().saturating_sub(self.anchors[before].ref_start());
                matching_bases += step.min(self.k);
                chains.anchors.push(self.anchors[before]);
                at = before;
            }
            if overlaps {
                chains.anchors.truncate(start_of_anchors);
                continue;
            }
            let (first, last) = (self.anchors[at], self.anchors[end]);
            let anchors = start_of_anchors..chains.anchors.len();
            let contig = self.starts.index(first.ref_start());
            chains.chains.push(Chain {
                id: chains.chains.len(),
                contig,
                contig_start: self.starts.0[contig],
                reference: first.ref_start()..last.ref_start() + self.k,
                query: first.query_start()..last.query_start() + self.k,
                matching_bases,
                score: score + anchors.len() as f32 * self.parameters.matches_weight,
                is_reverse,
                anchor_count: anchors.len(),
                anchors,
            });
        }
    }
}

/// How steep the line is between two anchors, 1 being the diagonal.
#[inline(always)]
fn ratio(in_read: usize, in_reference: usize) -> f32 {
    in_read.max(in_reference) as f32 / in_read.min(in_reference) as f32
}

/// What a second anchor adds to a chain when it is so many bases behind the first one in the read and in the reference
/// (strobealign's `compute_score`).
fn score(in_read: usize, in_reference: usize, k: usize, parameters: &ChainingParameters) -> f32 {
    let (difference, shorter) = (in_reference.abs_diff(in_read), in_read.min(in_reference));
    let linear = parameters.diag_diff_penalty * difference as f32
        + parameters.gap_length_penalty * shorter.saturating_sub(k) as f32;
    let logarithmic = if difference >= 1 { (difference as f32 + 1.0).log2() } else { 0.0 };
    k.min(shorter) as f32 - (linear + 0.5 * logarithmic)
}
