//! Where in a segment of the reference the best alignment of a read can lie, so that Smith and Waterman's matrix is
//! made there alone. What is left out cannot change the alignment:
//!
//! - The best alignment along a diagonal on which read and segment share bases, or along two with one gap, has some
//!   score; the one that is looked for has this score at least.
//! - Each run of equal bases of such an alignment ends at a mismatch or gap, which costs. So there are few runs, and
//!   one of them is long.
//! - All places where the read and the segment share a run as long as that are found. Deleted bases cost, so the
//!   alignment ends a bounded number of bases from there.
//!
//! The whole segment is the naive twin.

use crate::query::ReadQuery;
use crate::sequence::{BASES_PER_WORD, Sequence};
use crate::ungapped::best_segment;
use std::ops::Range;
use strobealign::aligner::Scores;

/// Bases of the words that are looked up, at most.
const WORD: usize = 8;
/// More diagonals are not looked at: the segment is a repeat, and the alignment can be anywhere.
const MOST_DIAGONALS: usize = 32;

/// A read, and a segment of the reference.
pub(crate) struct Segment<'s> {
    pub(crate) query: &'s mut ReadQuery,
    pub(crate) is_reverse: bool,
    pub(crate) sequence: &'s Sequence,
    /// Bases of the sequence.
    pub(crate) bases: Range<usize>,
}

/// Finds where reads can lie; the vectors are scratch.
pub(crate) struct Confiner {
    /// A bit for each word of [`WORD`] bases: whether the read has it at one of the positions that count.
    marks: Box<[u64; 1 << (2 * WORD - 6)]>,
    /// The words of the read at these positions.
    words: Vec<ReadWord>,
    diagonals: Vec<usize>,
    shared: Vec<Shared>,
    mismatches: Vec<usize>,
}

/// Some bases of a read.
#[derive(Debug, Clone, Copy)]
struct ReadWord {
    bases: u64,
    at: usize,
}

impl Default for Confiner {
    fn default() -> Self {
        Confiner {
            marks: Box::new([0; 1 << (2 * WORD - 6)]),
            words: Vec::new(),
            diagonals: Vec::new(),
            shared: Vec::new(),
            mismatches: Vec::new(),
        }
    }
}

impl Confiner {
    /// The bases of the segment outside of which the best alignment of the read with gaps does not lie, with or without
    /// bonuses for its ends.
    ///
    /// `None` if the segment has none of the words of two thirds of `k` bases that start at every third of `k` bases of
    /// the read: strobealign does not align then.
    pub(crate) fn confine(&mut self, segment: &mut Segment<'_>, k: usize, scores: Scores) -> Option<Range<usize>> {
        let (whole, length) = (segment.bases.clone(), segment.query.len());
        let word = 2 * k / 3;
        let starts = (0..length.saturating_sub(word)).step_by(k / 3);
        self.find(segment, starts, word)?;
        let scores = Scores { end_bonus: 0, ..scores };
        // Letters that SSW takes for a base, as it does lower-case ones, are in no run.
        let is_plain = segment.query.letters(segment.is_reverse).iter().all(|letter| b"ACGTN".contains(letter));
        if !is_plain {
            return Some(whole);
        }
        self.shared.clear();
        for i in 0..self.diagonals.len() {
            let shared = self.along(segment, self.diagonals[i], scores);
            self.shared.push(shared);
        }
        let score = best_score(&self.shared, scores);
        Some(self.around_runs(segment, score, scores).unwrap_or(whole))
    }

    /// The bases that alignments of at least this score can have; `None` if that says nothing.
    fn around_runs(&mut self, segment: &mut Segment<'_>, score: u32, scores: Scores) -> Option<Range<usize>> {
        let length = segment.query.len();
        let bounds = Bounds::of(score, length, scores).filter(|bounds| bounds.run >= WORD)?;
        let starts = (0..=length - WORD).step_by(bounds.run - WORD + 1);
        if !self.find(segment, starts, WORD)? {
            return None;
        }
        let mut around: Option<Range<usize>> = None;
        for i in 0..self.diagonals.len() {
            let diagonal = self.diagonals[i];
            if self.along(segment, diagonal, scores).longest_run >= bounds.run {
                let (start, end) = (diagonal.saturating_sub(bounds.deleted), diagonal + length + bounds.deleted);
                around = Some(around.map_or(start..end, |range| range.start.min(start)..range.end.max(end)));
            }
        }
        let Range { start, end } = around?;
        Some(start.max(segment.bases.start)..end.min(segment.bases.end))
    }

