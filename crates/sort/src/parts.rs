//! The keys, divided into parts that can be merged by themselves.

use crate::key::{KeptKey, KeyRef};
use crate::merge::{Cursor, MergeHeap};
use crate::run::MemoryRun;
use crate::spill::{BLOCK, SpillReader, SpilledRun};
use zerohop_model::error::Error;

/// There is a sample in about as many bytes.
const SAMPLE: usize = 1 << 16;
/// Blocks that a thread reads of a spilled run in one go, at least: the first and the last are read by others, too.
const BLOCKS: usize = 4;

/// The most parts in a row.
const LONGEST_ROW: usize = 64;

/// All records, divided by their keys into parts. Where parts begin depends on the records and their ordinals, but not
/// on how many runs there are and what is in which.
#[derive(Debug)]
pub struct RecordParts {
    memory: Vec<MemoryRun>,
    spilled: Vec<SpilledRun>,
    /// Where parts begin, but for the first.
    bounds: Vec<KeptKey>,
    /// About how many bytes a part has.
    part: usize,
    /// Bytes of memory that runs may take.
    budget: u64,
}

impl RecordParts {
    pub(crate) fn new(
        (memory, spilled): (Vec<MemoryRun>, Vec<SpilledRun>),
        mut samples: Vec<KeptKey>,
        part: usize,
        budget: u64,
    ) -> Self {
        samples.sort_unstable();
        let samples_of_part = (part / SAMPLE).max(1);
        let bounds = samples.into_iter().skip(samples_of_part - 1).step_by(samples_of_part).collect();
        RecordParts { memory, spilled, bounds, part, budget }
    }

    /// The same, with equal keys in one part.
    pub fn of_groups(mut self) -> Self {
        self.bounds = self.bounds.into_iter().map(KeptKey::without_ordinal).collect();
        self.bounds.dedup();
        self
    }

    /// The same, with keys that begin with so many of the same bytes, 8 at least, in one part.
    pub fn of_beginnings(mut self, bytes: usize) -> Self {
        self.bounds = self.bounds.into_iter().map(|bound| bound.with_bytes(bytes)).collect();
        self.bounds.dedup();
        self
    }

    /// How many there are; one if there are no records.
    pub fn count(&self) -> usize {
        self.bounds.len() + 1
    }

    /// The least key of a part: none of the first one, nor of what is behind the last.
    pub fn begin(&self, part: usize) -> Option<KeyRef<'_>> {
        part.checked_sub(1).and_then(|before| self.bounds.get(before)).map(KeptKey::get)
    }

    /// How many parts one thread should merge in a row: where many runs were spilled, each has little of a part.
    pub fn in_a_row(&self) -> usize {
        (self.spilled.len() * BLOCKS * BLOCK).div_ceil(self.part).clamp(1, LONGEST_ROW)
    }

    /// How many of so many threads may merge at the same time, one at least: each holds a block of each spilled run, as
    /// it is on disk and inflated, and the parts of a row, until those before are written. (Blocks with long records
    /// take more.)
    pub fn mergers(&self, threads: usize) -> usize {
        let row = if self.spilled.is_empty() { 0 } else { self.in_a_row() * self.part };
        let each = (self.spilled.len() * 2 * BLOCK + row) as u64;
        (self.budget / each.max(1)).clamp(1, threads.max(1) as u64) as usize
    }

    /// What merges parts, for one thread.
    pub fn merger(&self) -> Merger<'_> {
        Merger { parts: self, merge: None }
    }

    /// All runs, from `part` on.
    fn from(&self, part: usize) -> Result<MergeHeap<'_>, Error> {
        let from = self.begin(part);
        let memory = self.memory.iter().map(|run| Ok(Cursor::Memory(run, from.map_or(0, |from| run.before(from)))));
        let spilled = self.spilled.iter().map(|run| Ok(Cursor::Disk(Box::new(SpillReader::new(run, from)?))));
        MergeHeap::new(memory.chain(spilled))
    }
}

/// Merges parts.
pub struct Merger<'p> {
    parts: &'p RecordParts,
    /// The part that comes next, and all runs from there on.
    merge: Option<(usize, MergeHeap<'p>)>,
}

impl Merger<'_> {
    /// Gives the records of part `part` to `each`, in order. Parts that follow each other take less time.
    ///
    /// # Errors
    /// What `each` says; a temporary file that cannot be read, or has changed.
    pub fn part(&mut self, part: usize, each: impl FnMut(KeyRef<'_>, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let mut merge = match self.merge.take() {
            Some((next, merge)) if next == part => merge,
            _ => self.parts.from(part)?,
        };
        merge.until(self.parts.bounds.get(part).map(KeptKey::get), each)?;
        self.merge = Some((part + 1, merge));
        Ok(())
    }
}
