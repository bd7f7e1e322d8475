//! The alignments of a pair: strobealign's `align_paired_end_read`, with its scores and its random choices.

use crate::chains::{Chain, Chains};
use crate::extension::{Extender, PlacedRead};
use crate::query::ReadQuery;
use crate::records::{AlignmentRank, Details, Recorder, ShownRead};
use fastrand::Rng;
use std::cmp::Ordering;
use strobealign::insertsize::InsertSizeDistribution;
use strobealign::math::normal_pdf;
use strobealign::modes::align::MappingParameters;
use zerohop_model::alignment::Alignments;

/// Chains of a read that are paired with those of its mate, at most.
const MOST_CHAINS: usize = 1000;
/// Pairs that are sure, from which insert sizes are learnt.
const LEARNT_PAIRS: usize = 400;
/// What mates lose that do not lie as a pair does: as much as if their distance were more than five standard deviations
/// off.
const APART: f64 = 20.0;

/// The two reads of a pair, with their chains.
pub(crate) struct Pair<'p> {
    pub(crate) queries: &'p mut [ReadQuery; 2],
    pub(crate) chains: [&'p mut Chains; 2],
}

/// Two alignments, by their positions among all that were found, and how good they are together.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scored {
    score: f64,
    placed: [Option<usize>; 2],
}

/// What is known of insert sizes, in bases.
#[derive(Debug, Clone, Copy)]
struct Inserts {
    mu: f32,
    sigma: f32,
}

/// Aligns a pair along its chains and adds what is found.
pub(crate) fn align(
    pair: Pair<'_>,
    extender: &mut Extender<'_>,
    mapping: &MappingParameters,
    insert_sizes: &mut InsertSizeDistribution,
    rng: &mut Rng,
    recorder: &mut Recorder,
    out: &mut Alignments,
) {
    let inserts = Inserts { mu: insert_sizes.mu, sigma: insert_sizes.sigma };
    let details = pair.chains.each_ref().map(|chains| Details { chains: chains.chains.len(), ..Details::default() });
    let mut aligner = PairAligner { pair, extender, mapping, inserts, all: Vec::new(), details };
    if let Some(placed) = aligner.as_unique_pair() {
        let status = is_proper(&placed[0], &placed[1], inserts);
        let differences = placed[0].edit_distance + placed[1].edit_distance;
        if status && insert_sizes.sample_size < LEARNT_PAIRS && differences < 3 {
            insert_sizes.update(placed[0].start.abs_diff(placed[1].start));
        }
        let mapqs = aligner.mapqs_of_chains();
        let show = |i: usize| ShownRead {
            placed: Some(&placed[i]),
            mapq: mapqs[i],
            details: Details { best: 1, ..aligner.details[i] },
        };
        return recorder.pair([show(0), show(1)], status, AlignmentRank::Primary, out);
    }
    let mut scored = aligner.search();
    scored.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
    scored.dedup_by(|later, kept| (0..2).all(|i| aligner.is_same_place(later.placed[i], kept.placed[i])));
    let best = scored.iter().take_while(|other| other.score == scored[0].score).count();
    if best > 1 {
        scored.swap(0, rng.usize(..best));
    }
    aligner.details.iter_mut().for_each(|details| details.best = best);
    let mapqs = aligner.mapqs(&scored);
    aligner.record(&scored, mapqs, recorder, out);
}

struct PairAligner<'p, 'e> {
    pair: Pair<'p>,
    extender: &'p mut Extender<'e>,
    mapping: &'p MappingParameters,
    inserts: Inserts,
    /// All alignments that were found.
    all: Vec<PlacedRead>,
    details: [Details; 2],
}

