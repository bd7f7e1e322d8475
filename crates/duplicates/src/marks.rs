//! A bit for each record.

use crate::counts::Counts;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use zerohop_sort::Ordinal;

/// How many records each chunk has, and what they are.
#[derive(Debug, Default)]
pub struct ChunkCounts(Mutex<(Vec<u32>, Counts)>);

impl ChunkCounts {
    /// Notes that chunk `number` has so many records, and what [`crate::Signatures::put_counts`] says of them.
    pub fn add(&self, number: u64, records: u32, counts: &[u8]) {
        let (chunks, all) = &mut *self.get();
        let at = number as usize;
        if chunks.len() <= at {
            chunks.resize(at + 1, 0);
        }
        chunks[at] = records;
        all.add_stored(counts);
    }

    /// What the records of all chunks are; nothing is decided yet.
    pub(crate) fn examined(&self) -> Counts {
        self.get().1.clone()
    }

    fn get(&self) -> std::sync::MutexGuard<'_, (Vec<u32>, Counts)> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
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
    pub(crate) fn new(counts: &ChunkCounts) -> Self {
        let mut records = 0;
        let counts = counts.get();
        let before = counts.0.iter().map(|count| {
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

    /// All bits, for other processes, which know the same records.
    pub fn words(&self) -> Vec<u64> {
        self.bits.iter().map(|word| word.load(Ordering::Relaxed)).collect()
    }

    /// Marks what others have marked: `words` from number `first` on.
    pub fn add_words(&self, first: usize, words: impl Iterator<Item = u64>) {
        for (own, word) in self.bits.iter().skip(first).zip(words) {
            own.fetch_or(word, Ordering::Relaxed);
        }
    }

    fn bit(&self, record: Ordinal) -> Option<(&AtomicU64, u64)> {
        let number = self.before.get(record.chunk() as usize)? + u64::from(record.in_chunk());
        Some((self.bits.get((number / 64) as usize)?, 1 << (number % 64)))
    }
}
