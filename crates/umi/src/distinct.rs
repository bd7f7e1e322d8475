//! The distinct UMIs of one place.

/// An empty slot of the table.
const NONE: u64 = u64::MAX;
/// Slots of the table at first.
const SLOTS: usize = 16;

/// A table of keys, each with a number, in the order in which they come first, and with a count.
///
/// The hash of a key is the sum of a hash for each of its letters and their positions. So that of a key with another
/// letter at one position is known from the two letters ([`letter_hash`]).
#[derive(Debug, Default)]
pub(crate) struct Distinct {
    letters: Vec<u8>,
    /// Where each key ends in `letters`.
    ends: Vec<usize>,
    hashes: Vec<u64>,
    counts: Vec<u32>,
    /// Numbers of keys, each at its hash or behind it, below the upper half of the hash. At least half are empty.
    slots: Vec<u64>,
}

/// The part of a letter in the hash of a key.
pub(crate) fn letter_hash(position: usize, letter: u8) -> u64 {
    // splitmix64 (Steele, Lea, Flood 2014), the mixing step.
    let mut bits = ((position as u64) << 8 | u64::from(letter)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

impl Distinct {
    pub(crate) fn clear(&mut self) {
        self.letters.clear();
        self.ends.clear();
        self.hashes.clear();
        self.counts.clear();
        self.slots.clear();
        self.slots.resize(SLOTS, NONE);
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn key(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.letters[start..self.ends[number]]
    }

    pub(crate) fn hash(&self, number: u32) -> u64 {
        self.hashes[number as usize]
    }

    /// How many templates have this key.
    pub(crate) fn count(&self, number: u32) -> u32 {
        self.counts[number as usize]
    }

    /// Counts a template with this key, and says the number of the key.
    pub(crate) fn add(&mut self, key: &[u8]) -> u32 {
        let hash = key
            .iter()
            .enumerate()
            .fold(0u64, |hash, (position, letter)| hash.wrapping_add(letter_hash(position, *letter)));
        let known = self.with_hash(hash).find(|number| self.key(*number) == key);
        if let Some(number) = known {
            let count = &mut self.counts[number as usize];
            *count = count.saturating_add(1);
            return number;
        }
        let number = self.len() as u32;
        self.letters.extend_from_slice(key);
        self.ends.push(self.letters.len());
        self.hashes.push(hash);
        self.counts.push(1);
        if self.slots.len() < 2 * self.len() {
            self.grow();
        } else {
            place(&mut self.slots, hash, number);
        }
        number
    }

    /// The keys with this hash: as good as always one at most.
    pub(crate) fn with_hash(&self, hash: u64) -> impl Iterator<Item = u32> {
        let from = hash as usize & (self.slots.len() - 1);
        let slots = self.slots[from..].iter().chain(&self.slots[..from]).take_while(|slot| **slot != NONE);
        let numbers = slots.filter(move |slot| **slot >> 32 == hash >> 32).map(|slot| *slot as u32);
        numbers.filter(move |number| self.hash(*number) == hash)
    }

    fn grow(&mut self) {
        let slots = 2 * self.slots.len();
        self.slots.clear();
        self.slots.resize(slots, NONE);
        (0..).zip(&self.hashes).for_each(|(number, hash)| place(&mut self.slots, *hash, number));
    }
}

/// Puts a number into the first empty slot at its hash or behind it.
fn place(slots: &mut [u64], hash: u64, number: u32) {
    let mask = slots.len() - 1;
    let mut at = hash as usize & mask;
    while slots[at] != NONE {
        at = (at + 1) & mask;
    }
    slots[at] = hash >> 32 << 32 | u64::from(number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn keys_are_numbered_as_they_come() {
        let mut distinct = Distinct::default();
        for _ in 0..2 {
            distinct.clear();
            let mut wanted: HashMap<Vec<u8>, (u32, u32)> = HashMap::new();
            for step in 0..5000u64 {
                let key = (step * step % 1009).to_string().into_bytes();
                let next = wanted.len() as u32;
                let (number, count) = wanted.entry(key.clone()).or_insert((next, 0));
                *count += 1;
                assert_eq!(distinct.add(&key), *number);
            }
            assert_eq!(distinct.len(), wanted.len());
            for (key, (number, count)) in wanted {
                assert_eq!((distinct.key(number), distinct.count(number)), (&key[..], count));
            }
        }
    }

    #[test]
    fn hashes_follow_from_one_letter() {
        let mut distinct = Distinct::default();
        distinct.clear();
        let [one, other] = [b"ACGT", b"ACTT"].map(|key| distinct.add(key));
        let changed = distinct.hash(one).wrapping_sub(letter_hash(2, b'G')).wrapping_add(letter_hash(2, b'T'));
        assert_eq!(distinct.with_hash(changed).collect::<Vec<_>>(), [other]);
        assert_eq!(distinct.with_hash(changed.wrapping_add(1)).count(), 0);
    }
}
