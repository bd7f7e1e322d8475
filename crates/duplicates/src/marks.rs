//! A bit for each record.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use zerohop_sort::Ordinal;

/// How many records each chunk has.
#[derive(Debug, Default)]
pub struct ChunkCounts(Mutex<Vec<u32>>);

impl ChunkCounts {
    /// Notes that chunk `number` has so many records.
    pub fn add(&self, number: u64, records: u32) {
        let mut counts = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let at = number as usize;
        if counts.len() <= at {
            counts.resize(at + 1, 0);
        }
        counts[at] = records;
    }
}

/// Which records are duplicates.
#[derive(Debug)]
pub struct Marks {
    /// How many records the chunks before have.
    before: Vec<u64>,
    bits: Vec<AtomicU64>,
}

impl Marks {
    /// None of these records is marked.
    pub fn new(counts: &ChunkCounts) -> Self {
        let counts = counts.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut records = 0;
        let before = counts.iter().map(|count| {
            records += u64::from(*count);
            records - u64::from(*count)
        });
        let before = before.collect();
        Marks { before, bits: (0..records.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Marks a record. Threads may mark at the same time; each bit is read when all have ended.
    pub(crate) fn mark(&self, record: Ordinal) {
        if let Some((word, bit)) = self.bit(record) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Whether a record is marked.
    pub fn is_marked(&self, record: Ordinal) -> bool {
        self.bit(record).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
    }

    fn bit(&self, record: Ordinal) -> Option<(&AtomicU64, u64)> {
        let number = self.before.get(record.chunk() as usize)? + u64::from(record.in_chunk());
        Some((self.bits.get((number / 64) as usize)?, 1 << (number % 64)))
    }
}
