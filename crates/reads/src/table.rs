//! Where the chunks of a lane begin: what lets one of several processes begin with any of them, without what lies before.

use crate::compact::{Reader, Writer};
use crate::cutter::Place;
use crate::regular::Front;
use crate::segment::LineState;
use std::ops::Range;

/// What lies before a stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Before {
    pub(crate) front: Front,
    pub(crate) place: Place,
}

/// Where the stretches and the chunks of a lane begin. The same on all ranks: one of them makes it, the others read its bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// For each file, what lies before each stretch.
    pub(crate) files: Vec<Vec<Before>>,
    /// Number of the first fragment of each chunk.
    pub(crate) chunks: Vec<u64>,
    /// For each file, what stands for its text.
    pub(crate) contents: Vec<u64>,
}

impl Table {
    /// How many chunks there are. If the input is faulty, the last one may be none: whoever deals it finds the fault.
    pub fn chunks(&self) -> u64 {
        self.chunks.len() as u64
    }

    /// A number for each file that stands for all of its text: names, bases and qualities.
    pub fn contents(&self) -> &[u64] {
        &self.contents
    }

    /// What lies before a stretch of a file.
    pub(crate) fn front(&self, file: usize, stretch: u64) -> Option<Front> {
        Some(self.files.get(file)?.get(stretch as usize)?.front)
    }

    /// What lies before the stretch in which a record of `file` begins, and the number of that stretch.
    pub(crate) fn begin(&self, file: usize, record: u64) -> (u64, Place) {
        let starts = &self.files[file];
        let stretch = starts.partition_point(|before| before.place.record <= record).saturating_sub(1);
        (stretch as u64, starts.get(stretch).map(|before| before.place).unwrap_or_default())
    }

    /// The fragments of some chunks; without an end if the last of them is that of the lane.
    pub(crate) fn fragments(&self, chunks: &Range<u64>) -> (u64, Option<u64>) {
        let first = |chunk: u64| self.chunks.get(chunk as usize).copied();
        (first(chunks.start).unwrap_or(0), first(chunks.end))
    }

    /// As bytes, for the other ranks.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.put(self.files.len() as u64);
        for file in &self.files {
            out.put(file.len() as u64);
            for Before { front, place } in file {
                out.put(front.state.to_number());
                [front.block, place.record, place.byte, place.bases].into_iter().for_each(|number| out.put(number));
            }
        }
        for numbers in [&self.chunks, &self.contents] {
            out.put(numbers.len() as u64);
            numbers.iter().for_each(|&number| out.put(number));
        }
        out.bytes
    }

    /// From bytes; `None` if they are no table.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader { bytes };
        let mut files = Vec::new();
        for _ in 0..from.take()? {
            let mut file = Vec::new();
            for _ in 0..from.take()? {
                let state = LineState::from_number(from.take()?)?;
                let [block, record, byte, bases] = [from.take()?, from.take()?, from.take()?, from.take()?];
                file.push(Before { front: Front { state, block }, place: Place { record, byte, bases } });
            }
            files.push(file);
        }
        let mut numbers = || (0..from.take()?).map(|_| from.take()).collect::<Option<Vec<u64>>>();
        let (chunks, contents) = (numbers()?, numbers()?);
        from.bytes.is_empty().then_some(Table { files, chunks, contents })
    }
}