impl PairAligner<'_, '_> {
    /// The usual case: each read has one chain that is clearly the best, and they lie as a pair does.
    fn as_unique_pair(&mut self) -> Option<[PlacedRead; 2]> {
        let [first, second] = self.pair.chains.each_ref().map(|chains| &chains.chains[..]);
        let dropoff = self.mapping.dropoff_threshold;
        let is_clear = |chains: &[Chain]| match chains {
            [best, next, ..] => next.score / best.score < dropoff,
            _ => 0.0 < dropoff,
        };
        let is_unique = is_clear(first)
            && is_clear(second)
            && is_proper_pair_of_chains(first.first()?, second.first()?, self.inserts);
        if !is_unique {
            return None;
        }
        let [first, second] = [0, 1].map(|i| {
            let (query, chains) = (&mut self.pair.queries[i], &mut *self.pair.chains[i]);
            self.extender.extend(query, chains, 0, false)
        });
        let placed = [first?, second?];
        self.details.iter_mut().zip(&placed).for_each(|(details, placed)| details.count(placed));
        Some(placed)
    }

    /// All pairs of alignments that are worth while, with their scores.
    fn search(&mut self) -> Vec<Scored> {
        match self.pair.chains.each_ref().map(|chains| chains.chains.is_empty()) {
            [true, true] => Vec::new(),
            [false, true] => self.search_with_one(0),
            [true, false] => self.search_with_one(1),
            [false, false] => self.search_with_both(),
        }
    }

    /// Aligns read `i` along the chain of this position.
    fn extend(&mut self, i: usize, position: usize, counts: bool) -> Option<usize> {
        let (query, chains) = (&mut self.pair.queries[i], &mut *self.pair.chains[i]);
        let placed = self.extender.extend(query, chains, position, counts);
        self.keep(placed)
    }

    /// Aligns read `i` near the chain of its mate of this position.
    fn rescue(&mut self, i: usize, position: usize) -> Option<usize> {
        let (query, chain) = (&mut self.pair.queries[i], &self.pair.chains[1 - i].chains[position]);
        let placed = self.extender.rescue(query, chain, self.inserts.mu, self.inserts.sigma);
        self.keep(placed)
    }

    fn keep(&mut self, placed: Option<PlacedRead>) -> Option<usize> {
        self.all.push(placed?);
        Some(self.all.len() - 1)
    }

    /// Of two reads that only `i` has chains of: it is aligned along them, and its mate near it.
    fn search_with_one(&mut self, i: usize) -> Vec<Scored> {
        let best = self.pair.chains[i].chains[0].score;
        let mut found = Vec::new();
        for position in 0..self.pair.chains[i].chains.len().min(self.mapping.max_tries) {
            if self.pair.chains[i].chains[position].score / best < self.mapping.dropoff_threshold {
                break;
            }
            if let Some(own) = self.extend(i, position, true) {
                self.details[i].count(&self.all[own]);
                let mate = self.rescue(1 - i, position);
                self.details[1 - i].rescued += usize::from(mate.is_some());
                found.push((own, mate));
            }
        }
        let mut scored = Vec::new();
        for &(own, _) in &found {
            for &(_, mate) in &found {
                let score = self.score_of_rescued(&self.all[own], mate.map(|mate| &self.all[mate]));
                let placed = if i == 0 { [Some(own), mate] } else { [mate, Some(own)] };
                scored.push(Scored { score, placed });
            }
        }
        scored
    }

    fn score_of_rescued(&self, own: &PlacedRead, mate: Option<&PlacedRead>) -> f64 {
        let Inserts { mu, sigma } = self.inserts;
        let Some(mate) = mate else { return f64::from(own.score) - 10.0 };
        let (distance, score) = (own.start.abs_diff(mate.start) as f32, (own.score + mate.score) as f32);
        let is_near = own.is_reverse != mate.is_reverse && distance < mu + 4.0 * sigma;
        f64::from(if is_near { score + normal_pdf(distance, mu, sigma).ln() } else { score - 10.0 })
    }

