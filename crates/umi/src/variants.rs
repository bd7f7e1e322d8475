//! All that a UMI can become by a few changed letters, looked up among many UMIs.

use crate::distinct::{Distinct, letter_hash};
use std::ops::Range;

/// Keys for each word of the filter, at most. Of the hashes that no key has, one in 100 passes it. For 500,000 keys it
/// has 1 MiB and stays in a core's cache, which matters more than that fewer pass.
const KEYS_PER_WORD: usize = 4;

/// A position at which the keys have several letters.
#[derive(Debug)]
struct Column {
    position: usize,
    letters: Vec<u8>,
    /// Where the steps of the first letter are.
    steps: usize,
}

/// The hashes of all keys within a few changed letters of one, without those that no key has.
///
/// Only letters are tried that some key has at the position. So all cost follows from the keys: each has as many
/// variants, and how many keys are alike does not matter. What it takes is linear in the keys, whatever they are.
#[derive(Debug)]
pub(crate) struct Variants {
    columns: Vec<Column>,
    /// For each letter of each column, what is added to a hash if the letter becomes each of the others.
    steps: Vec<u64>,
    /// Three bits of a word for each hash that a key has: a Bloom filter (Bloom, 1970) with one access.
    filter: Vec<u64>,
    /// The word is in the upper bits of a hash, since slots are in the lower ones.
    shift: u32,
    /// For each column, the steps from the letter of the key that is looked at.
    own: Vec<Range<usize>>,
}

impl Variants {
    /// Of keys of one length; `None` if each has at least as many variants as there are keys.
    pub(crate) fn of(distinct: &Distinct, edits: u8) -> Option<Self> {
        let columns = columns(distinct);
        let others = columns.iter().map(|column| column.letters.len() as u64 - 1);
        if variants(others, edits) >= distinct.len() as u64 {
            return None;
        }
        let words = distinct.len().div_ceil(KEYS_PER_WORD).next_power_of_two().max(2);
        let steps = columns.iter().flat_map(steps).collect();
        let shift = u64::BITS - words.trailing_zeros();
        let mut variants = Variants { columns, steps, filter: vec![0; words], shift, own: Vec::new() };
        for number in 0..distinct.len() as u32 {
            let (word, bits) = variants.bits(distinct.hash(number));
            variants.filter[word] |= bits;
        }
        Some(variants)
    }

    /// Appends the hashes of keys that differ from this one at 1 to `edits` positions; `edits` is 1 at least. Some may
    /// be hashes of none.
    pub(crate) fn put_hashes(&mut self, key: &[u8], hash: u64, edits: u8, hashes: &mut Vec<u64>) {
        self.own.clear();
        self.own.extend(self.columns.iter().map(|column| {
            let letter = key[column.position];
            let rank = column.letters.iter().take_while(|other| **other != letter).count();
            let others = column.letters.len() - 1;
            let start = column.steps + rank * others;
            start..start + others
        }));
        self.walk(&self.own, hash, edits, hashes);
    }

    /// Changes up to `edits` letters of these columns.
    fn walk(&self, columns: &[Range<usize>], hash: u64, edits: u8, hashes: &mut Vec<u64>) {
        self.change_one(columns, hash, hashes);
        if edits > 1 {
            for (number, steps) in columns.iter().enumerate() {
                for step in &self.steps[steps.clone()] {
                    self.walk(&columns[number + 1..], hash.wrapping_add(*step), edits - 1, hashes);
                }
            }
        }
    }

    /// Changes one letter of these columns. Nearly all time goes here.
    fn change_one(&self, columns: &[Range<usize>], hash: u64, hashes: &mut Vec<u64>) {
        for steps in columns {
            for step in &self.steps[steps.clone()] {
                let changed = hash.wrapping_add(*step);
                let (word, bits) = self.bits(changed);
                if self.filter[word] & bits == bits {
                    hashes.push(changed);
                }
            }
        }
    }

    /// The word of a hash in the filter, and its bits.
    fn bits(&self, hash: u64) -> (usize, u64) {
        let bit = |shift: u32| 1 << (hash >> shift & 63);
        ((hash >> self.shift) as usize, bit(0) | bit(6) | bit(12))
    }
}

/// The positions at which the keys have several letters.
fn columns(distinct: &Distinct) -> Vec<Column> {
    let mut is_there = vec![[false; 256]; distinct.key(0).len()];
    for number in 0..distinct.len() as u32 {
        for (is_there, letter) in is_there.iter_mut().zip(distinct.key(number)) {
            is_there[usize::from(*letter)] = true;
        }
    }
    let mut steps = 0;
    let columns = is_there.iter().enumerate().filter_map(|(position, is_there)| {
        let letters: Vec<u8> = (0..=u8::MAX).filter(|letter| is_there[usize::from(*letter)]).collect();
        let column = Column { position, letters, steps };
        steps += column.letters.len() * (column.letters.len() - 1);
        (column.letters.len() > 1).then_some(column)
    });
    columns.collect()
}

/// What is added to a hash for each letter of a column that becomes another.
fn steps(column: &Column) -> impl Iterator<Item = u64> {
    let hash = |letter: &u8| letter_hash(column.position, *letter);
    column.letters.iter().flat_map(move |from| {
        let others = column.letters.iter().filter(move |letter| *letter != from);
        others.map(move |to| hash(to).wrapping_sub(hash(from)))
    })
}

/// How many variants a key has whose columns have so many other letters each.
fn variants(others: impl Iterator<Item = u64>, edits: u8) -> u64 {
    // By the number of changed letters.
    let mut variants = vec![0u64; usize::from(edits) + 1];
    variants[0] = 1;
    for others in others {
        for changed in (1..variants.len()).rev() {
            variants[changed] = variants[changed].saturating_add(variants[changed - 1].saturating_mul(others));
        }
    }
    variants[1..].iter().fold(0, |sum, variants| sum.saturating_add(*variants))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::mismatches;
    use proptest::prelude::*;

    #[test]
    fn variants_are_counted() {
        assert_eq!(variants([3; 12].into_iter(), 1), 36);
        assert_eq!(variants([3; 12].into_iter(), 2), 36 + 66 * 9);
        assert_eq!(variants([1, 2, 4].into_iter(), 3), 7 + 14 + 8);
        assert_eq!(variants([3; 12].into_iter(), 0), 0);
    }

    proptest! {
        #[test]
        fn all_neighbours_are_found(keys in prop::collection::vec("[ACN]{5}-[AC]", 300..500), edits in 1u8..4) {
            let mut distinct = Distinct::default();
            distinct.clear();
            for key in &keys {
                distinct.add(key.as_bytes());
            }
            let Some(mut variants) = Variants::of(&distinct, edits) else { return Ok(()) };
            for number in 0..distinct.len() as u32 {
                let key = distinct.key(number);
                let mut hashes = Vec::new();
                variants.put_hashes(key, distinct.hash(number), edits, &mut hashes);
                let mut found: Vec<u32> = hashes.iter().flat_map(|hash| distinct.with_hash(*hash)).collect();
                found.sort_unstable();
                let is_near = |other: &u32| (1..=usize::from(edits)).contains(&mismatches(key, distinct.key(*other)));
                let wanted: Vec<u32> = (0..distinct.len() as u32).filter(is_near).collect();
                prop_assert_eq!(found, wanted);
            }
        }
    }
}
