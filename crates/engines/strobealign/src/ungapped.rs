//! The best alignment of a read without gaps.

use strobealign::aligner::Scores;

/// The stretch of a read with the best score, and that score, if the read differs from the reference at these positions
/// and nothing is inserted or deleted. Each end of the read that is in it adds a bonus. (strobealign's
/// `highest_scoring_segment`.)
pub(crate) fn best_segment(mismatches: &[usize], length: usize, scores: Scores) -> (usize, usize, u32) {
    let Scores { match_, mismatch, end_bonus, .. } = scores;
    let (mut start, mut score) = (0, end_bonus as i32);
    let mut best = (0, 0, 0);
    let mut from = 0;
    for &at in mismatches.iter().chain([&length]) {
        if at > from {
            score += i32::from(match_) * (at - from) as i32;
            if score > best.2 {
                // If matches add nothing, the first one of the run has what all have.
                best = (start, if match_ == 0 { from + 1 } else { at }, score);
            }
        }
        if at < length {
            score -= i32::from(mismatch);
            if score < 0 {
                (start, score) = (at + 1, 0);
            }
            if score > best.2 {
                best = (start, at + 1, score);
            }
        }
        from = at + 1;
    }
    score += end_bonus as i32;
    if score > best.2 {
        best = (start, length, score);
    }
    (best.0, best.1, best.2 as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use strobealign::aligner::hamming_align;

    proptest! {
        #[test]
        fn stretches_are_those_of_strobealign(
            letters in "[AC]{0,60}",
            is_mismatch in proptest::collection::vec(prop::bool::weighted(0.2), 60),
            match_ in 0u8..4,
            mismatch in 0u8..9,
            end_bonus in 0u32..12,
        ) {
            let query = letters.as_bytes();
            let changed = |(i, &letter): (usize, &u8)| if is_mismatch[i] { b'G' } else { letter };
            let reference: Vec<u8> = query.iter().enumerate().map(changed).collect();
            let mismatches: Vec<usize> = (0..query.len()).filter(|&i| is_mismatch[i]).collect();
            let scores = Scores { match_, mismatch, end_bonus, ..Scores::default() };
            let theirs = hamming_align(query, &reference, match_, mismatch, end_bonus).unwrap();
            let ours = best_segment(&mismatches, query.len(), scores);
            prop_assert_eq!(ours, (theirs.query_start, theirs.query_end, theirs.score));
        }
    }
}