    /// Of two reads that have chains: the best pairs of these are aligned, and the best alignment of each by itself.
    fn search_with_both(&mut self) -> Vec<Scored> {
        // By the number of a chain, its alignment if it was looked for.
        let mut known = self.pair.chains.each_ref().map(|chains| vec![None; chains.chains.len()]);
        let mut alone = [0, 1].map(|i| self.extend(i, 0, true));
        for i in 0..2 {
            known[i][self.pair.chains[i].chains[0].id] = Some(alone[i]);
            self.details[i].tried += 1;
            self.details[i].gapped += usize::from(alone[i].is_some_and(|at| self.all[at].gapped));
        }
        let pairs = {
            let [first, second] = self.pair.chains.each_ref();
            pairs_of_chains(&first.chains, &second.chains, self.inserts)
        };
        let mut scored = Vec::new();
        for pair in &pairs {
            if scored.len() >= self.mapping.max_tries || pair.score / pairs[0].score < self.mapping.dropoff_threshold {
                break;
            }
            let placed = [0, 1].map(|i| {
                let placed = self.align_one(i, pair.positions, &mut known[i]);
                let score = |at: Option<usize>| at.map_or(0, |at| self.all[at].score);
                if score(placed) > score(alone[i]) {
                    alone[i] = placed;
                }
                placed
            });
            if let [Some(first), Some(second)] = placed {
                let score = self.score_of_pair(&self.all[first], &self.all[second]);
                scored.push(Scored { score, placed });
            }
        }
        if let [Some(first), Some(second)] = alone {
            let score = f64::from(self.all[first].score) + f64::from(self.all[second].score) - APART;
            scored.push(Scored { score, placed: alone });
        }
        scored
    }

    /// Read `i` along its chain or, if it has none in this pair, near that of its mate.
    fn align_one(
        &mut self,
        i: usize,
        positions: [Option<usize>; 2],
        known: &mut [Option<Option<usize>>],
    ) -> Option<usize> {
        match (positions[i], positions[1 - i]) {
            (Some(position), _) => {
                let id = self.pair.chains[i].chains[position].id;
                *known[id].get_or_insert_with(|| {
                    let placed = self.extend(i, position, false);
                    self.details[i].tried += 1;
                    self.details[i].gapped += usize::from(placed.is_some_and(|at| self.all[at].gapped));
                    placed
                })
            }
            (None, Some(mate)) => {
                let placed = self.rescue(i, mate);
                self.details[i].rescued += usize::from(placed.is_some());
                self.details[i].tried += usize::from(placed.is_some());
                placed
            }
            (None, None) => None,
        }
    }

    fn score_of_pair(&self, first: &PlacedRead, second: &PlacedRead) -> f64 {
        let Inserts { mu, sigma } = self.inserts;
        let furthest = (mu + 10.0 * sigma) as usize;
        let faces = |left: &PlacedRead, right: &PlacedRead| {
            right.is_reverse
                && !left.is_reverse
                && right.start.checked_sub(left.start).is_some_and(|distance| distance < furthest)
        };
        let sum = f64::from(first.score) + f64::from(second.score);
        if faces(first, second) || faces(second, first) {
            let distance = first.start.abs_diff(second.start) as f32;
            sum + (-APART + 0.001).max(f64::from(normal_pdf(distance, mu, sigma).ln()))
        } else {
            sum - APART
        }
    }

    fn is_same_place(&self, one: Option<usize>, other: Option<usize>) -> bool {
        let place = |at: usize| (self.all[at].start, self.all[at].contig);
        one.map(place) == other.map(place)
    }

    fn mapqs_of_chains(&self) -> [u8; 2] {
        self.pair.chains.each_ref().map(|chains| mapq_of_chains(&chains.chains))
    }

    fn mapqs(&self, scored: &[Scored]) -> [u8; 2] {
        match scored {
            [only] if !self.is_proper(only) => self.mapqs_of_chains(),
            _ => [joint_mapq(scored); 2],
        }
    }

    fn is_proper(&self, scored: &Scored) -> bool {
        match scored.placed {
            [Some(first), Some(second)] => is_proper(&self.all[first], &self.all[second], self.inserts),
            _ => false,
        }
    }

    fn record(&self, scored: &[Scored], mapqs: [u8; 2], recorder: &mut Recorder, out: &mut Alignments) {
        let show = |placed: [Option<usize>; 2]| {
            [0, 1].map(|i| ShownRead {
                placed: placed[i].map(|at| &self.all[at]),
                mapq: mapqs[i],
                details: self.details[i],
            })
        };
        let Some((best, others)) = scored.split_first() else {
            return recorder.pair(show([None; 2]), false, AlignmentRank::Primary, out);
        };
        recorder.pair(show(best.placed), self.is_proper(best), AlignmentRank::Primary, out);
        // Scores can be negative.
        let most_below = (1.0 - f64::from(self.mapping.secondary_threshold)) * best.score.abs();
        let good = others.iter().take_while(|other| best.score - other.score <= most_below);
        for other in good.take(self.mapping.max_secondary) {
            recorder.pair(show(other.placed), self.is_proper(other), AlignmentRank::Secondary, out);
        }
    }
}