    /// Finds the diagonals on which words of the read, so many bases from each of these positions on, are in the
    /// segment. A diagonal is the position in the sequence at which the read begins. Says whether all were found;
    /// `None` if there are none.
    fn find(&mut self, segment: &mut Segment<'_>, starts: impl Iterator<Item = usize>, length: usize) -> Option<bool> {
        self.words.clear();
        self.diagonals.clear();
        let word_at = |at| segment.query.word_at(segment.is_reverse, at, length).map(|bases| ReadWord { bases, at });
        self.words.extend(starts.filter_map(word_at));
        let Confiner { marks, words, diagonals, .. } = self;
        words.iter().for_each(|word| marks[mark_of(word.bases, length).0] |= mark_of(word.bases, length).1);
        let (Segment { sequence, bases, .. }, mut is_sure, mut is_found) = (segment, true, false);
        let wanted = u64::MAX >> (2 * (BASES_PER_WORD - length));
        let mut at = bases.start;
        while at + length <= bases.end && !words.is_empty() {
            let bits = sequence.word_at(at);
            // All positions whose word is in these bits.
            let count = (bases.end - length + 1 - at).min(BASES_PER_WORD - WORD + 1);
            for i in 0..count {
                let (index, bit) = mark_of(bits >> (2 * i), length);
                if marks[index] & bit == 0 {
                    continue;
                }
                let there = sequence.word_at(at + i) & wanted;
                for word in words.iter().filter(|word| word.bases == there) {
                    is_found = true;
                    match (at + i).checked_sub(word.at) {
                        Some(diagonal) if diagonals.contains(&diagonal) => (),
                        Some(diagonal) if diagonals.len() < MOST_DIAGONALS => diagonals.push(diagonal),
                        _ => is_sure = false,
                    }
                }
            }
            at += count;
        }
        words.iter().for_each(|word| marks[mark_of(word.bases, length).0] = 0);
        is_found.then_some(is_sure)
    }

    /// What the read and the segment share along a diagonal.
    fn along(&mut self, segment: &mut Segment<'_>, diagonal: usize, scores: Scores) -> Shared {
        let Segment { query, is_reverse, sequence, bases } = segment;
        // The part of the read that lies on the segment.
        let rows = bases.start.saturating_sub(diagonal)..query.len().min(bases.end - diagonal);
        query.mismatches(*is_reverse, sequence, diagonal, f32::INFINITY, &mut self.mismatches);
        self.mismatches.retain_mut(|at| {
            let is_on_segment = rows.contains(at);
            *at = at.saturating_sub(rows.start);
            is_on_segment
        });
        let (start, end, score) = best_segment(&self.mismatches, rows.len(), scores);
        let (mut longest_run, mut from) = (0, 0);
        for &at in self.mismatches.iter().chain([&rows.len()]) {
            longest_run = longest_run.max(at - from);
            from = at + 1;
        }
        Shared { diagonal, best: rows.start + start..rows.start + end, score, longest_run }
    }
}

/// Where the mark of a word is, of which the lowest bits are the first bases: number and bit.
#[inline(always)]
fn mark_of(bases: u64, length: usize) -> (usize, u64) {
    let code = bases & (u64::MAX >> (64 - 2 * WORD.min(length)));
    ((code >> 6) as usize % (1 << (2 * WORD - 6)), 1 << (code % 64))
}

/// What a read and the reference share along a diagonal.
struct Shared {
    diagonal: usize,
    /// The bases of the read that have the best score.
    best: Range<usize>,
    score: u32,
    longest_run: usize,
}

/// A score that some alignment has which follows one of these diagonals, or two of them with a gap between.
fn best_score(shared: &[Shared], scores: Scores) -> u32 {
    let alone = shared.iter().map(|one| one.score).max().unwrap_or(0);
    let pairs = shared.iter().flat_map(|one| shared.iter().map(move |other| with_gap(one, other, scores)));
    pairs.max().map_or(alone, |joined| alone.max(joined.max(0) as u32))
}

