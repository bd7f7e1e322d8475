//! A run in memory: frames as they came, and a list of them that is sorted.

use crate::frame::RecordFrame;
use crate::key::{KeptKey, KeyRef, Ordinal};
use zerohop_memory::prefetch;
use zerohop_model::error::Error;

/// Bytes of a segment: a mapping of its own, on the node of the thread that fills it (`zerohop_memory::LARGE`).
const SEGMENT: usize = 4 << 20;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of a record that are asked for ahead of it. Of what follows, the machine sees that it is read in order.
const PREFETCHED: usize = 4 * LINE;

/// A record of a run.
#[derive(Debug, Clone, Copy)]
struct RunEntry {
    prefix: u64,
    ordinal: Ordinal,
    segment: u32,
    /// Where its frame starts.
    start: u32,
}

/// Records in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryRun {
    /// Whole frames each. Those from `filled` on are empty.
    segments: Vec<Vec<u8>>,
    filled: usize,
    entries: Vec<RunEntry>,
    /// The keys at which parts may begin.
    samples: Vec<KeptKey>,
}

impl MemoryRun {
    /// Adds the frames of chunk `number`.
    pub(crate) fn add(&mut self, number: u64, mut frames: &[u8]) -> Result<(), Error> {
        let too_many = || Error::Internal("there are more records than can be sorted".to_owned());
        let mut next = Some(Ordinal::first_of(number).ok_or_else(too_many)?);
        while let Some(frame) = RecordFrame::at(frames) {
            let ordinal = next.ok_or_else(too_many)?;
            next = ordinal.next();
            let segment = self.segment(frame.length);
            let start = self.segments[segment].len() as u32;
            self.segments[segment].extend_from_slice(&frames[..frame.length]);
            let key = KeyRef::new(frame.key, ordinal);
            if key.is_sample(frame.length) {
                self.samples.push(key.into());
            }
            self.entries.push(RunEntry { prefix: key.prefix(), ordinal, segment: segment as u32, start });
            frames = &frames[frame.length..];
        }
        match frames.is_empty() {
            true => Ok(()),
            false => Err(Error::Internal("records to be sorted are cut off".to_owned())),
        }
    }

    /// The segment that has room for so many bytes more.
    fn segment(&mut self, bytes: usize) -> usize {
        let has_room = |segment: &Vec<u8>| segment.capacity() - segment.len() >= bytes;
        if self.filled > 0 && has_room(&self.segments[self.filled - 1]) {
            return self.filled - 1;
        }
        match self.segments.get(self.filled).is_some_and(has_room) {
            true => {}
            false => self.segments.insert(self.filled, Vec::with_capacity(bytes.max(SEGMENT))),
        }
        self.filled += 1;
        self.filled - 1
    }

    /// Bytes of memory that are in use after `bytes` more.
    pub(crate) fn filled_with(&self, bytes: usize) -> u64 {
        let segments: usize = self.segments[..self.filled].iter().map(Vec::len).sum();
        (segments + bytes + self.entries.len() * size_of::<RunEntry>()) as u64
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn records(&self) -> usize {
        self.entries.len()
    }

    /// Sorts the records.
    pub(crate) fn sort(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        // Prefixes first: reading a frame is a cache miss.
        entries.sort_unstable_by(|a, b| {
            let rest = || self.rest(a).cmp(self.rest(b)).then(a.ordinal.cmp(&b.ordinal));
            a.prefix.cmp(&b.prefix).then_with(rest)
        });
        self.entries = entries;
    }

    /// Takes the keys at which parts may begin.
    pub(crate) fn take_samples(&mut self) -> Vec<KeptKey> {
        std::mem::take(&mut self.samples)
    }

    /// Makes it empty, keeping its memory, but for that of records that are longer than a segment.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.segments.retain(|segment| segment.capacity() <= SEGMENT);
        self.segments.iter_mut().for_each(Vec::clear);
        self.filled = 0;
    }

    fn frame(&self, entry: &RunEntry) -> RecordFrame<'_> {
        let bytes = &self.segments[entry.segment as usize][entry.start as usize..];
        RecordFrame::at(bytes).unwrap_or(RecordFrame { key: &[], record: &[], length: 0 })
    }

    fn key(&self, entry: &RunEntry) -> KeyRef<'_> {
        KeyRef::of(entry.prefix, self.rest(entry), entry.ordinal)
    }

    fn rest(&self, entry: &RunEntry) -> &[u8] {
        KeyRef::rest(self.frame(entry).key)
    }

    /// The key of the record that is at `at` after sorting.
    pub(crate) fn key_at(&self, at: usize) -> KeyRef<'_> {
        self.key(&self.entries[at])
    }

    /// Asks for the first cache lines of the record that is at `at`, if there is one.
    pub(crate) fn prefetch(&self, at: usize) {
        let Some(entry) = self.entries.get(at) else { return };
        let segment = &self.segments[entry.segment as usize];
        (0..PREFETCHED).step_by(LINE).for_each(|byte| prefetch(segment, entry.start as usize + byte));
    }

    /// The frame of that record, and its ordinal.
    pub(crate) fn frame_at(&self, at: usize) -> (RecordFrame<'_>, Ordinal) {
        let entry = &self.entries[at];
        (self.frame(entry), entry.ordinal)
    }

    /// How many records of the sorted run come before `key`.
    pub(crate) fn before(&self, key: KeyRef<'_>) -> usize {
        self.entries.partition_point(|entry| self.key(entry) < key)
    }
}
