//! What bases of records are good for, once it is known which of them count at their places.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// What a base is good for: nothing (0), counting (its quality), or counting but as coverage (its quality and this).
pub(super) const NO_COVERAGE: u8 = 0x80;
/// Qualities that are counted: larger ones are none.
pub(super) const QUALITIES: usize = 127;

/// Whether a base is coverage.
#[inline]
pub(super) fn covers(worth: u8) -> bool {
    worth.wrapping_sub(1) < NO_COVERAGE - 1
}

/// Bases side by side that are counted apart: a CPU waits where the same number is counted up twice in a row.
const SIDE_BY_SIDE: usize = 4;

/// Bases that count, by their quality. No base has a quality of 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Qualities(Vec<[u64; SIDE_BY_SIDE]>);

impl Qualities {
    /// Adds bases that are good for this.
    #[inline]
    pub(super) fn add(&mut self, worth: &[u8]) {
        if self.0.is_empty() {
            self.0.resize(usize::from(NO_COVERAGE), [0; SIDE_BY_SIDE]);
        }
        let Some(counts) = self.0.first_chunk_mut::<{ NO_COVERAGE as usize }>() else { return };
        let (many, rest) = worth.as_chunks::<SIDE_BY_SIDE>();
        let mut count = |at: usize, worth: u8| counts[usize::from(worth % NO_COVERAGE)][at] += 1;
        for some in many {
            some.iter().enumerate().for_each(|(at, worth)| count(at, *worth));
        }
        rest.iter().enumerate().for_each(|(at, worth)| count(at, *worth));
    }

    /// How many bases have each quality.
    pub(super) fn counts(&self) -> Vec<u64> {
        let mut counts: Vec<u64> = self.0.iter().map(|counts| counts.iter().sum()).collect();
        counts.resize(QUALITIES, 0);
        // Bases that are good for nothing.
        counts[0] = 0;
        counts
    }
}

impl AddAssign<&Qualities> for Qualities {
    fn add_assign(&mut self, more: &Qualities) {
        self.0.resize(self.0.len().max(more.0.len()), [0; SIDE_BY_SIDE]);
        let counts = self.0.as_flattened_mut().iter_mut().zip(more.0.as_flattened());
        counts.for_each(|(all, more)| *all += more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// No base is good for a quality that is none.
    fn worth() -> impl Strategy<Value = u8> {
        prop_oneof![0..QUALITIES as u8, NO_COVERAGE..NO_COVERAGE + QUALITIES as u8]
    }

    proptest! {
        #[test]
        fn qualities_are_those_of_all_bases(
            lists in prop::collection::vec(prop::collection::vec(worth(), 0..40), 0..5),
        ) {
            let (mut one, mut sum, mut naive) = (Qualities::default(), Qualities::default(), vec![0; QUALITIES]);
            for list in &lists {
                one.add(list);
                let mut of_list = Qualities::default();
                of_list.add(list);
                sum += &of_list;
                let counted = list.iter().filter(|worth| **worth % NO_COVERAGE > 0);
                counted.for_each(|worth| naive[usize::from(worth & !NO_COVERAGE)] += 1);
            }
            prop_assert_eq!(one.counts(), naive);
            prop_assert_eq!(sum.counts(), one.counts());
        }
    }

    #[test]
    fn only_good_bases_are_coverage() {
        let covering: Vec<u8> = (0..=u8::MAX).filter(|worth| covers(*worth)).collect();
        assert_eq!(covering, (1..NO_COVERAGE).collect::<Vec<_>>());
    }
}
