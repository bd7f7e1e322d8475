//! A bit for each record.

use crate::counts::Counts;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use zerohop_sort::Ordinal;
use zerohop_umi::Strand;

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

/// Which records are duplicates, and from which molecules they come.
#[derive(Debug)]
pub struct Marks {
    /// How many records the chunks before have.
    before: Vec<u64>,
    bits: Vec<AtomicU64>,
    molecules: Option<Molecules>,
}

/// From which molecule a record comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Molecule {
    /// The number of the molecule: that of the first record of its first template, of all records of the input, from 0.
    pub number: u64,
    /// The strand of the molecule, if UMIs tell.
    pub strand: Option<Strand>,
}

impl Molecule {
    /// Bits below those of the number, which say which strand it is.
    const BITS: u32 = 2;

    /// Appends it as text, as the tag MI has it: `17`, or `17/A` and `17/B` of strands.
    pub fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.number.to_string().as_bytes());
        match self.strand {
            None => {}
            Some(Strand::A) => out.extend_from_slice(b"/A"),
            Some(Strand::B) => out.extend_from_slice(b"/B"),
        }
    }

    /// As a number that is not 0.
    fn stored(self) -> u64 {
        let strand = match self.strand {
            None => 1,
            Some(Strand::A) => 2,
            Some(Strand::B) => 3,
        };
        self.number << Self::BITS | strand
    }

    fn of_stored(stored: u64) -> Option<Self> {
        let strand = match stored & 3 {
            0 => return None,
            1 => None,
            2 => Some(Strand::A),
            _ => Some(Strand::B),
        };
        Some(Molecule { number: stored >> Self::BITS, strand })
    }
}

/// The molecules of all records, each in so many bits that all fit: 32, or 64 of more than a billion records.
#[derive(Debug)]
struct Molecules {
    bits: u32,
    words: Vec<AtomicU64>,
}

impl Molecules {
    fn new(records: u64) -> Self {
        let bits = if records >> (32 - Molecule::BITS) == 0 { 32 } else { 64 };
        let words = records.div_ceil(u64::from(64 / bits));
        Molecules { bits, words: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    /// The word of a record, and where in it its bits begin.
    fn word(&self, record: u64) -> Option<(&AtomicU64, u32)> {
        let in_word = u64::from(64 / self.bits);
        Some((self.words.get((record / in_word) as usize)?, (record % in_word) as u32 * self.bits))
    }
}

impl Marks {
    /// None of these records is marked.
    pub(crate) fn new(counts: &ChunkCounts, has_molecules: bool) -> Self {
        let mut records = 0;
        let counts = counts.get();
        let before = counts.0.iter().map(|count| {
            records += u64::from(*count);
            records - u64::from(*count)
        });
        let before = before.collect();
        Marks {
            before,
            bits: (0..records.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            molecules: has_molecules.then(|| Molecules::new(records)),
        }
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

    /// Says from which molecule a record comes: once. Threads may say so of other records at the same time.
    pub(crate) fn set_molecule(&self, record: Ordinal, molecule: Molecule) {
        let word = self.number(record).zip(self.molecules.as_ref());
        if let Some((word, shift)) = word.and_then(|(number, molecules)| molecules.word(number)) {
            word.fetch_or(molecule.stored() << shift, Ordering::Relaxed);
        }
    }

    /// From which molecule a record comes, if that is known.
    pub fn molecule(&self, record: Ordinal) -> Option<Molecule> {
        let molecules = self.molecules.as_ref()?;
        let (word, shift) = molecules.word(self.number(record)?)?;
        Molecule::of_stored(word.load(Ordering::Relaxed) >> shift & (u64::MAX >> (64 - molecules.bits)))
    }

    /// Whether records have molecules.
    pub fn has_molecules(&self) -> bool {
        self.molecules.is_some()
    }

    /// All that is marked, for other processes, which know the same records.
    pub fn words(&self) -> Vec<u64> {
        self.all().map(|word| word.load(Ordering::Relaxed)).collect()
    }

    /// Marks what others have marked: `words` from number `first` on.
    pub fn add_words(&self, first: usize, words: impl Iterator<Item = u64>) {
        for (own, word) in self.all().skip(first).zip(words) {
            own.fetch_or(word, Ordering::Relaxed);
        }
    }

    fn all(&self) -> impl Iterator<Item = &AtomicU64> {
        self.bits.iter().chain(self.molecules.iter().flat_map(|molecules| &molecules.words))
    }

    /// The number of a record, of all of the input.
    pub(crate) fn number(&self, record: Ordinal) -> Option<u64> {
        Some(self.before.get(record.chunk() as usize)? + u64::from(record.in_chunk()))
    }

    fn bit(&self, record: Ordinal) -> Option<(&AtomicU64, u64)> {
        let number = self.number(record)?;
        Some((self.bits.get((number / 64) as usize)?, 1 << (number % 64)))
    }
}
