//! Reads by their lengths: most are short, and of those that are long few are alike.

use crate::counts::{add_all, count_at};
use crate::cycles::MOST_CYCLES;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// How many reads have each length.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lengths {
    short: Vec<u64>,
    /// From [`MOST_CYCLES`] on.
    long: BTreeMap<usize, u64>,
}

impl Lengths {
    /// Counts a read of this length.
    pub(super) fn count(&mut self, length: usize) {
        match length < MOST_CYCLES {
            true => count_at(&mut self.short, length),
            false => *self.long.entry(length).or_default() += 1,
        }
    }

    /// All lengths that a read has, from the shortest to the longest, and how many have it.
    pub(super) fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let short = self.short.iter().copied().enumerate().filter(|(_, count)| *count > 0);
        short.chain(self.long.iter().map(|(length, count)| (*length, *count)))
    }
}

impl AddAssign<&Lengths> for Lengths {
    fn add_assign(&mut self, more: &Lengths) {
        add_all(&mut self.short, &more.short);
        more.long.iter().for_each(|(length, count)| *self.long.entry(*length).or_default() += count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_told_in_their_order_and_add_up() {
        let of = |lengths: &[usize]| {
            let mut all = Lengths::default();
            lengths.iter().for_each(|length| all.count(*length));
            all
        };
        let mut all = of(&[3, MOST_CYCLES + 9, 3]);
        all += &of(&[MOST_CYCLES, MOST_CYCLES + 9, MOST_CYCLES - 1]);
        let wanted = [(3, 2), (MOST_CYCLES - 1, 1), (MOST_CYCLES, 1), (MOST_CYCLES + 9, 2)];
        assert!(all.counts().eq(wanted));
    }
}
