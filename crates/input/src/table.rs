//! Where the chunks of a lane begin: what lets one of several processes begin with any of them, without what lies
//! before.

use crate::compact::{CompactReader, Writer};
use crate::content::StretchStart;
use crate::cutter::UnitPlace;
use crate::regular::Front;
use std::ops::Range;

/// What lies before a stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Before {
    pub(crate) front: Front,
    /// In fragments.
    pub(crate) place: UnitPlace,
    /// Reads that begin before it: of pairs the first mate may lie before it, and the second one in it.
    pub(crate) reads: u64,
}

/// Where a chunk begins: its first fragment, and its place in its cohort.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct ChunkStart {
    pub(crate) fragment: u64,
    pub(crate) cohort: u64,
    pub(crate) piece: u32,
}

/// Raw chunks of a lane that is dealt again (trimmed.rs).
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct RawChunks {
    pub(crate) starts: Vec<ChunkStart>,
    /// For each of them, the fragments that stay of those before.
    pub(crate) kept_before: Vec<u64>,
}

impl RawChunks {
    /// The raw chunks that a chunk begins with and ends in: those of its first fragment, and of the first one behind it
    /// if there is one. What is dropped between chunks goes with the first of them.
    pub(crate) fn of(&self, first: u64, behind: Option<u64>) -> Range<u64> {
        let holding = |fragment: u64| self.kept_before.partition_point(|before| *before <= fragment) as u64;
        let start = if first == 0 { 0 } else { holding(first).saturating_sub(1) };
        start..behind.map_or(self.starts.len() as u64, holding)
    }

    /// Fragments that stay before a raw chunk.
    pub(crate) fn kept_before(&self, raw: u64) -> u64 {
        self.kept_before.get(raw as usize).copied().unwrap_or(0)
    }
}

/// Where the stretches and the chunks of a lane begin. The same on all ranks: one of them makes it, the others read its
/// bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// For each file, what lies before each stretch.
    pub(crate) files: Vec<Vec<Before>>,
    pub(crate) chunks: Vec<ChunkStart>,
    /// Where the chunks are those of what stays of the reads, the raw ones.
    pub(crate) raw: Option<RawChunks>,
    /// Reads in all of them, and in each fragment.
    pub(crate) reads: u64,
    pub(crate) reads_per_fragment: u64,
    /// For each file, what stands for its text.
    pub(crate) contents: Vec<u64>,
}

impl Table {
    /// How many chunks there are. If the input is faulty, the last one may be none: whoever deals it finds the fault.
    pub fn chunks(&self) -> u64 {
        self.chunks.len() as u64
    }

    /// How many reads there are, if the input is not faulty.
    pub(crate) fn reads(&self) -> u64 {
        self.reads
    }

    /// A number for each file that stands for all of its text: names, bases and qualities.
    pub fn contents(&self) -> &[u64] {
        &self.contents
    }

    /// What lies before a stretch of a file.
    pub(crate) fn front(&self, file: usize, stretch: u64) -> Option<Front> {
        Some(self.files.get(file)?.get(stretch as usize)?.front)
    }

    /// What lies before the stretch in which a fragment of `file` begins, in fragments and in reads, and the number of
    /// that stretch.
    pub(crate) fn begin(&self, file: usize, fragment: u64) -> (u64, (UnitPlace, u64)) {
        let starts = &self.files[file];
        let stretch = starts.partition_point(|before| before.place.record <= fragment).saturating_sub(1);
        (stretch as u64, starts.get(stretch).map(|before| (before.place, before.reads)).unwrap_or_default())
    }

    /// Where a chunk begins; none behind the last one.
    pub(crate) fn start(&self, chunk: u64) -> Option<ChunkStart> {
        self.chunks.get(chunk as usize).copied()
    }

    /// The first chunk from `chunk` on with which a cohort begins, or the end.
    pub(crate) fn cohort_from(&self, chunk: u64) -> u64 {
        let is_begun_before = |chunk: u64| self.start(chunk).is_some_and(|start| start.piece > 0);
        (chunk..).find(|&chunk| !is_begun_before(chunk)).unwrap_or(chunk)
    }

    /// As bytes, for the other ranks.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.put(self.files.len() as u64);
        for file in &self.files {
            out.put(file.len() as u64);
            for Before { front, place, reads } in file {
                front.state.put(&mut out);
                let numbers = [front.block, place.record, place.byte, place.bases, *reads];
                numbers.into_iter().for_each(|number| out.put(number));
            }
        }
        [self.reads, self.reads_per_fragment].into_iter().for_each(|number| out.put(number));
        put_starts(&self.chunks, &mut out);
        out.put(u64::from(self.raw.is_some()));
        if let Some(RawChunks { starts, kept_before }) = &self.raw {
            put_starts(starts, &mut out);
            kept_before.iter().for_each(|&number| out.put(number));
        }
        out.put(self.contents.len() as u64);
        self.contents.iter().for_each(|&number| out.put(number));
        out.bytes
    }

    /// From bytes; `None` if they are no table.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut from = CompactReader { bytes };
        let mut files = Vec::new();
        for _ in 0..from.take()? {
            let mut file = Vec::new();
            for _ in 0..from.take()? {
                let state = StretchStart::take(&mut from)?;
                let [block, record, byte, bases] = [from.take()?, from.take()?, from.take()?, from.take()?];
                let (front, place) = (Front { state, block }, UnitPlace { record, byte, bases });
                file.push(Before { front, place, reads: from.take()? });
            }
            files.push(file);
        }
        let [reads, reads_per_fragment] = [from.take()?, from.take()?];
        let chunks = take_starts(&mut from)?;
        let raw = match from.take()? {
            0 => None,
            _ => {
                let starts = take_starts(&mut from)?;
                let kept_before = starts.iter().map(|_| from.take()).collect::<Option<_>>()?;
                Some(RawChunks { starts, kept_before })
            }
        };
        let contents = (0..from.take()?).map(|_| from.take()).collect::<Option<Vec<u64>>>()?;
        from.bytes.is_empty().then_some(Table { files, chunks, raw, reads, reads_per_fragment, contents })
    }
}

fn put_starts(starts: &[ChunkStart], out: &mut Writer) {
    out.put(starts.len() as u64);
    for &ChunkStart { fragment, cohort, piece } in starts {
        [fragment, cohort, u64::from(piece)].into_iter().for_each(|number| out.put(number));
    }
}

fn take_starts(from: &mut CompactReader<'_>) -> Option<Vec<ChunkStart>> {
    let mut starts = Vec::new();
    for _ in 0..from.take()? {
        let [fragment, cohort, piece] = [from.take()?, from.take()?, from.take()?];
        starts.push(ChunkStart { fragment, cohort, piece: u32::try_from(piece).ok()? });
    }
    Some(starts)
}
