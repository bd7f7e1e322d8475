//! The bins of the index scheme (SAMv1, section 5.3; CSIv1, reg2bin): each level has bins of an eighth of the length of
//! those above it.

/// Bits of a position within the smallest bin.
pub(crate) const MIN_SHIFT: u32 = 14;
/// Levels of bins above the smallest in BAI, and so of the bin that a record of BAM names.
pub(crate) const BAI_DEPTH: u32 = 5;

/// The smallest bin that holds `start..end`, of so many levels above the smallest. A record without a position begins
/// at -1.
#[inline]
pub(crate) fn bin(start: i64, end: i64, depth: u32) -> u32 {
    let (last, mut shift, mut first) = (end - 1, MIN_SHIFT, first_bin(depth));
    while first > 0 {
        if start >> shift == last >> shift {
            return first.wrapping_add_signed((start >> shift) as i32);
        }
        // Of the level above.
        (shift, first) = (shift + 3, first >> 3);
    }
    0
}

/// The number of the first bin of a level; 0 is that of the bin for all.
pub(crate) fn first_bin(level: u32) -> u32 {
    ((1u64 << (3 * level)) / 7) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_those_of_the_specification() {
        assert_eq!((0..=6).map(first_bin).collect::<Vec<_>>(), [0, 1, 9, 73, 585, 4681, 37449]);
        let bin = |start, end| bin(start, end, BAI_DEPTH);
        assert_eq!(bin(-1, 0), 4680);
        assert_eq!(bin(0, 1), 4681);
        assert_eq!(bin(0, 1 << 14), 4681);
        assert_eq!(bin(0, (1 << 14) + 1), 585);
        assert_eq!(bin(0, 1 << 29), 0);
        assert_eq!(bin((1 << 30) - 1, (1 << 30) + 1), 0, "where BAI reaches no more");
        assert_eq!(bin(1 << 26, (1 << 26) + 5), 4681 + (1 << 12));
    }

    /// The C code of SAMv1, section 5.3.
    #[test]
    fn bins_are_those_of_the_naive_twin() {
        let naive = |start: i64, end: i64| {
            let last = end - 1;
            match () {
                () if start >> 14 == last >> 14 => ((1 << 15) - 1) / 7 + (start >> 14),
                () if start >> 17 == last >> 17 => ((1 << 12) - 1) / 7 + (start >> 17),
                () if start >> 20 == last >> 20 => ((1 << 9) - 1) / 7 + (start >> 20),
                () if start >> 23 == last >> 23 => ((1 << 6) - 1) / 7 + (start >> 23),
                () if start >> 26 == last >> 26 => ((1 << 3) - 1) / 7 + (start >> 26),
                () => 0,
            }
        };
        let edges = (0..29).flat_map(|bit| [(1i64 << bit) - 1, 1 << bit, (1 << bit) + 1, 5 << bit]);
        let edges: Vec<i64> = edges.chain([-1, 0]).filter(|edge| *edge < 1 << 29).collect();
        for &start in &edges {
            for end in edges.iter().filter(|end| **end > start) {
                assert_eq!(i64::from(bin(start, *end, BAI_DEPTH)), naive(start, *end), "{start}..{end}");
            }
        }
    }
}
