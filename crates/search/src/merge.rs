//! The hits of all parts for one batch, in the order of one search of the whole database.

use crate::hit::{Hit, Key};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A hit that survives the merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The part.
    pub part: usize,
    /// The hit's index in the part's list.
    pub index: usize,
}

/// Goes through the hits of all parts, query by query, each in the order of their keys, and leaves out those beyond the
/// limit. Whoever has the same lists gets the same.
#[derive(Debug)]
pub struct Merge<'a> {
    parts: &'a [&'a [Hit]],
    /// The next hit of each part that has one.
    heads: BinaryHeap<Reverse<(u32, Key, usize, usize)>>,
    limit: u64,
    query: u32,
    /// How many of this query were given out.
    given: u64,
}

impl<'a> Merge<'a> {
    /// Merges lists that are sorted by [`Hit::order`]; `limit` subjects of a query are kept, all if there is none.
    pub fn new(parts: &'a [&'a [Hit]], limit: Option<u32>) -> Self {
        let limit = limit.map_or(u64::MAX, u64::from);
        let mut merge = Merge { parts, heads: BinaryHeap::new(), limit, query: 0, given: 0 };
        for part in 0..parts.len() {
            merge.advance(part, 0);
        }
        merge
    }

    fn advance(&mut self, part: usize, index: usize) {
        if let Some(hit) = self.parts.get(part).and_then(|hits| hits.get(index)) {
            self.heads.push(Reverse((hit.query, hit.key, part, index)));
        }
    }
}

impl Iterator for Merge<'_> {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        loop {
            let Reverse((query, _, part, index)) = self.heads.pop()?;
            self.advance(part, index + 1);
            if query != self.query {
                (self.query, self.given) = (query, 0);
            }
            if self.given < self.limit {
                self.given += 1;
                return Some(Place { part, index });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sorts everything, then counts.
    fn naive(parts: &[Vec<Hit>], limit: Option<u32>) -> Vec<Place> {
        let mut all: Vec<_> = (parts.iter().enumerate())
            .flat_map(|(part, hits)| {
                hits.iter().enumerate().map(move |(index, hit)| (hit.order(), Place { part, index }))
            })
            .collect();
        all.sort_by_key(|&(order, place)| (order, place.part, place.index));
        let mut kept = Vec::new();
        for (at, &((query, _), place)) in all.iter().enumerate() {
            let before = all[..at].iter().filter(|((other, _), _)| *other == query).count();
            if limit.is_none_or(|limit| before < limit as usize) {
                kept.push(place);
            }
        }
        kept
    }

    fn part() -> impl Strategy<Value = Vec<Hit>> {
        prop::collection::vec((0u32..5, 0u8..4), 0..20).prop_map(|raw| {
            let hit = |(query, key)| Hit { query, key: [key; 24], bytes: 0, offset: 0 };
            let mut hits: Vec<Hit> = raw.into_iter().map(hit).collect();
            hits.sort_by_key(Hit::order);
            hits
        })
    }

    proptest! {
        #[test]
        fn it_is_the_naive_merge(parts in prop::collection::vec(part(), 0..6), limit in prop::option::of(0u32..6)) {
            let lists: Vec<&[Hit]> = parts.iter().map(Vec::as_slice).collect();
            let merged: Vec<Place> = Merge::new(&lists, limit).collect();
            prop_assert_eq!(merged, naive(&parts, limit));
        }
    }
}