/// Positions of chains of both reads, or of one alone, and their score.
struct PairOfChains {
    score: f32,
    positions: [Option<usize>; 2],
}

/// Pairs of chains that lie as mates do, and chains with many anchors that are in no such pair; the best first.
fn pairs_of_chains(first: &[Chain], second: &[Chain], inserts: Inserts) -> Vec<PairOfChains> {
    let mut pairs = Vec::new();
    let mut is_paired = [vec![false; first.len()], vec![false; second.len()]];
    let mut most_anchors = 0;
    for (i, one) in first.iter().enumerate().take(MOST_CHAINS) {
        for (j, other) in second.iter().enumerate().take(MOST_CHAINS) {
            let anchors = one.anchor_count + other.anchor_count;
            if anchors < most_anchors / 2 {
                break;
            }
            if is_proper_pair_of_chains(one, other, inserts) {
                pairs.push(PairOfChains { score: one.score + other.score, positions: [Some(i), Some(j)] });
                (is_paired[0][i], is_paired[1][j]) = (true, true);
                most_anchors = most_anchors.max(anchors);
            }
        }
    }
    for (read, chains) in [first, second].into_iter().enumerate() {
        let most = if most_anchors > 0 { most_anchors } else { chains[0].anchor_count };
        let good = chains.iter().enumerate().take_while(|(_, chain)| chain.anchor_count >= most / 2);
        for (i, chain) in good.filter(|&(i, _)| !is_paired[read][i]) {
            let mut positions = [None; 2];
            positions[read] = Some(i);
            pairs.push(PairOfChains { score: chain.score, positions });
        }
    }
    pairs.sort_by(|a, b| b.score.total_cmp(&a.score));
    pairs
}

/// Whether two chains face each other on one contig, about as far apart as mates are.
fn is_proper_pair_of_chains(first: &Chain, second: &Chain, Inserts { mu, sigma }: Inserts) -> bool {
    let (start, mate_start) = (first.projected_start(), second.projected_start());
    let is_near = |left: usize, right: usize| {
        right.checked_sub(left).is_some_and(|distance| (distance as f32) < mu + 10.0 * sigma)
    };
    first.contig_start == second.contig_start
        && match (first.is_reverse, second.is_reverse) {
            (false, true) => is_near(start, mate_start),
            (true, false) => is_near(mate_start, start),
            _ => false,
        }
}

/// Whether two alignments face each other on one contig, about as far apart as mates are.
fn is_proper(first: &PlacedRead, second: &PlacedRead, Inserts { mu, sigma }: Inserts) -> bool {
    let faces = match (first.is_reverse, second.is_reverse) {
        (false, true) => first.start <= second.start,
        (true, false) => second.start <= first.start,
        _ => false,
    };
    let distance = first.start.abs_diff(second.start);
    first.contig == second.contig && faces && distance <= (mu + sigma * 6.0) as usize
}

/// How sure the place of a read with these chains is, the best first (strobealign's `mapping_quality`).
fn mapq_of_chains(chains: &[Chain]) -> u8 {
    let [best, second, ..] = chains else { return 60 };
    let anchors = best.anchor_count.min(10) as f32 / 10.0;
    let quality = 40.0 * (1.0 - second.score / best.score) * anchors * best.score.ln();
    quality.min(60.0) as u8
}

/// How sure the places of a pair are (strobealign's `alignment_quality`).
fn joint_mapq(scored: &[Scored]) -> u8 {
    let [best, second, ..] = scored else { return 60 };
    match (best.score as f32, second.score as f32) {
        (best, second) if best > 0.0 && second > 0.0 => (best - second).min(60.0) as u8,
        (best, _) if best > 0.0 => 60,
        _ => 1,
    }
}
