//! Sizes, as the lengths of reads: most are small, and of those that are large few are alike.

use crate::counts::{add_all, count_at};
use crate::cycles::MOST_CYCLES;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// How often each size was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    small: Vec<u64>,
    /// From [`MOST_CYCLES`] on.
    large: BTreeMap<usize, u64>,
}

impl Sizes {
    /// Counts one of this size.
    pub(crate) fn count(&mut self, size: usize) {
        match size < MOST_CYCLES {
            true => count_at(&mut self.small, size),
            false => *self.large.entry(size).or_default() += 1,
        }
    }

    /// How often this size was counted.
    pub(crate) fn get(&self, size: usize) -> u64 {
        match size < MOST_CYCLES {
            true => self.small.get(size).copied().unwrap_or(0),
            false => self.large.get(&size).copied().unwrap_or(0),
        }
    }

    /// All sizes that were counted, from the smallest to the largest, and how often.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let small = self.small.iter().copied().enumerate().filter(|(_, count)| *count > 0);
        small.chain(self.large.iter().map(|(size, count)| (*size, *count)))
    }
}

impl AddAssign<&Sizes> for Sizes {
    fn add_assign(&mut self, more: &Sizes) {
        add_all(&mut self.small, &more.small);
        more.large.iter().for_each(|(size, count)| *self.large.entry(*size).or_default() += count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_their_order_and_add_up() {
        let of = |sizes: &[usize]| {
            let mut all = Sizes::default();
            sizes.iter().for_each(|size| all.count(*size));
            all
        };
        let mut all = of(&[3, MOST_CYCLES + 9, 3]);
        all += &of(&[MOST_CYCLES, MOST_CYCLES + 9, MOST_CYCLES - 1]);
        let wanted = [(3, 2), (MOST_CYCLES - 1, 1), (MOST_CYCLES, 1), (MOST_CYCLES + 9, 2)];
        assert!(all.counts().eq(wanted));
        assert_eq!([3, 4, MOST_CYCLES, MOST_CYCLES + 1].map(|size| all.get(size)), [2, 0, 1, 0]);
    }
}
