//! What ranks give each other, cut so that no call of MPI gets a number that has more than 31 bits: neither the bytes
//! of a rank, nor where they begin in what all give.

use std::ops::Range;

/// For each call, which of its bytes each rank gives; no call if nobody gives any. `lengths` are what they have, and
/// `most` what they give together in a call: at least a byte each.
pub(super) fn calls(lengths: &[usize], most: usize) -> impl Iterator<Item = Vec<Range<usize>>> {
    let each = (most / lengths.len().max(1)).max(1);
    let longest = lengths.iter().copied().max().unwrap_or(0);
    (0..longest.div_ceil(each)).map(move |call| {
        let cut = |length: usize, piece: usize| length.min(piece.saturating_mul(each));
        lengths.iter().map(|&length| cut(length, call)..cut(length, call + 1)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::library::MOST_AT_ONCE;

    #[test]
    fn no_count_and_no_start_has_more_than_31_bits() {
        for lengths in [vec![3 << 30; 4], vec![(1 << 31) - 1, 1, 0], vec![1 << 33, 0], vec![0, 5], vec![7; 1000]] {
            let mut given = vec![0; lengths.len()];
            for call in calls(&lengths, MOST_AT_ONCE) {
                assert!(call.iter().map(Range::len).sum::<usize>() <= i32::MAX as usize, "{lengths:?}");
                for (given, range) in given.iter_mut().zip(call) {
                    assert_eq!(*given, range.start);
                    *given = range.end;
                }
            }
            assert_eq!(given, lengths);
        }
        assert_eq!(calls(&[0, 0], MOST_AT_ONCE).count(), 0);
        assert_eq!(calls(&[5, 7], MOST_AT_ONCE).count(), 1, "what is usual goes in one");
    }
}
