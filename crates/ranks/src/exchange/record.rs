//! What ranks tell one another of a result: 32 bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// A result of one query, as far as others must know it to put all results in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// Number of the query in its batch.
    pub query: u32,
    /// Results of a query come in the order of these bytes; those of different ranks never have the same.
    pub key: [u8; Record::KEY_BYTES],
    /// Size of the result.
    pub bytes: u32,
}

impl Record {
    /// Bytes of a key.
    pub const KEY_BYTES: usize = 24;
    /// Bytes of a record on its way.
    pub const BYTES: usize = 4 + Self::KEY_BYTES + 4;

    /// What results are sorted by.
    pub fn order(&self) -> (u32, [u8; Record::KEY_BYTES]) {
        (self.query, self.key)
    }

    /// Appends it.
    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.query.to_le_bytes());
        to.extend_from_slice(&self.key);
        to.extend_from_slice(&self.bytes.to_le_bytes());
    }

    /// Records one after the other, as they travel.
    pub fn pack(records: &[Record]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(records.len() * Self::BYTES);
        records.iter().for_each(|record| record.put(&mut bytes));
        bytes
    }

    /// The records in some bytes; what is left over at the end is no record.
    pub fn all(bytes: &[u8]) -> Vec<Record> {
        let number = |bytes: &[u8]| u32::from_le_bytes(std::array::from_fn(|i| bytes[i]));
        let record = |bytes: &[u8]| Record {
            query: number(&bytes[..4]),
            key: std::array::from_fn(|i| bytes[4 + i]),
            bytes: number(&bytes[4 + Record::KEY_BYTES..]),
        };
        bytes.chunks_exact(Self::BYTES).map(record).collect()
    }
}

/// A result that survived the merge: where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survivor {
    /// Who has it: the rank, or the part of a database.
    pub list: usize,
    /// Its number in that list.
    pub number: usize,
}

/// The order of all results of some lists, each of which is in order: by query, then by key, no more than `most` of
/// each query. Whoever has the same lists gets the same.
pub fn merge<R>(
    lists: &[impl AsRef<[R]>],
    order: impl Fn(&R) -> (u32, [u8; Record::KEY_BYTES]),
    most: usize,
) -> Vec<Survivor> {
    let head = |list: usize, number: usize| {
        let (query, key) = order(lists[list].as_ref().get(number)?);
        Some(Reverse((query, key, list, number)))
    };
    // A heap, for ranks may be a thousand.
    let mut heads: BinaryHeap<_> = (0..lists.len()).filter_map(|list| head(list, 0)).collect();
    let (mut merged, mut of_query) = (Vec::new(), (u32::MAX, 0));
    while let Some(mut first) = heads.peek_mut() {
        let Reverse((query, _, list, number)) = *first;
        of_query = if of_query.0 == query { (query, of_query.1 + 1) } else { (query, 1) };
        if of_query.1 <= most {
            merged.push(Survivor { list, number });
        }
        match head(list, number + 1) {
            Some(next) => *first = next,
            None => drop(PeekMut::pop(first)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(query: u32, key: u8, bytes: u32) -> Record {
        Record { query, key: [key; Record::KEY_BYTES], bytes }
    }

    proptest! {
        #[test]
        fn records_come_back(all in proptest::collection::vec((any::<u32>(), any::<u8>(), any::<u32>()), 0..50)) {
            let records: Vec<Record> = all.into_iter().map(|(q, k, b)| record(q, k, b)).collect();
            let mut bytes = Vec::new();
            records.iter().for_each(|record| record.put(&mut bytes));
            prop_assert_eq!(bytes.len(), records.len() * Record::BYTES);
            prop_assert_eq!(Record::all(&bytes), records);
        }

        /// The naive twin sorts everything.
        #[test]
        fn the_merge_is_that_of_sorting(
            ranks in proptest::collection::vec(proptest::collection::vec((0u32..6, any::<u8>()), 0..40), 1..5),
            most in 0usize..8,
        ) {
            let mut records: Vec<Vec<Record>> =
                ranks.into_iter().map(|rank| rank.into_iter().map(|(q, k)| record(q, k, 1)).collect()).collect();
            records.iter_mut().for_each(|records| records.sort());
            let mut all: Vec<(Record, usize, usize)> = Vec::new();
            for (rank, records) in records.iter().enumerate() {
                all.extend(records.iter().enumerate().map(|(number, record)| (*record, rank, number)));
            }
            all.sort_by_key(|(record, rank, number)| (record.query, record.key, *rank, *number));
            let mut naive = Vec::new();
            for query in 0..6 {
                let of_query = all.iter().filter(|(record, ..)| record.query == query).take(most);
                naive.extend(of_query.map(|&(_, rank, number)| Survivor { list: rank, number }));
            }
            prop_assert_eq!(merge(&records, Record::order, most), naive);
        }
    }
}
