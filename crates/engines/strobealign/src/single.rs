//! The alignments of a single read: strobealign's `align_single_end_read`.

use crate::chains::Chains;
use crate::extension::{Extender, PlacedRead};
use crate::query::ReadQuery;
use crate::records::{AlignmentRank, Details, Recorder, ShownRead};
use fastrand::Rng;
use std::cmp::Reverse;
use strobealign::modes::align::MappingParameters;
use zerohop_model::alignment::Alignments;

/// Aligns a read along its chains and adds what is found.
pub(crate) fn align(
    query: &mut ReadQuery,
    chains: &mut Chains,
    extender: &mut Extender<'_>,
    mapping: &MappingParameters,
    rng: &mut Rng,
    recorder: &mut Recorder,
    out: &mut Alignments,
) {
    let mut details = Details { chains: chains.chains.len(), ..Details::default() };
    let best = find(query, chains, extender, mapping, rng, &mut details);
    let Some(FoundAlignments { mut all, best, second_score }) = best else {
        return recorder.single(ShownRead { placed: None, mapq: 0, details }, AlignmentRank::Primary, out);
    };
    let score = all[best].score;
    let mapq = (60 * (score - second_score)).div_ceil(score.max(1)) as u8;
    recorder.single(ShownRead { placed: Some(&all[best]), mapq, details }, AlignmentRank::Primary, out);
    if mapping.max_secondary > 0 {
        all.swap_remove(best);
        all.sort_by_key(|placed| Reverse(placed.score));
        let least = mapping.secondary_threshold * score as f32;
        let good = all.iter().take(mapping.max_secondary).take_while(|placed| placed.score as f32 >= least);
        for placed in good {
            recorder.single(ShownRead { placed: Some(placed), mapq, details }, AlignmentRank::Secondary, out);
        }
    }
}

struct FoundAlignments {
    /// Alignments as they were found.
    all: Vec<PlacedRead>,
    best: usize,
    /// The score of the second best.
    second_score: u32,
}

fn find(
    query: &mut ReadQuery,
    chains: &mut Chains,
    extender: &mut Extender<'_>,
    mapping: &MappingParameters,
    rng: &mut Rng,
    details: &mut Details,
) -> Option<FoundAlignments> {
    let best_chain = chains.chains.first()?.score;
    let (mut all, mut best): (Vec<PlacedRead>, Option<usize>) = (Vec::new(), None);
    let (mut best_score, mut second_score, mut with_best_score) = (0, 0, 0);
    let mut best_differences = usize::MAX;
    for position in 0..chains.chains.len().min(mapping.max_tries) {
        let part = chains.chains[position].score / best_chain;
        if position > 1 && best_differences == 0 || part < mapping.dropoff_threshold {
            break;
        }
        let Some(placed) = extender.extend(query, chains, position, true) else { continue };
        details.count(&placed);
        if placed.score >= best_score {
            second_score = best_score;
            with_best_score = if placed.score > best_score { 1 } else { with_best_score + 1 };
            // Of equals, each is taken with the same chance.
            if placed.score > best_score || rng.u32(..with_best_score) == 0 {
                best_score = placed.score;
                best = Some(all.len());
                if mapping.max_secondary == 0 {
                    best_differences = placed.edit_distance + placed.clips[0] + placed.clips[1];
                }
            }
        } else if placed.score > second_score {
            second_score = placed.score;
        }
        all.push(placed);
    }
    best.map(|best| FoundAlignments { all, best, second_score })
}
