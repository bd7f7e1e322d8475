//! Which adapters were cut off, and how often (FilterResult::addAdapterTrimmed and outputAdaptersJson of fastp).

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::AddAssign;

/// No further adapter is counted where there are more than so many.
const MOST: usize = 20_000;
/// None of little change from letter to letter where there are more than so many.
const MOST_WITH_SIMPLE: usize = 5_000;

/// Adapters that were cut off, with their letters, as far as there is room: that bounds the memory.
///
/// Which adapters have room depends on those before. Counts to which all reads are added in the order of the input are
/// those of `fastp -w 1`. Sums of parts are the same, in any order, as long as there are at most 5,000 adapters. Where
/// there are more, sums depend on the parts and their order, if only for rare adapters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(Vec<u8>, u64)>", into = "Vec<(Vec<u8>, u64)>")]
pub struct AdapterCounts {
    /// The number of each, in the order in which they came.
    numbers: HashMap<Vec<u8>, usize>,
    counts: Vec<u64>,
}

impl AdapterCounts {
    /// Counts an adapter. Says whether there was room.
    pub(crate) fn add(&mut self, letters: &[u8]) -> bool {
        self.add_times(letters, 1)
    }

    fn add_times(&mut self, letters: &[u8], times: u64) -> bool {
        if letters.is_empty() {
            return true;
        }
        if let Some(count) = self.numbers.get(letters).and_then(|&number| self.counts.get_mut(number)) {
            *count += times;
            return true;
        }
        let known = self.counts.len();
        if known > MOST || known > MOST_WITH_SIMPLE && is_simple(letters) {
            return false;
        }
        self.numbers.insert(letters.to_vec(), known);
        self.counts.push(times);
        true
    }

    /// The adapters in the order in which they came.
    fn in_order(&self) -> Vec<(&[u8], u64)> {
        let mut adapters = vec![(&[][..], 0); self.counts.len()];
        for (letters, &number) in &self.numbers {
            adapters[number] = (letters, self.counts[number]);
        }
        adapters
    }

    /// The adapters that are at least one of 100, short ones first, and how many others were cut off.
    pub fn frequent(&self) -> (Vec<(&[u8], u64)>, u64) {
        let total: u64 = self.counts.iter().sum();
        let mut frequent = self.in_order();
        frequent.retain(|(_, count)| *count as f64 / total as f64 >= 0.01);
        frequent.sort_by_key(|(letters, _)| (letters.len(), *letters));
        let told: u64 = frequent.iter().map(|(_, count)| count).sum();
        (frequent, total - told)
    }
}

/// Whether fewer than half of the letters differ from the next one.
fn is_simple(letters: &[u8]) -> bool {
    let changes = letters.iter().zip(letters.iter().skip(1)).filter(|(one, next)| one != next).count();
    changes < letters.len() / 2
}

impl AddAssign<&AdapterCounts> for AdapterCounts {
    fn add_assign(&mut self, other: &AdapterCounts) {
        for (letters, count) in other.in_order() {
            self.add_times(letters, count);
        }
    }
}

impl From<Vec<(Vec<u8>, u64)>> for AdapterCounts {
    fn from(adapters: Vec<(Vec<u8>, u64)>) -> Self {
        let mut counts = AdapterCounts::default();
        for (letters, count) in adapters {
            counts.add_times(&letters, count);
        }
        counts
    }
}

impl From<AdapterCounts> for Vec<(Vec<u8>, u64)> {
    fn from(counts: AdapterCounts) -> Self {
        counts.in_order().into_iter().map(|(letters, count)| (letters.to_vec(), count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adapters of all lengths, some of them simple, with one in ten repeated.
    fn adapters() -> Vec<Vec<u8>> {
        let mut random = fastrand::Rng::with_seed(7);
        (0..60_000)
            .map(|number: u32| {
                let kind = if random.u8(..10) == 0 { random.u32(..=number) } else { number };
                let mut of_kind = fastrand::Rng::with_seed(u64::from(kind));
                let letters = if of_kind.bool() { &b"AAAAC"[..] } else { &b"ACGT"[..] };
                (0..of_kind.usize(1..40)).map(|_| letters[of_kind.usize(..letters.len())]).collect()
            })
            .collect()
    }

    #[test]
    fn small_parts_in_order_add_up_to_the_whole() {
        let adapters = adapters();
        let count = |adapters: &[Vec<u8>]| {
            let mut counts = AdapterCounts::default();
            for letters in adapters {
                counts.add(letters);
            }
            counts
        };
        let whole = count(&adapters);
        assert_eq!(whole.counts.len(), MOST + 1);
        for length in [1000, 3777, 5000] {
            let parts: Vec<AdapterCounts> = adapters.chunks(length).map(count).collect();
            let mut sum = AdapterCounts::default();
            parts.iter().for_each(|part| sum += part);
            assert!(sum == whole, "{length}");
        }
        let stored = serde_json::to_string(&whole).unwrap();
        assert!(serde_json::from_str::<AdapterCounts>(&stored).unwrap() == whole);
    }

    #[test]
    fn frequent_adapters_are_told_short_ones_first() {
        let mut counts = AdapterCounts::default();
        for (letters, times) in [(&b"ACG"[..], 300), (b"T", 100), (b"AC", 100), (b"GGG", 4), (b"", 50)] {
            (0..times).for_each(|_| assert!(counts.add(letters)));
        }
        assert_eq!(counts.frequent(), (vec![(&b"T"[..], 100), (b"AC", 100), (b"ACG", 300)], 4));
        assert_eq!(AdapterCounts::default().frequent(), (Vec::new(), 0));
    }
}
