//! Searches that are made up: sizes and times that differ between ranks and batches as real ones do (Wang, M6), so that
//! an exchange can be measured without so many searches.

use serde::Serialize;
use zerohop_model::exchange::Searched;
use zerohop_ranks::exchange::{Batch, Record};

/// A search that is made up. The same numbers give the same results.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MadeUp {
    /// Batches.
    pub batches: u64,
    /// Queries of a batch.
    pub queries: u32,
    /// Subjects that a rank finds for a query, on average.
    pub hits: f64,
    /// Bytes of a result.
    pub result_bytes: u32,
    /// Seconds that a rank searches for a batch, on average.
    pub search_s: f64,
    /// How much times and sizes differ: the largest are so many times the average.
    pub skew: f64,
}

/// Numbers that look random and depend on where they are for alone.
fn number(rank: usize, batch: u64, what: u64) -> f64 {
    let mixed = [
        (rank as u64 + 1, 0x9E37_79B9_7F4A_7C15),
        (batch + 1, 0xD1B5_4A32_D192_ED03),
        (what + 1, 0x8CB9_2BA7_2F3D_8DD7),
    ];
    let mut state = mixed.iter().fold(0u64, |state, (number, odd)| state ^ number.wrapping_mul(*odd));
    for _ in 0..3 {
        state = (state ^ (state >> 31)).wrapping_mul(0x7FB5_D329_728E_A185);
    }
    (state >> 11) as f64 / (1u64 << 53) as f64
}

impl MadeUp {
    /// Around `mean`, between none of it and `skew` times as much: most is small, some is large.
    fn spread(&self, mean: f64, number: f64) -> f64 {
        // The mean of u^p is 1 / (p + 1), and its most is 1: with p = skew - 1, `skew * mean` is the most and `mean`
        // the mean.
        mean * self.skew * number.powf(self.skew - 1.0)
    }

    /// How many subjects `rank` finds for a query of a batch.
    fn hits(&self, rank: usize, batch: u64, query: u32) -> u32 {
        let of_batch = self.spread(self.hits, number(rank, batch, 1));
        (of_batch * 2.0 * number(rank, batch, 2 + u64::from(query))).round() as u32
    }

    /// What `rank` does for a batch.
    pub fn searched(&self, rank: usize, batch: u64) -> Searched {
        let records = (0..self.queries).map(|query| self.hits(rank, batch, query)).sum();
        Searched {
            search_s: self.spread(self.search_s, number(rank, batch, 0)),
            queries: self.queries,
            records,
            result_bytes: u64::from(records) * u64::from(self.result_bytes),
        }
    }

    /// What `rank` finds for a batch.
    pub fn batch(&self, rank: usize, batch: u64) -> Batch {
        results(rank, batch, self.queries, &|query| self.hits(rank, batch, query), &|_| self.result_bytes)
    }
}

/// Results with so many hits for each query, and so many bytes for each result; which of them are the best is made up.
pub fn results(
    rank: usize,
    batch: u64,
    queries: u32,
    hits: &dyn Fn(u32) -> u32,
    bytes: &dyn Fn(usize) -> u32,
) -> Batch {
    let mut made = Batch::default();
    for query in 0..queries {
        let mut keys: Vec<u64> = (0..hits(query))
            .map(|hit| (number(rank, batch, (u64::from(query) << 32) + u64::from(hit) + (1 << 40)) * 1e15) as u64)
            .collect();
        keys.sort_unstable();
        for place in keys {
            let mut key = [0; Record::KEY_BYTES];
            key[..8].copy_from_slice(&place.to_be_bytes());
            key[8..16].copy_from_slice(&(rank as u64).to_be_bytes());
            let bytes = bytes(made.records.len());
            made.records.push(Record { query, key, bytes });
            made.text.extend((0..bytes).map(|i| b'a' + (place as u8 ^ i as u8) % 26));
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_extremes_are_as_asked_for() {
        let made = MadeUp { batches: 400, queries: 10, hits: 5.0, result_bytes: 7, search_s: 0.5, skew: 3.0 };
        let times: Vec<f64> = (0..400).map(|batch| made.searched(1, batch).search_s).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        assert!((0.4..0.6).contains(&mean) && times.iter().all(|time| *time <= 1.5), "{mean}");
        let batches: Vec<Batch> = (0..400).map(|batch| made.batch(2, batch)).collect();
        let mean = batches.iter().map(|batch| batch.records.len()).sum::<usize>() as f64 / 4000.0;
        assert!((4.0..6.0).contains(&mean), "{mean}");
        assert!(batches.iter().all(|batch| batch.records.is_sorted() && batch.text.len() == 7 * batch.records.len()));
        let counted = |batch: u64| made.searched(2, batch).records as usize;
        assert!((0..400).all(|batch| counted(batch) == batches[batch as usize].records.len()));
        assert_eq!(made.batch(0, 3).records, made.batch(0, 3).records);
        assert_ne!(made.batch(0, 3).records, made.batch(1, 3).records);
    }
}
