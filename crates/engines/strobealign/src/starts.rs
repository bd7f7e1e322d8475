//! Where the seeds of each bucket start in their table: in 32 bits each, however many seeds there are.

use std::ops::Range;

/// `b` starts at the first seed of bucket `b`, or of those behind it if it is empty; one more is at the end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BucketStarts {
    /// The low 32 bits of each start.
    low: Vec<u32>,
    /// The first bucket that starts at 2^32 or behind that, at 2^33, and so on. Of genomes below some 20 Gb there is
    /// none.
    carries: Vec<usize>,
}

impl BucketStarts {
    /// The starts with these low bits; `carries[i]` is the first bucket that starts at `(i + 1) << 32` or behind that.
    pub(crate) fn new(low: Vec<u32>, carries: Vec<usize>) -> Self {
        BucketStarts { low, carries }
    }

    pub(crate) fn low(&self) -> &[u32] {
        &self.low
    }

    pub(crate) fn carries(&self) -> &[usize] {
        &self.carries
    }

    /// The seeds of this bucket; none of one that there is not.
    #[inline(always)]
    pub(crate) fn bucket(&self, bucket: usize) -> Range<usize> {
        match self.low.get(bucket..) {
            Some(&[start, end, ..]) => self.whole(bucket, start)..self.whole(bucket + 1, end),
            _ => 0..0,
        }
    }

    /// Where the last bucket ends.
    pub(crate) fn end(&self) -> Option<usize> {
        self.low.last().map(|&low| self.whole(self.low.len() - 1, low))
    }

    #[inline(always)]
    fn whole(&self, bucket: usize, low: u32) -> usize {
        let carried = self.carries.iter().take_while(|&&first| first <= bucket).count();
        carried << u32::BITS | low as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_beyond_32_bits_are_whole() {
        let starts = [0, 5, 5, (1 << 32) - 1, 1 << 32, (1 << 32) + 7, (3 << 32) + 1, (3 << 32) + 1, usize::MAX >> 29];
        let low = starts.iter().map(|&start| start as u32).collect();
        let carry = |i: usize| starts.iter().position(|&start| start >= i << 32);
        let made = BucketStarts::new(low, (1..).map_while(carry).collect());
        for (bucket, ends) in starts.windows(2).enumerate() {
            assert_eq!(made.bucket(bucket), ends[0]..ends[1]);
        }
        assert_eq!(made.end(), starts.last().copied());
        assert!(made.bucket(starts.len() - 1).is_empty() && made.bucket(usize::MAX).is_empty());
    }
}