/// The least score of the best bases of a diagonal, a gap, and then what is left of those of another.
fn with_gap(one: &Shared, other: &Shared, scores: Scores) -> i64 {
    let [match_, mismatch, gap_open, gap_extend] =
        [scores.match_, scores.mismatch, scores.gap_open, scores.gap_extend].map(i64::from);
    let gap = other.diagonal as i64 - one.diagonal as i64;
    // An insertion takes bases of the read.
    let from = one.best.end as i64 + (-gap).max(0);
    if gap == 0 || from >= other.best.end as i64 {
        return 0;
    }
    let between = other.best.start as i64 - from;
    let lost = if between < 0 { -match_ * between } else { mismatch * between };
    i64::from(one.score) + i64::from(other.score) - lost - gap_open - gap_extend * (gap.abs() - 1)
}

/// What each alignment of at least some score has.
#[derive(Debug, PartialEq, Eq)]
struct Bounds {
    /// Bases of its longest run of equal bases, at least.
    run: usize,
    /// Bases that are deleted, at most.
    deleted: usize,
}

impl Bounds {
    /// Those of alignments of a read of `length` bases. `None` where scores have no such bounds, or SSW's depends on
    /// more than them.
    fn of(score: u32, length: usize, scores: Scores) -> Option<Self> {
        let [match_, mismatch, gap_open, gap_extend] =
            [scores.match_, scores.mismatch, scores.gap_open, scores.gap_extend].map(usize::from);
        let break_cost = mismatch.min(gap_open);
        // SSW leaves gaps unfinished where opening one costs no more than extending it.
        if match_ == 0 || break_cost == 0 || gap_extend == 0 || gap_open <= gap_extend {
            return None;
        }
        // It has scores of 8 bits, and sums of 16.
        if match_ > i8::MAX as usize || mismatch > 1 << 7 || match_ * length > i16::MAX as usize {
            return None;
        }
        let (score, spare) = (score as usize, (match_ * length).checked_sub(score as usize)?);
        // The more runs there are, the shorter the longest may be; of so low a score that does not hold.
        if score < break_cost {
            return None;
        }
        let runs = 1 + spare / break_cost;
        let run = (score + break_cost * (runs - 1)).div_ceil(match_).div_ceil(runs);
        let deleted = spare.checked_sub(gap_open).map_or(0, |rest| 1 + rest / gap_extend);
        Some(Bounds { run, deleted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use strobealign::aligner::{Aligner, AlignmentInfo};
    use strobealign::revcomp::reverse_complement;

    /// strobealign's `has_shared_substring`.
    fn shares_bases(letters: &[u8], segment: &[u8], k: usize) -> bool {
        let length = 2 * k / 3;
        let mut starts = (0..letters.len().saturating_sub(length)).step_by(k / 3);
        starts.any(|start| segment.windows(length).any(|window| window == &letters[start..start + length]))
    }

    fn confined(
        letters: &[u8],
        is_reverse: bool,
        sequence: &Sequence,
        bases: Range<usize>,
        k: usize,
        scores: Scores,
    ) -> Option<Range<usize>> {
        let mut query = ReadQuery::default();
        query.set(letters);
        Confiner::default().confine(&mut Segment { query: &mut query, is_reverse, sequence, bases }, k, scores)
    }

    fn shown(info: Option<AlignmentInfo>, offset: usize) -> Option<(String, [usize; 5], u32)> {
        info.map(|info| {
            let ends = [info.ref_start + offset, info.ref_end + offset, info.query_start, info.query_end];
            let [a, b, c, d] = ends;
            (info.cigar.to_string(), [a, b, c, d, info.edit_distance], info.score)
        })
    }

    /// A change of a read at a position: a base, an insertion, a deletion, a letter that is no base.
    fn changed(letters: &mut Vec<u8>, (kind, at, length): (usize, usize, usize)) {
        let at = at % (letters.len() + 1);
        match kind {
            0..4 => letters.splice(at..(at + 1).min(letters.len()), [b"ACGT"[kind]]).count(),
            4 => letters.splice(at..at, b"GATTACAGGC".repeat(2).into_iter().take(length)).count(),
            5 => letters.drain(at..(at + length).min(letters.len())).count(),
            _ => letters.splice(at..(at + 1).min(letters.len()), [b"NnacgUR"[length % 7]]).count(),
        };
    }

    /// Match, mismatch, opening and extending a gap. Of some, SSW's 8 or 16 bits are too few.
    const WIDE_AND_USUAL: [(u8, u8, u8, u8); 8] = [
        (2, 8, 12, 1),
        (1, 4, 6, 1),
        (3, 2, 5, 2),
        (2, 8, 3, 3),
        (1, 20, 30, 1),
        (2, 200, 12, 1),
        (120, 100, 90, 1),
        (127, 8, 200, 2),
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        #[test]
        fn the_best_alignment_is_that_of_the_whole_segment(
            unit in "[ACGT]{1,60}",
            repeats in 0usize..12,
            reference in "[ACGT]{100,700}",
            place in (0usize..800, 5usize..260),
            segment in (0usize..500, 60usize..1400),
            changes in proptest::collection::vec((0usize..7, 0usize..260, 1usize..20), 0..9),
            is_reverse: bool,
            scores in proptest::sample::select(WIDE_AND_USUAL.to_vec()),
            k in 8usize..32,
        ) {
            let mut bases = reference.into_bytes();
            let middle = bases.len() / 2;
            bases.splice(middle..middle, unit.into_bytes().repeat(repeats));
            let start = place.0 % bases.len();
            let mut letters = bases[start..(start + place.1).min(bases.len())].to_vec();
            changes.into_iter().for_each(|change| changed(&mut letters, change));
            letters.push(b'A');
            let first = segment.0 % (bases.len() - 50);
            let range = first..(first + segment.1).min(bases.len());
            let (match_, mismatch, gap_open, gap_extend) = scores;
            let scores = Scores { match_, mismatch, gap_open, gap_extend, end_bonus: 10 };
            let mut sequence = Sequence::default();
            sequence.push(&bases);
            let given = if is_reverse { reverse_complement(&letters) } else { letters.clone() };
            let letters = if is_reverse { reverse_complement(&given) } else { letters };
            let part = confined(&given, is_reverse, &sequence, range.clone(), k, scores);
            prop_assert_eq!(part.is_some(), shares_bases(&letters, &bases[range.clone()], k));
            if let Some(part) = part {
                let aligner = Aligner::new_ssw_only(scores);
                let theirs = shown(aligner.align(&letters, &bases[range.clone()]), range.start);
                prop_assert_eq!(shown(aligner.align(&letters, &bases[part.clone()]), part.start), theirs);
            }
        }
    }

    #[test]
    fn good_reads_are_confined() {
        let mut random = fastrand::Rng::with_seed(5);
        let bases: Vec<u8> = (0..1000).map(|_| b"ACGT"[random.usize(..4)]).collect();
        let mut sequence = Sequence::default();
        sequence.push(&bases);
        let mut letters = bases[400..550].to_vec();
        letters[100] = if letters[100] == b'A' { b'C' } else { b'A' };
        let around = |letters: &[u8]| confined(letters, false, &sequence, 0..1000, 20, Scores::default());
        // Of the best score, 300, 10 are lost, and may be so for a gap of no base.
        assert_eq!(around(&letters), Some(400..550));
        // A gap that costs 13 besides: 23 are lost, and may be so for 12 deleted bases.
        letters.drain(60..62);
        assert_eq!(around(&letters), Some(388..562));
        assert_eq!(around(b"GATTACA"), None);
    }

    #[test]
    fn bounds_are_those_of_the_costs() {
        // One mismatch in 150 bases: two runs, one of them of 75 bases or more, and no gap.
        assert_eq!(Bounds::of(290, 150, Scores::default()), Some(Bounds { run: 75, deleted: 0 }));
        // 20 below the best: three runs, or one gap of 9 bases.
        assert_eq!(Bounds::of(280, 150, Scores::default()), Some(Bounds { run: 50, deleted: 9 }));
        assert_eq!(Bounds::of(301, 150, Scores::default()), None);
        assert_eq!(Bounds::of(280, 150, Scores { gap_extend: 0, ..Scores::default() }), None);
        assert_eq!(Bounds::of(280, 150, Scores { gap_open: 1, ..Scores::default() }), None);
    }
}
