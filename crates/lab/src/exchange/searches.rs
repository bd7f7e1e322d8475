//! Searches to measure and to model an exchange with: made up, or recorded from a real one.

use super::made_up::{self, MadeUp};
use std::time::Duration;
use zerohop_model::exchange::Searched;
use zerohop_ranks::exchange::Batch;

/// Searches of any number of ranks.
#[derive(Debug, Clone, PartialEq)]
pub enum Searches {
    /// Made up.
    MadeUp(MadeUp),
    /// [Recorded](super::recording::read), by rank and batch; with more ranks than were recorded, these come again in
    /// turn.
    Recorded(Vec<Vec<Searched>>),
}

impl Searches {
    /// Batches.
    pub fn batches(&self) -> u64 {
        match self {
            Searches::MadeUp(made) => made.batches,
            Searches::Recorded(ranks) => ranks.first().map_or(0, Vec::len) as u64,
        }
    }

    /// What `rank` does for a batch.
    pub fn searched(&self, rank: usize, batch: u64) -> Searched {
        match self {
            Searches::MadeUp(made) => made.searched(rank, batch),
            Searches::Recorded(ranks) => ranks[rank % ranks.len()][batch as usize],
        }
    }

    /// How long `rank` searches for a batch.
    pub fn search_time(&self, rank: usize, batch: u64) -> Duration {
        Duration::from_secs_f64(self.searched(rank, batch).search_s)
    }

    /// Seconds that the slowest of so many ranks needs for searching alone: no exchange can be faster.
    pub fn slowest_s(&self, ranks: usize) -> f64 {
        let of = |rank| (0..self.batches()).map(|batch| self.searched(rank, batch).search_s).sum::<f64>();
        (0..ranks).map(of).fold(0.0, f64::max)
    }

    /// Results as `rank` finds them for a batch. Of what was recorded, numbers and sizes are the same; which results
    /// are the best of a query is made up, and every query and every result has its even share.
    pub fn batch(&self, rank: usize, batch: u64) -> Batch {
        match self {
            Searches::MadeUp(made) => made.batch(rank, batch),
            Searches::Recorded(_) => {
                let one = self.searched(rank, batch);
                let (records, queries) = (u64::from(one.records), u64::from(one.queries.max(1)));
                let hits = |query: u32| share(records, queries, u64::from(query)) as u32;
                let bytes = |number: usize| share(one.result_bytes, records.max(1), number as u64) as u32;
                made_up::results(rank, batch, one.queries, &hits, &bytes)
            }
        }
    }
}

/// The even share of `all` that number `one` of `of` has.
fn share(all: u64, of: u64, one: u64) -> u64 {
    all * (one + 1) / of - all * one / of
}

#[cfg(test)]
mod tests {
    use super::super::recording::faster;
    use super::*;

    fn recorded() -> Vec<Vec<Searched>> {
        let one = |records, result_bytes| Searched { search_s: 0.5, queries: 7, records, result_bytes };
        vec![vec![one(10, 1234), one(0, 0)], vec![one(3, 7), one(1, 99)]]
    }

    #[test]
    fn what_was_recorded_comes_back_in_turn() {
        let searches = Searches::Recorded(recorded());
        for (rank, batch) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (5, 1)] {
            let (one, made) = (searches.searched(rank, batch), searches.batch(rank, batch));
            assert_eq!(made.records.len(), one.records as usize);
            assert_eq!(made.text.len() as u64, one.result_bytes);
            assert_eq!(made.records.iter().map(|record| u64::from(record.bytes)).sum::<u64>(), one.result_bytes);
            assert!(made.records.is_sorted() && made.records.iter().all(|record| record.query < one.queries));
        }
        assert_eq!(searches.searched(2, 1), searches.searched(0, 1));
        assert_eq!(searches.slowest_s(3), 1.0);
        assert_eq!(Searches::Recorded(faster(recorded(), 4.0)).slowest_s(3), 0.25);
    }
}
